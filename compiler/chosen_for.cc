// Writes and reads the end of producers.
#include "compiler/chosen_for.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/program_name.h"
#include "compiler/target.h"

namespace torc::compiler {
namespace {

constexpr llvm::StringRef kFor = " for ", kOn = " on ";

bool isPreset(llvm::StringRef machine) {
  return llvm::is_contained(model::machinePresets(), machine);
}

}  // namespace

std::string chosenForText(std::uint64_t bytes, llvm::StringRef machine) {
  if (machine.empty()) machine = kDefaultMachine;
  const llvm::StringRef kind = isPreset(machine) ? "" : "file ";
  const llvm::StringRef name = llvm::sys::path::filename(machine);
  return llvm::all_of(name, llvm::isPrint) ? (kFor + sizeText(bytes) + kOn + kind + name).str()
                                           : "";
}

llvm::StringRef recipeOf(llvm::StringRef producer) {
  return producer.split(kFor).first;
}

void takeChosenFor(std::string_view producer, const options::Text& bytes, SizeRange& range,
                   options::Text& machine) {
  const auto [size, on] = llvm::StringRef(producer).split(kFor).second.split(kOn);
  llvm::Expected<SizeRange> chosen = parseSizeRange(size, "");
  if (!chosen) return consumeError(chosen.takeError());
  if (!bytes.isGiven()) range = *chosen;
  if (!machine.empty() || on == kDefaultMachine) return;
  if (isPreset(on)) {
    machine = on.str();
  } else if (!on.empty()) {
    llvm::errs() << g_program << ": note: chosen for another machine, " << on
                 << ", which --machine has to name\n";
  }
}

}  // namespace torc::compiler
