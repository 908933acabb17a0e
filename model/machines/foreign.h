// Machine descriptions of other tools: Slurm's topology. A file's format is recognised by its
// content; errors name simulators' formats with their converter (docs/sites/machines.md).
#ifndef TORC_MODEL_MACHINES_FOREIGN_H_
#define TORC_MODEL_MACHINES_FOREIGN_H_

#include <cstddef>

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"

namespace torc::model {

/// Whether `text` looks like torc's own description.
bool isMachineJson(llvm::StringRef text);

/// Reads a description in a foreign format. `origin` is its path, which names the machine. Errors
/// are MachineFaults: `topology.yaml:3: error: ...`, or the recognised format of the file.
llvm::Expected<Machine> parseForeignMachine(llvm::StringRef text, llvm::StringRef origin);

/// `origin:line: error: what` without unprintable letters; a MachineFault.
llvm::Error foreignFault(llvm::StringRef origin, std::size_t line, const llvm::Twine& what);

/// One line of printable text for terminals and JSON.
std::string printable(const llvm::Twine& text);

}  // namespace torc::model

#endif  // TORC_MODEL_MACHINES_FOREIGN_H_
