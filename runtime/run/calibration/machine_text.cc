// The JSON text of a derived machine, by docs/schemas/machine.schema.json.
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

}  // namespace torc::runtime
