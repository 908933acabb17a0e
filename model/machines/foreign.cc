// Recognises formats of machines by their beginnings.
#include "model/machines/foreign.h"

#include <algorithm>

#include <llvm/ADT/StringExtras.h>

#include "model/machines/slurm_machine.h"

namespace torc::model {
namespace {

constexpr std::size_t kMostBytes = 4u << 20;  // of a file

llvm::StringRef withoutMark(llvm::StringRef text) {
  text.consume_front("\xef\xbb\xbf");  // a byte order mark
  return text;
}

/// The first line that is neither empty nor a comment, trimmed.
llvm::StringRef firstLine(llvm::StringRef text) {
  llvm::StringRef line;
  while (line.empty() && !text.empty()) {
    std::tie(line, text) = text.split('\n');
    line = line.split('#').first.trim();
  }
  return line;
}

llvm::Error isOther(llvm::StringRef origin, const llvm::Twine& what) {
  return llvm::make_error<MachineFault>(origin + ": is " + what);
}

llvm::Error isOf(llvm::StringRef what, llvm::StringRef format, llvm::StringRef origin) {
  return isOther(origin, what + ": convert it first: python3 -m torc_convert " + format + " " +
                             origin + " >x.json");
}

llvm::Expected<Machine> readYaml(llvm::StringRef text, llvm::StringRef origin) {
  llvm::Expected<YamlNode> root = parseYaml(text, origin);
  if (!root) return root.takeError();
  if (root->find("npus_count") != nullptr || root->find("topology") != nullptr) {
    return isOf("an ASTRA-sim network", "astra", origin);
  }
  if (isSlurmYaml(*root)) return slurmMachine(readSlurmYaml(*root, origin), origin);
  return isOther(origin, "YAML that describes no machine: Slurm's has a list of topologies");
}

}  // namespace

bool isMachineJson(llvm::StringRef text) {
  return withoutMark(text).ltrim().starts_with("{");
}

llvm::Expected<std::vector<SlurmTorus>> readSlurmTori(llvm::StringRef text,
                                                      llvm::StringRef origin) {
  text = withoutMark(text);
  if (isSlurmLine(firstLine(text))) return readSlurmLines(text, origin);
  llvm::Expected<YamlNode> root = parseYaml(text, origin);
  if (!root) return root.takeError();
  if (isSlurmYaml(*root)) return readSlurmYaml(*root, origin);
  return isOther(origin, "no topology of Slurm's, which says where hosts lie");
}

llvm::Expected<Machine> parseForeignMachine(llvm::StringRef text, llvm::StringRef origin) {
  text = withoutMark(text);
  const llvm::StringRef line = firstLine(text.take_front(1 << 16));
  if (text.size() > kMostBytes) {
    return isOther(
        origin, "longer than any machine's description, " + llvm::Twine(kMostBytes >> 20) + " MiB");
  }
  if (line.empty()) return isOther(origin, "empty");
  if (text.contains("<platform")) return isOf("a platform of SimGrid", "simgrid", origin);
  if (text.contains("<algo")) return isOther(origin, "an MSCCL schedule, no machine (torc import)");
  if (line.starts_with("TORC") || line.starts_with("schedule ")) {
    return isOther(origin, "a schedule of torc's (torc dump, torc verify)");
  }
  if (line.starts_with("num_ranks")) return isOther(origin, "a GOAL schedule, no machine");
  if (line.starts_with("(") || (llvm::isDigit(line[0]) && line.contains(' '))) {
    return isOther(origin, "a mapping of ranks (TORC_MAPPING), no machine");
  }
  if (isSlurmLine(line)) return slurmMachine(readSlurmLines(text, origin), origin);
  if (line.starts_with("- ") || line.starts_with("---") || line.contains(':')) {
    return readYaml(text, origin);
  }
  return isOther(origin,
                 "no description of a machine: those of torc (JSON) and Slurm (topology.yaml) are "
                 "read");
}

llvm::Error foreignFault(llvm::StringRef origin, std::size_t line, const llvm::Twine& what) {
  return llvm::make_error<MachineFault>(origin + ":" + llvm::Twine(line) +
                                        ": error: " + printable(what));
}

std::string printable(const llvm::Twine& text) {
  std::string line = text.str();
  std::ranges::replace_if(
      line, [](char c) { return !llvm::isPrint(c); }, '?');
  return line;
}

}  // namespace torc::model
