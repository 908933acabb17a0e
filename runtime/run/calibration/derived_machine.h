// Derives a machine's description from the measurements of all its ranks. Formulas:
// docs/sites/machines.md.
//
// Keys are those of docs/schemas/machine.schema.json. Numbers that were not measured, or are within
// noise, are omitted.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_DERIVED_MACHINE_H_
#define TORC_RUNTIME_RUN_CALIBRATION_DERIVED_MACHINE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/run/calibration/node_measurement.h"
#include "schedules/topology/topology.h"

namespace torc::runtime {

struct SlowestLink {
  double value = 0;
  Coordinates from{}, to{};
};

/// Report of the links of an axis.
struct LinkSummary {
  std::size_t links = 0;
  double latency_s = 0;  // a small message, one way: median
  SlowestLink slowest_latency;
  double up = 0, down = 0;  // bytes/s, medians
  SlowestLink slowest_up, slowest_down;
  double both_factor = 0;  // bytes/s of both directions at once, relative to the slower one alone
};

/// A number of the description, and its source.
struct DerivedNumber {
  std::string key;
  double value = 0;
  std::string source;
};

struct DerivedDimension {
  std::uint32_t size = 1;
  bool torus = true;
  double bandwidth = 0;  // bytes/s of one cable
  double latency_s = 0;  // of a hop; 0: within noise
};

struct DerivedMachine {
  std::vector<DerivedDimension> dimensions;
  std::vector<LinkSummary> links;      // by dimension
  std::vector<DerivedNumber> numbers;  // of the top level, in the order of the schema
  /// Sources of the sizes, bandwidths and latencies of the dimensions.
  std::string size_source, bandwidth_source, latency_source;
  int links_of_node = 0;
  double links_at_once = 0;  // effective number when a node uses all
  double memory_alone = 0;   // bytes/s of one rank of a host
};

/// `measurements`: by rank, at least one link among them; `coordinates_of`: of a rank on
/// `topology`.
DerivedMachine deriveMachine(const Topology& topology,
                             std::span<const NodeMeasurement> measurements,
                             const std::function<Coordinates(std::int32_t)>& coordinates_of,
                             const MeasuredSizes& sizes);

/// The JSON text of the description. `name` and `description` are one line each.
std::string machineText(const DerivedMachine& machine, const std::string& name,
                        const std::string& description);

/// Lines of text: links, the slowest of them by name, and the numbers of the machine.
std::string calibrationReport(const DerivedMachine& machine);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_DERIVED_MACHINE_H_
