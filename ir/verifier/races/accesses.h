// Accesses: the memory that operations touch, and the pairs of accesses that meet on some node.
#ifndef TORC_IR_VERIFIER_RACES_ACCESSES_H_
#define TORC_IR_VERIFIER_RACES_ACCESSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ir/verifier/races/races.h"

namespace torc::ir {

/// Operations that touch the same blocks under the same guard: an access that meets one of them
/// meets all.
struct Access {
  std::vector<Use> uses;  // by operation, each once
  Buffer buffer = Buffer::kNone;
  std::uint32_t frame = kNone;
  std::uint32_t guard = kNone;
  std::uint32_t box = kNone;  // of the piece; kNone: the whole frame
  BlockRanges at_origin{};    // its blocks for the node at the origin
  bool writes = false;        // some of them
  bool onto_itself = false;   // copies in[b] to out[b]: no effect if they are one memory
  bool meets_itself = false;  // two of these uses touch the same memory
};
using AccessList = std::vector<const Access*>;

/// One memory with its accesses, found by their key.
struct Storage {
  std::vector<Access> accesses;
  std::map<std::array<std::uint32_t, 4>, std::size_t> number_of;
};

/// All memory that operations touch.
struct Storages {
  std::vector<Storage> parts;  // in and out of each part together, as they may be one memory
  std::vector<Storage> slots;  // slots whose frames exclude each other entirely
  std::map<std::pair<std::uint32_t, std::uint32_t>, Storage> frame_parts;
};

/// The accesses of all operations, in their order.
Storages collectAccesses(RaceProof& proof);

/// Whether two accesses of one storage touch the same memory on some node. Proved once for all
/// nodes: they do exactly if on every axis there is a coordinate which both guards admit and where
/// both intervals hold a common block, because guards are boxes.
bool collide(const VerifyContext& context, const Access& a, const Access& b);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_RACES_ACCESSES_H_
