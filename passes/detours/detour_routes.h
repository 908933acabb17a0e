// The blocks that dropped messages of rings leave undelivered (kDropsBroken), the nodes that hold
// them, and the shortest routes there.
//
// Moved data. A node that misses a message can get its blocks from any node that has received them,
// or sends them. After the first phase its neighbours along an intact axis already receive the same
// blocks in the same step, on their own rings. In the first phase the source is the node before the
// dead one, over a detour. Sums. The same, reversed in time: they go to a node that has sums of the
// same blocks and still sends them, or will have such sums. Sums of a dead node's own blocks, if
// these are pieces of the vector like others, stay with the last node before it.
#ifndef TORC_PASSES_DETOURS_DETOUR_ROUTES_H_
#define TORC_PASSES_DETOURS_DETOUR_ROUTES_H_

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "ir/verifier/box_algebra.h"
#include "schedules/broken_messages.h"
#include "schedules/schedule.h"

namespace torc::passes {

struct Hop {
  std::uint32_t axis = 0;
  int sign = 1;
  auto operator<=>(const Hop&) const = default;
};
using Way = llvm::SmallVector<Hop, 4>;

/// Nodes that hold some blocks, or sums of them, and the region of these blocks there.
struct Holders {
  ir::RangesList nodes;
  Region region;
  std::uint32_t behind = kNone;  // the operation after which sums can be added; kNone: at once
};

/// A route from a node to one that holds its missing blocks, or takes its sums.
struct Route {
  Way way;
  Holders holders;
};

/// The node one hop further; std::nullopt if the link is dead or absent.
std::optional<Coordinates> hopFrom(const Topology& topology, const Coordinates& from,
                                   const Hop& hop);

/// Blocks of a message that is dropped at a node, and the routes for them.
struct Need {
  std::uint32_t operation = 0;
  Coordinates at{};
  Ranges blocks{};
  std::vector<Route> routes;
};

class DetourRoutes {
 public:
  /// The tables of `rings`, which drops broken messages, must outlive this.
  explicit DetourRoutes(const ScheduleView& rings);

  /// The live nodes under the guard of an operation whose message is dropped.
  std::vector<Coordinates> nodesThatDrop(const Operation& operation);
  /// All dropped receives of moved data and sends of sums. An error if there is no route.
  llvm::Expected<std::vector<Need>> needs();

  /// The common box of a region's pieces.
  const Box& boxOf(const Region& region) const {
    return rings_.boxes[rings_.piecesOf(region)[0].box];
  }
  /// Whether only dead nodes own the blocks.
  bool isNothing(const Ranges& blocks) const;

 private:
  llvm::Error addNeed(std::uint32_t operation, const Coordinates& at, std::vector<Need>& all);
  std::vector<Holders> whoHas(std::uint32_t receive, const Ranges& blocks);
  std::vector<Holders> whoTakes(std::uint32_t send, const Ranges& blocks);
  std::vector<Holders> whoKeeps(const Region& wanted, const Ranges& blocks) const;
  Holders holdersOf(const Operation& operation, const Region& wanted, const Ranges& blocks,
                    bool also_dropped);
  bool hasPartsOf(const Region& region, const Region& wanted) const;
  bool sharesPart(const Region& a, const Region& b) const;

  const ScheduleView rings_;
  const Topology& topology_;
  DroppedMessages dropped_;
  llvm::DenseMap<std::uint32_t, std::vector<std::uint32_t>> messages_;  // by part
  std::set<std::pair<std::uint32_t, std::uint16_t>> adding_;            // stream and phase, of sums
  std::vector<std::pair<Ranges, Holders>> kept_;  // sums of a dead node's blocks, and their holders
};

}  // namespace torc::passes

#endif  // TORC_PASSES_DETOURS_DETOUR_ROUTES_H_
