// Checks that of two conflicting operations one depends on the other. Order is looked up for 64
// operations at a time, one bit each.
#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/IntEqClasses.h>

#include "ir/text/text.h"
#include "ir/verifier/races/races.h"

namespace torc::ir {
namespace {

constexpr std::size_t kMostSources = 256;  // operations whose followers are searched together

/// Operations connected by dependences. No dependence leaves an island, so order is checked within
/// it: if every node has operations of its own, within the node.
class DependenceIslands {
 public:
  DependenceIslands(const ScheduleView& schedule) {
    const auto count = static_cast<std::uint32_t>(schedule.operations.size());
    llvm::IntEqClasses joined(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const std::uint32_t before : schedule.dependencesOf(schedule.operations[i]))
        joined.join(i, before);
    }
    joined.compress();
    members_.resize(joined.getNumClasses());
    for (std::uint32_t i = 0; i < count; ++i) {
      island_.push_back(joined[i]);
      members_[joined[i]].push_back(i);
    }
  }

  std::uint32_t of(std::uint32_t operation) const { return island_[operation]; }
  /// The operations of the island of `first` from it on, up to `last`.
  llvm::ArrayRef<std::uint32_t> between(std::uint32_t first, std::uint32_t last) const {
    const std::vector<std::uint32_t>& all = members_[island_[first]];
    const auto begin = std::ranges::lower_bound(all, first);
    const auto end = std::ranges::upper_bound(all, last);
    return llvm::ArrayRef(all).slice(static_cast<std::size_t>(begin - all.begin()),
                                     static_cast<std::size_t>(end - begin));
  }

 private:
  std::vector<std::uint32_t> island_;                // by operation
  std::vector<std::vector<std::uint32_t>> members_;  // by island, ascending
};

}  // namespace

void checkOrder(RaceProof& proof) {
  VerifyContext& context = proof.context;
  const ScheduleView& schedule = context.schedule;
  std::vector<Conflict>& conflicts = proof.conflicts;
  const DependenceIslands islands(schedule);
  std::sort(conflicts.begin(), conflicts.end(), [&](const Conflict& a, const Conflict& b) {
    // If several regions conflict, the first of the records.
    return std::tuple(islands.of(a.first), a.first, a.second, a.first_region, a.second_region) <
           std::tuple(islands.of(b.first), b.first, b.second, b.first_region, b.second_region);
  });
  // Lists may meet in many pieces.
  conflicts.erase(std::unique(conflicts.begin(), conflicts.end(),
                              [](const Conflict& a, const Conflict& b) {
                                return a.first == b.first && a.second == b.second;
                              }),
                  conflicts.end());
  // By operation: the sources that it comes after.
  std::vector<std::array<std::uint64_t, kMostSources / 64>> after(schedule.operations.size());
  for (std::size_t begin = 0; begin < conflicts.size() && !context.full();) {
    // The next first operations of an island, and its relevant members.
    std::vector<std::uint32_t> sources;
    std::uint32_t last = 0;
    std::size_t end = begin;
    for (; end < conflicts.size(); ++end) {
      const Conflict& conflict = conflicts[end];
      if (sources.empty() || sources.back() != conflict.first) {
        const bool same = sources.empty() || islands.of(conflict.first) == islands.of(sources[0]);
        if (!same || sources.size() == kMostSources) break;
        sources.push_back(conflict.first);
      }
      last = std::max(last, conflict.second);
    }
    std::size_t next_source = 0;
    for (const std::uint32_t i : islands.between(sources.front(), last)) {
      const auto dependences = schedule.dependencesOf(schedule.operations[i]);
      proof.steps += 1 + dependences.size();
      if (proof.tooMuch()) return;
      auto& mask = after[i];
      mask = {};
      for (const std::uint32_t d : dependences) {
        if (d < sources.front()) continue;
        for (std::size_t word = 0; word < mask.size(); ++word)
          mask[word] |= after[d][word];
      }
      if (next_source < sources.size() && sources[next_source] == i) {
        mask[next_source / 64] |= std::uint64_t{1} << next_source % 64;
        ++next_source;
      }
    }
    std::size_t source = 0;
    for (; begin < end; ++begin) {
      const Conflict& conflict = conflicts[begin];
      while (sources[source] != conflict.first)
        ++source;
      const bool reached = islands.of(conflict.second) == islands.of(conflict.first);
      if (reached && (after[conflict.second][source / 64] >> source % 64 & 1) != 0) continue;
      context.fault(Rule::kRaces, conflict.second, "touches ",
                    regionText(schedule, *conflict.second_region), " while %", conflict.first,
                    ", on which it does not depend, may still touch ",
                    regionText(schedule, *conflict.first_region));
    }
  }
}

}  // namespace torc::ir
