// torc library diff A B: in what two libraries differ.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>

#include "compiler/commands/commands.h"
#include "compiler/library/manifest.h"
#include "compiler/sizes.h"
#include "compiler/tool.h"

namespace torc::compiler {
namespace library_diff_command {

using namespace llvm::cl;

SubCommand command("library diff", "Compare two libraries; exit code 1 if they differ");
OptionCategory category("Options of library diff");

list<std::string> paths(Positional, desc("DIR DIR"), sub(command), cat(category));

/// A topology with all that tells it from others, and its name.
using TopologyKey = std::pair<std::string, std::string>;

TopologyKey keyOf(const Topology& topology) {
  LibraryIndex index;
  index.partitions = {{topology}};
  nlohmann::ordered_json json = indexJson(index);
  return {topology.shape(), json["partitions"][0].dump()};
}

using SubTorusKey = std::pair<TopologyKey, Extents>;
using RangesKey = std::tuple<TopologyKey, Collective>;

/// Two libraries, what differs between them in lines.
class Comparison {
 public:
  Comparison(const Library& a, const Library& b, llvm::raw_ostream& out)
      : a_(a), b_(b), out_(out) {}

  /// The number of differences.
  std::size_t run() {
    compareText("torc version", a_.index.version, b_.index.version);
    compareText("machine", a_.index.machine, b_.index.machine);
    compareMachines();
    compareSubTori();
    compareRanges("", rangesOf(a_, a_.index.entries), rangesOf(b_, b_.index.entries));
    compareCandidates();
    compareText("tuned on", shown(a_.index.tuned_on), shown(b_.index.tuned_on));
    compareRanges("tuned ", rangesOf(a_, a_.index.tuned), rangesOf(b_, b_.index.tuned));
    compareMeasurements();
    compareFiles();
    return count_;
  }

 private:
  static std::string shown(const std::string& text) { return text.empty() ? "nothing" : text; }

  void compareText(llvm::StringRef what, const std::string& a, const std::string& b) {
    if (a == b) return;
    ++count_;
    out_ << what << ": " << a << " / " << b << '\n';
  }

  /// The numbers of machines of one name, key by key.
  void compareMachines() {
    const auto a = a_.manifest["machine"].flatten(), b = b_.manifest["machine"].flatten();
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (const auto& [key, value] : a.items())
      values[key].first = value.dump();
    for (const auto& [key, value] : b.items())
      values[key].second = value.dump();
    for (const auto& [key, value] : values) {
      const llvm::StringRef name = key;
      if (name == "/name" || name == "/description" || name.starts_with("/sources")) continue;
      compareText("machine: " + name.drop_front().str(), shown(value.first), shown(value.second));
    }
  }

  /// Things that only one of them has, by name.
  template <typename Key, typename Value, typename Name>
  void compareKeys(const std::map<Key, Value>& a, const std::map<Key, Value>& b, Name name) {
    for (const auto& [key, value] : a) {
      if (!b.contains(key)) only(a_, name(key));
    }
    for (const auto& [key, value] : b) {
      if (!a.contains(key)) only(b_, name(key));
    }
  }

  void only(const Library& library, const std::string& what) {
    ++count_;
    out_ << what << ": only in " << library.path << '\n';
  }

  static std::map<TopologyKey, bool> partitionsOf(const Library& library) {
    std::map<TopologyKey, bool> keys;
    for (const LibraryPartition& partition : library.index.partitions)
      keys[keyOf(partition.topology)] = true;
    return keys;
  }

  static std::map<SubTorusKey, std::string> subToriOf(const Library& library) {
    std::map<SubTorusKey, std::string> sub_tori;
    for (const LibrarySubTorus& sub_torus : library.index.sub_tori) {
      const Topology& partition = library.index.partitions[sub_torus.partition].topology;
      sub_tori[{keyOf(partition), sub_torus.extents}] = subTorusName(library.index, sub_torus);
    }
    return sub_tori;
  }

  void compareSubTori() {
    const auto a = partitionsOf(a_), b = partitionsOf(b_);
    compareKeys(a, b, [](const TopologyKey& key) { return "partition " + key.first; });
    auto a_sub_tori = subToriOf(a_), b_sub_tori = subToriOf(b_);
    // Those of a partition that only one has are not worth a line each.
    std::erase_if(a_sub_tori,
                  [&](const auto& sub_torus) { return !b.contains(sub_torus.first.first); });
    std::erase_if(b_sub_tori,
                  [&](const auto& sub_torus) { return !a.contains(sub_torus.first.first); });
    compareKeys(a_sub_tori, b_sub_tori, [&](const SubTorusKey& key) {
      return "sub-torus " + (a_sub_tori.contains(key) ? a_sub_tori.at(key) : b_sub_tori.at(key));
    });
  }

  using Ranges = std::map<RangesKey, std::vector<const LibraryEntry*>>;

  /// The shape and the collective of an entry, a candidate or a measurement.
  template <typename Named>
  static RangesKey keyOfNamed(const Library& library, const Named& named) {
    return {keyOf(library.index.shapes[named.shape].topology), named.collective};
  }

  static Ranges rangesOf(const Library& library, const std::vector<LibraryEntry>& entries) {
    Ranges ranges;
    for (const LibraryEntry& entry : entries)
      ranges[keyOfNamed(library, entry)].push_back(&entry);
    return ranges;
  }

  static std::string nameOf(const RangesKey& key) {
    return std::string(rowOf(std::get<1>(key)).name) + " on " + std::get<0>(key).first;
  }

  static std::string fileOf(const Library& library, const LibraryEntry& entry) {
    return fileText(library.index, entry.file);
  }

  /// `kind` is "" or "tuned ".
  void compareRanges(const std::string& kind, const Ranges& a, const Ranges& b) {
    compareKeys(a, b, [&](const RangesKey& key) { return kind + nameOf(key); });
    for (const auto& [key, of_a] : a) {
      const auto found = b.find(key);
      if (found == b.end()) continue;
      const auto& of_b = found->second;
      for (std::size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
        const LibraryEntry* left = i < of_a.size() ? of_a[i] : nullptr;
        const LibraryEntry* right = i < of_b.size() ? of_b[i] : nullptr;
        compareRange(nameOf(key) + ", " + kind + "range " + std::to_string(i),
                     kind.empty() ? "predicted" : "measured", left, right);
      }
    }
  }

  void compareRange(const std::string& what, const char* times, const LibraryEntry* a,
                    const LibraryEntry* b) {
    const bool same_schedule = a != nullptr && b != nullptr && a->lowest == b->lowest &&
                               a->highest == b->highest && fileOf(a_, *a) == fileOf(b_, *b);
    if (!same_schedule) {
      ++count_;
      out_ << what << ":\n";
      if (a != nullptr) out_ << "  - " << rangeText(*a) << ' ' << fileOf(a_, *a) << '\n';
      if (b != nullptr) out_ << "  + " << rangeText(*b) << ' ' << fileOf(b_, *b) << '\n';
      return;
    }
    if (a->lowest_s == b->lowest_s && a->highest_s == b->highest_s &&
        a->predicted_to == b->predicted_to) {
      return;
    }
    ++count_;
    out_ << what << ", " << rangeText(*a) << ": " << times << ' '
         << llvm::format("%.2f..%.2f us / ", 1e6 * a->lowest_s, 1e6 * a->highest_s)
         << llvm::format("%.2f..%.2f us\n", 1e6 * b->lowest_s, 1e6 * b->highest_s);
  }

  static std::map<std::pair<RangesKey, std::string>, bool> candidatesOf(const Library& library) {
    std::map<std::pair<RangesKey, std::string>, bool> candidates;
    for (const LibraryCandidate& candidate : library.index.candidates) {
      candidates[{keyOfNamed(library, candidate), library.index.files[candidate.file].name}] = true;
    }
    return candidates;
  }

  void compareCandidates() {
    compareKeys(candidatesOf(a_), candidatesOf(b_),
                [](const auto& key) { return nameOf(key.first) + ", candidate " + key.second; });
  }

  /// Seconds by size and file.
  using Measured = std::map<std::pair<std::uint64_t, std::string>, double>;

  static std::map<RangesKey, Measured> measuredOf(const Library& library) {
    std::map<RangesKey, Measured> measured;
    for (const LibraryMeasurement& one : library.index.measurements) {
      measured[keyOfNamed(library, one)][{one.bytes, fileText(library.index, one.file)}] =
          one.seconds;
    }
    return measured;
  }

  /// A line for each shape and collective: no two runs measure the same.
  void compareMeasurements() {
    const auto a = measuredOf(a_), b = measuredOf(b_);
    compareKeys(a, b, [](const RangesKey& key) { return nameOf(key) + ", measurements"; });
    for (const auto& [key, of_a] : a) {
      const auto found = b.find(key);
      if (found != b.end()) compareMeasured(nameOf(key), of_a, found->second);
    }
  }

  void compareMeasured(const std::string& name, const Measured& a, const Measured& b) {
    std::size_t both = 0, differ = 0;
    const Measured::value_type* most = nullptr;
    double most_ratio = 0;
    for (const auto& one : a) {
      const auto other = b.find(one.first);
      if (other == b.end()) continue;
      ++both;
      if (one.second == other->second) continue;
      ++differ;
      const auto [less, more] = std::minmax(one.second, other->second);
      const double ratio = less > 0 ? more / less : std::numeric_limits<double>::infinity();
      if (ratio <= most_ratio) continue;
      most = &one;
      most_ratio = ratio;
    }
    if (differ == 0 && both == a.size() && both == b.size()) return;
    ++count_;
    out_ << name << ": ";
    if (a.size() != b.size() || both != a.size()) {
      out_ << a.size() << " measurements / " << b.size() << ", " << both << " in both; ";
    }
    out_ << differ << " of " << both << " measurements differ";
    if (most != nullptr) {
      out_ << ", most at " << most->first.first << " bytes, " << most->first.second
           << llvm::format(": %.2f / %.2f us", 1e6 * most->second, 1e6 * b.at(most->first));
    }
    out_ << '\n';
  }

  static std::map<std::string, bool> filesOf(const Library& library) {
    std::map<std::string, bool> files;
    for (const LibraryFile& file : library.index.files)
      files[file.name] = true;
    return files;
  }

  void compareFiles() {
    compareKeys(filesOf(a_), filesOf(b_), [](const std::string& name) { return "file " + name; });
  }

  const Library& a_;
  const Library& b_;
  llvm::raw_ostream& out_;
  std::size_t count_ = 0;
};

int run() {
  if (paths.size() != 2)
    return wrongUsage("library diff: which two folders? torc library diff A B");
  llvm::Expected<Library> a = loadLibrary(paths[0]);
  if (!a) return inputFault(a.takeError());
  llvm::Expected<Library> b = loadLibrary(paths[1]);
  if (!b) return inputFault(b.takeError());
  std::string text;
  llvm::raw_string_ostream out(text);
  std::size_t count = Comparison(*a, *b, out).run();
  if (count == 0 && !(a->index == b->index)) {
    // What has no line of its own above: reasons, settings, the order of partitions.
    out << "notes: the schedules are the same, reasons, settings or order are not\n";
    ++count;
  }
  if (count == 0) {
    out << "same: " << librarySummary(a->index) << '\n';
  } else {
    out << count << (count == 1 ? " difference\n" : " differences\n");
  }
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return count == 0 ? kSuccess : kInputFault;
}

}  // namespace library_diff_command

Command libraryDiffCommand() {
  return {&library_diff_command::command, &library_diff_command::category,
          library_diff_command::run};
}

}  // namespace torc::compiler
