// The size and the machine that a schedule was chosen for, which its producer has behind the
// pipeline: "torc 1.0.0 bucket: assign-colors{...},... for 1M on bgp".
#ifndef TORC_COMPILER_CHOSEN_FOR_H_
#define TORC_COMPILER_CHOSEN_FOR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <llvm/ADT/StringRef.h>

#include "compiler/sizes.h"
#include "support/options.h"

namespace torc::compiler {

/// " for 1M on bgp", or "... on file m.json"; `machine` as --machine names it, empty: the default.
/// Empty where a producer cannot have the name.
std::string chosenForText(std::uint64_t bytes, llvm::StringRef machine);

/// A producer without that.
llvm::StringRef recipeOf(llvm::StringRef producer);

/// Sets `range` and `machine`, where the options leave them open, to those that a schedule was
/// chosen for, if its producer names them. A machine's file is not opened: a note on stderr names
/// it.
void takeChosenFor(std::string_view producer, const options::Text& bytes, SizeRange& range,
                   options::Text& machine);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOSEN_FOR_H_
