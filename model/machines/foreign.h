// Machines as other tools describe them: Slurm's topology. A file's format is found by its content;
// those of simulators are named with their converter (docs/sites/machines.md).
#ifndef TORC_MODEL_MACHINES_FOREIGN_H_
#define TORC_MODEL_MACHINES_FOREIGN_H_

#include <cstddef>

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"

namespace torc::model {

/// Whether `text` is meant as torc's own description.
bool isMachineJson(llvm::StringRef text);

/// Reads a description that is not torc's own. `origin` is its path, of which the machine has its
/// name. Errors are MachineFaults: `topology.yaml:3: error: ...`, or what else the file is.
llvm::Expected<Machine> parseForeignMachine(llvm::StringRef text, llvm::StringRef origin);

/// `origin:line: error: what`, without letters that cannot be printed; a MachineFault.
llvm::Error foreignFault(llvm::StringRef origin, std::size_t line, const llvm::Twine& what);

/// What somebody wrote, for a message: in quotes, cut if long.
std::string inQuotes(llvm::StringRef text);

/// One line that any terminal and any JSON takes.
std::string printable(const llvm::Twine& text);

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_FOREIGN_H_
