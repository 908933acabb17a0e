// Small schedules written by hand, for tests that should not depend on passes: the bucket
// algorithm's rings on a torus, and the two lines of a mesh (docs/developers/ir.md). Each is
// correct: the verifier accepts it.
#ifndef TORC_TESTS_SCHEDULES_SAMPLE_SCHEDULE_H_
#define TORC_TESTS_SCHEDULES_SAMPLE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedules/schedule.h"
#include "schedules/topology/damage.h"

namespace torc::samples {

/// The topology of a valid shape.
inline Topology parsed(std::string_view shape, std::string_view order = {}) {
  return *parseTopology(shape, order);
}

/// With these dead nodes ("1,2") and links ("0,1:X").
Topology damaged(std::string_view shape, const std::vector<std::string_view>& nodes,
                 const std::vector<std::string_view>& links = {}, std::string_view order = {});

inline Box boxOf(const Interval& x, const Interval& y = Interval::all()) {
  Box box;
  box[0] = x;
  box[1] = y;
  return box;
}

Operation operationOf(OperationKind kind, const Region& dst, const Region& a = {},
                      const Region& b = {}, std::uint32_t peer = kNone);
inline Operation send(const Region& a, std::uint32_t peer) {
  return operationOf(OperationKind::kSend, {}, a, {}, peer);
}
inline Operation recv(const Region& dst, std::uint32_t peer) {
  return operationOf(OperationKind::kRecv, dst, {}, {}, peer);
}
inline Operation recvReduce(const Region& dst, const Region& a, const Region& b,
                            std::uint32_t peer) {
  return operationOf(OperationKind::kRecvReduce, dst, a, b, peer);
}
inline Operation copy(const Region& dst, const Region& a) {
  return operationOf(OperationKind::kCopy, dst, a);
}
/// The same operation for the nodes of box `guard` only.
Operation guarded(Operation operation, std::uint32_t guard);

/// Appends to a schedule's tables; equal boxes and shifts are stored once.
class ScheduleWriter {
 public:
  /// A schedule without colors. `shape` and `order` as for `parseTopology`.
  ScheduleWriter(Collective collective, std::string_view shape, std::string_view order = {});

  /// A color with the given axis order (names, "XY"); returns its first part.
  std::uint32_t color(std::string_view axes, std::uint64_t weight = 1, std::uint32_t directions = 1,
                      std::uint32_t chunks = 1);
  std::uint32_t stream(std::uint32_t part);
  std::uint32_t box(const Box& box);
  std::uint32_t shift(std::uint32_t axis, std::int32_t distance);
  /// A frame in a slot of its own, or in `slot`.
  std::uint32_t frame(std::uint32_t part, const Box& box, std::uint32_t slot = kNone);

  Region in(std::uint32_t part, const Box& box) {
    return boxRegion(Buffer::kIn, part, this->box(box));
  }
  Region out(std::uint32_t part, const Box& box) {
    return boxRegion(Buffer::kOut, part, this->box(box));
  }
  Region scratch(std::uint32_t frame, const Box& box) {
    return boxRegion(Buffer::kScratch, schedule_.frames[frame].part, this->box(box), frame);
  }

  /// A region of these pieces, stored for it; in scratch inside `frame`.
  Region list(Buffer buffer, const std::vector<Piece>& pieces, std::uint32_t frame = kNone);
  /// A frame of the pieces of `region`, in a slot of its own.
  std::uint32_t frameOf(const Region& region);

  /// Appends `operation` to `stream` in the current phase; returns its index.
  std::uint32_t add(std::uint32_t stream, Operation operation,
                    const std::vector<std::uint32_t>& dependences = {});
  void phase(std::uint16_t phase) { phase_ = phase; }

  Schedule& schedule() { return schedule_; }
  Schedule take() { return std::move(schedule_); }

 private:
  Schedule schedule_;
  std::uint16_t phase_ = 0;
};

/// allreduce, one color, on a ring of `size`: reduce-scatter, then allgather, in `out`.
Schedule ringAllreduce(std::uint32_t size);

/// reduce_scatter, one color, on a ring of `size`; each step has its own scratch.
Schedule ringReduceScatter(std::uint32_t size);

/// allgather on a ring of `size` >= 3, in which a node sends after a signal of its neighbour.
Schedule signalledAllgather(std::uint32_t size);
/// Every node to every node, in one send and one receive, in drawn order.
Schedule directAlltoall(std::string_view shape);

/// allgather on a mesh of `size`: both lines, with guards.
Schedule meshAllgather(std::uint32_t size);

/// broadcast on a mesh of `size`, from any root, both ways along the line.
Schedule meshBroadcast(std::uint32_t size);

/// allreduce on a torus of any shape, one color per axis, color c's order starts at axis c.
Schedule multicolorAllreduce(std::string_view shape, std::uint32_t chunks = 1);

/// allgather between the two live nodes of a ring of three.
Schedule damagedAllgather();

/// reduce_scatter on a ring of three, whole blocks both ways: regions and frames of several parts,
/// as a piece of two and as two pieces.
Schedule bothWaysReduceScatter();

/// allreduce on a ring of `size`, in three segments.
Schedule segmentedAllreduce(std::uint32_t size);

/// All of them in small sizes.
std::vector<Schedule> all();

}  // namespace torc::samples

#endif  // TORC_TESTS_SCHEDULES_SAMPLE_SCHEDULE_H_
