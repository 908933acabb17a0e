// Texts of a derived machine: JSON, by docs/schemas/machine.schema.json, and the report.
#include <cmath>

#include "runtime/run/calibration/derived_machine.h"
#include "support/columns.h"
#include "trace/trace_file.h"

namespace torc::runtime {
namespace {

/// Sizes and counts are integers; for measured values six digits are more than enough.
std::string number(double value) {
  const bool is_whole = value < 1e15 && value == std::floor(value);
  return formatted(is_whole ? "%.0f" : "%.6g", value);
}

/// "(1,0,2)".
std::string placeText(const Coordinates& at, std::size_t dimensions) {
  std::string text;
  for (std::size_t axis = 0; axis < dimensions; ++axis)
    text += (axis == 0 ? "(" : ",") + std::to_string(at[axis]);
  return text + ")";
}

constexpr double kMicro = 1e6, kMega = 1e-6;

}  // namespace

std::string machineText(const DerivedMachine& machine, const std::string& name,
                        const std::string& description) {
  std::string text = "{\n  \"name\": " + jsonString(name) +
                     ",\n  \"description\": " + jsonString(description) + ",\n  \"dimensions\": [";
  bool is_first = true;
  for (const DerivedDimension& dimension : machine.dimensions) {
    text += is_first ? "\n" : ",\n";
    is_first = false;
    text += "    {\"size\": " + std::to_string(dimension.size) +
            ", \"kind\": " + (dimension.torus ? "\"torus\"" : "\"mesh\"") +
            ", \"bandwidth\": " + number(dimension.bandwidth);
    if (dimension.latency_s > 0) text += ", \"latency\": " + number(dimension.latency_s);
    text += "}";
  }
  text += "\n  ],\n";
  std::string sources = "    \"dimensions.size\": " + jsonString(machine.size_source) +
                        ",\n    \"dimensions.bandwidth\": " + jsonString(machine.bandwidth_source);
  if (!machine.latency_source.empty()) {
    sources += ",\n    \"dimensions.latency\": " + jsonString(machine.latency_source);
  }
  for (const DerivedNumber& each : machine.numbers) {
    text += "  " + jsonString(each.key) + ": " + number(each.value) + ",\n";
    sources += ",\n    " + jsonString(each.key) + ": " + jsonString(each.source);
  }
  return text + "  \"sources\": {\n" + sources + "\n  }\n}\n";
}

std::string calibrationReport(const DerivedMachine& machine) {
  std::string text =
      formatted("%-5s %6s %11s %11s %11s %11s %11s %11s %8s\n", "links", "number", "one way us",
                "slowest", "up MB/s", "slowest", "down MB/s", "slowest", "at once");
  const std::size_t dimensions = machine.dimensions.size();
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    const LinkSummary& of = machine.links[axis];
    if (of.links == 0) continue;
    text += formatted("%-5c %6zu %11.2f %11.2f %11.2f %11.2f %11.2f %11.2f %8.2f\n",
                      kAxisNames[axis], of.links, kMicro * of.latency_s,
                      kMicro * of.slowest_latency.value, kMega * of.up, kMega * of.slowest_up.value,
                      kMega * of.down, kMega * of.slowest_down.value, of.both_factor);
  }
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    const LinkSummary& of = machine.links[axis];
    if (of.links == 0) continue;
    const auto place = [&](const Coordinates& at) { return placeText(at, dimensions); };
    text += formatted("slowest along %c: one way ", kAxisNames[axis]) +
            place(of.slowest_latency.from) + "-" + place(of.slowest_latency.to) + ", up " +
            place(of.slowest_up.from) + "->" + place(of.slowest_up.to) + ", down " +
            place(of.slowest_down.to) + "->" + place(of.slowest_down.from) + "\n";
  }
  text += formatted("a node's links, all at once: %.2f of %d\n", machine.links_at_once,
                    machine.links_of_node);
  if (machine.memory_alone > 0) {
    text +=
        formatted("memory of a host, one rank alone: %.0f MB/s\n", kMega * machine.memory_alone);
  }
  for (const DerivedNumber& number : machine.numbers)
    text += formatted("%-17s %.6g\n", number.key.c_str(), number.value);
  return text;
}

}  // namespace torc::runtime
