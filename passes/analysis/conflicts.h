// Conflicts: pairs of operations that must not overlap in time, because they touch the same memory
// and one of them writes. Exact for every node and count: two accesses conflict if some node
// executes both and their blocks overlap there.
//
// Each part has its own pieces of `in` and `out`, so the search is by part, and accesses covered by
// a later write are dropped. Blocks are indexed by their offset on the longest axis, so that a ring
// of d blocks costs a constant per operation, not d.
#ifndef TORC_PASSES_ANALYSIS_CONFLICTS_H_
#define TORC_PASSES_ANALYSIS_CONFLICTS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include "schedules/schedule.h"

namespace torc::passes {

class ConflictIndex {
 public:
  /// `schedule` has passed `validate` and outlives the index.
  explicit ConflictIndex(const ScheduleView& schedule);

  /// Appends to `conflicts` the earlier operations that conflict with `operation` (unordered, with
  /// duplicates; operations covered by a later conflicting one may be missing), then adds it.
  void add(std::uint32_t operation, llvm::SmallVectorImpl<std::uint32_t>& conflicts);

  void clear();

 private:
  /// One piece of a region, of one part, with its access.
  struct Access {
    std::uint32_t operation = 0;
    std::uint32_t part = 0;
    std::uint32_t box = kNone;
    std::uint32_t guard = kNone;  // box; kNone: every node
    std::uint32_t frame = kNone;  // scratch only
    Buffer buffer = Buffer::kNone;
    bool writes = false;
    bool copies_in = false;  // of a copy out = in: not executed in place
  };
  /// The accesses to `in` and `out` of a part, or to a slot, that later accesses may conflict with.
  struct Storage {
    // Regions of one block on the longest axis, by its offset from the node; of one frame.
    std::uint32_t frame = kNone;
    llvm::DenseMap<std::uint32_t, std::vector<Access>> by_offset;
    std::vector<Access> others;
  };

  llvm::SmallVector<Access, 4> accessesOf(std::uint32_t operation) const;
  Storage& storageOf(const Access& access);
  /// Index of `access` in Storage::by_offset; kNone: in `others`.
  std::uint32_t offsetOf(const Access& access) const;
  void search(std::vector<Access>& accesses, const Access& access,
              llvm::SmallVectorImpl<std::uint32_t>& conflicts) const;
  bool sameMemory(const Access& a, const Access& b) const;
  bool conflict(const Access& a, const Access& b) const;
  bool covers(const Access& later, const Access& earlier) const;
  bool wraps(std::uint32_t axis) const;

  const ScheduleView schedule_;
  const CollectiveRow& row_;
  const BlockAxes axes_;
  const bool counts_round_;  // on lines too, like the shifts of loops over peers
  std::uint32_t longest_axis_ = 0;
  llvm::DenseMap<std::uint32_t, Storage> buffers_;  // by part
  llvm::DenseMap<std::uint32_t, Storage> slots_;
};

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_CONFLICTS_H_
