// torc simulate --packets: a schedule, or an all-to-all that is no schedule, in the routers of a
// torus.
#ifndef TORC_COMPILER_COMMANDS_SIMULATE_PACKETS_H_
#define TORC_COMPILER_COMMANDS_SIMULATE_PACKETS_H_

#include <string>

#include <llvm/Support/Error.h>

#include "compiler/report.h"
#include "compiler/sizes.h"
#include "model/machines/machine.h"
#include "model/packets/packet_simulator.h"
#include "schedules/schedule.h"
#include "support/options.h"

namespace torc::compiler {

class PacketFlags {
 public:
  /// The machine where none is named: the one whose routers these are.
  static constexpr llvm::StringRef kDefaultMachine = "bgl";

  explicit PacketFlags(options::Command& command);

  bool areOn() const { return packets_; }
  bool hasTraffic() const { return !traffic_.empty(); }
  /// `--list-packet-settings`: prints them. Returns the exit code.
  bool listsSettings() const { return list_; }
  int listSettings() const;
  /// An error of usage: options that do not go together.
  llvm::Error check(bool has_file) const;

  /// `--traffic`. Returns the exit code.
  int simulateTraffic(const std::string& machine, Form form) const;
  /// A schedule of one rank a node. Returns the exit code.
  int simulateFile(const ScheduleView& schedule, const model::Machine& machine,
                   const SizeRange& sizes, Form form) const;

 private:
  /// Those of the machine's routers, or Blue Gene/L's, and of the settings. Errors are of usage.
  llvm::Expected<model::PacketOptions> optionsFor(const model::Machine& machine) const;

  options::Flag packets_;
  options::Word traffic_;
  options::Text torus_, pair_bytes_;
  options::Integer seed_, most_packets_;
  options::Text settings_, memory_, heat_;
  options::Flag list_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_SIMULATE_PACKETS_H_
