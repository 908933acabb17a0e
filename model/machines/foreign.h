// Machines as other tools describe them: ASTRA-sim's network.yml, SimGrid's platforms, Slurm's
// topology. A file's format is found by its content (docs/sites/machines.md).
#ifndef TORC_MODEL_MACHINES_FOREIGN_H_
#define TORC_MODEL_MACHINES_FOREIGN_H_

#include <cstddef>

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "model/machines/yaml_tree.h"

namespace torc::model {

/// Whether `text` is meant as torc's own description.
bool isMachineJson(llvm::StringRef text);

/// Reads a description that is not torc's own. `origin` is its path, of which the machine has its
/// name. Errors are MachineFaults: `network.yml:3: error: ...`, or what else the file is.
llvm::Expected<Machine> parseForeignMachine(llvm::StringRef text, llvm::StringRef origin);

/// Of each format. Where YAML or XML describe something else, they say what.
llvm::Expected<Machine> readAstraNetwork(const YamlNode& root, llvm::StringRef origin);
llvm::Expected<Machine> readSimgridPlatform(llvm::StringRef text, llvm::StringRef origin);

/// `origin:line: error: what`, without letters that cannot be printed; a MachineFault.
llvm::Error foreignFault(llvm::StringRef origin, std::size_t line, const llvm::Twine& what);

/// What somebody wrote, for a message: in quotes, cut if long.
std::string inQuotes(llvm::StringRef text);

/// A machine whose links alone are known, named after the file's path.
Machine foreignMachine(llvm::StringRef origin, const llvm::Twine& description);

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_FOREIGN_H_
