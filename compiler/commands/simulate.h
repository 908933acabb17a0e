// torc simulate --packets: simulates a schedule, or a direct all-to-all without one, in the routers
// of a torus. torc simulate --trace: a prediction in the format of a run's trace.
#ifndef TORC_COMPILER_COMMANDS_SIMULATE_H_
#define TORC_COMPILER_COMMANDS_SIMULATE_H_

#include <cstdint>
#include <string>

#include <llvm/Support/Error.h>

#include "compiler/report.h"
#include "compiler/sizes.h"
#include "model/machines/machine.h"
#include "model/packets/packet_simulator.h"
#include "model/simulator/simulator.h"
#include "schedules/schedule.h"
#include "support/options.h"
#include "support/status.h"

namespace torc::compiler {

class PacketFlags {
 public:
  /// The default machine, whose routers are modelled.
  static constexpr llvm::StringRef kDefaultMachine = "bgl";

  explicit PacketFlags(options::Command& command);

  bool areOn() const { return packets_; }
  bool hasTraffic() const { return !traffic_.empty(); }
  /// `--list-packet-settings`: whether it is given; prints them and returns the exit code.
  bool listsSettings() const { return list_; }
  int listSettings() const;
  /// Ends the command if options are incompatible.
  void check(bool has_file) const;

  /// Simulates `--traffic`. Returns the exit code.
  int simulateTraffic(const std::string& machine, Form form) const;
  /// Simulates a schedule with one rank per node. Returns the exit code.
  int simulateFile(const ScheduleView& schedule, const model::Machine& machine,
                   const SizeRange& sizes, Form form) const;

 private:
  /// The result of `simulate`, while `options` show the progress of `what`; draws it with --heat.
  /// Ends the command if it fails.
  model::PacketResult simulated(
      const std::string& what, const Topology& topology, model::PacketOptions& options,
      llvm::function_ref<llvm::Expected<model::PacketResult>()> simulate) const;
  /// The options of the machine's routers, by default Blue Gene/L's, and of the settings.
  model::PacketOptions optionsFor(const model::Machine& machine) const;

  options::Flag packets_;
  options::Word traffic_;
  options::Text torus_, pair_bytes_;
  options::Integer seed_, most_packets_;
  options::Text settings_, memory_, heat_;
  options::Flag list_;
};

/// Writes the events of `result`, a simulation of `schedule` for a vector of `bytes`, as a file for
/// Perfetto (docs/users/view.md). Errors: kIo.
Status writeTrace(const std::string& path, const ScheduleView& schedule,
                  const model::SimulateResult& result, std::uint64_t bytes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_SIMULATE_H_
