// Schedule: one program for all ranks of a torus, written relative to the node
// that runs it.
//
// Every record here is plain data, the same in memory and in a file (little-endian). `Schedule`
// owns its tables and is built by the compiler; `ScheduleView` refers to tables elsewhere (a
// Schedule, or the bytes of a loaded file) and is read by the verifier, simulator, expansion and
// runtime.
//
// Data. A buffer is an array of blocks indexed by torus coordinates; each block divides into parts
// = color x direction x chunk. A region is buffer[part, box], or a list of such pieces, each a box
// of consecutive parts. Part p of a schedule counts the colors in order, in each color the
// directions, in each direction the chunks.
//
// Order. Operations are listed phase by phase, in each phase stream by stream; executing one rank's
// list from top to bottom is the reference meaning, and a dependence always names an operation
// further up. An operation starts when its dependences are complete. An operation whose guard
// excludes a node, or whose regions are empty for a count, is complete as soon as its dependences
// are: dependences pass through it.
//
// Segments. The program may be written for one segment of the data: every part is cut into equal
// segments, and the whole program runs for each in turn. A dependence may name an operation of an
// earlier segment. Each slot of scratch has as many copies as the window, used by the segments in
// rotation.
//
// Loops. Consecutive operations may run for every value of a counter, loops in loops; boxes, and so
// frames and guards, may depend on the counters. The list is then that of all iterations in order;
// a dependence also names the iterations.
//
// Loops over peers. One operation may stand for a message to each of its peers, listed by a loop
// over peers. Its dependants wait for all of these messages.
//
// Matching. The k-th send of a stream from rank a to rank b matches the k-th
// receive of that stream on b from a; both name the same blocks of the same
// part.
#ifndef TORC_SCHEDULES_SCHEDULE_H_
#define TORC_SCHEDULES_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "schedules/block_axes.h"
#include "schedules/box.h"
#include "schedules/collective.h"
#include "schedules/topology/graph.h"
#include "schedules/topology/topology.h"

namespace torc {

/// Blocks of a message that are apart in memory go to MPI one by one if they have this many bytes
/// on average; smaller ones are packed. Measured: see runtime/transport/mpi_transport.h.
inline constexpr std::size_t kLeastFragmentBytes = 4096;

inline constexpr std::uint32_t kNone = 0xffffffffu;  // "no such index"

// A dependence in the table: the number of an operation in the lower bits. The upper bits select
// its iterations and segment. 0: the same iteration of the shared loops, and all iterations of its
// other loops; else one more than an index into the table of iterations.
inline constexpr std::uint32_t kDependenceBits = 24;
inline constexpr std::uint32_t kMaxOperationRecords = 1u << kDependenceBits;
inline constexpr std::uint32_t kMaxIterationRecords = 255;
inline constexpr std::uint32_t kMaxSegmentsBefore = 255;
inline constexpr std::uint32_t dependenceOn(std::uint32_t operation, std::uint32_t iterations) {
  return iterations << kDependenceBits | operation;
}
inline constexpr std::uint32_t operationOf(std::uint32_t dependence) {
  return dependence & (kMaxOperationRecords - 1);
}
inline constexpr std::uint32_t iterationsOf(std::uint32_t dependence) {
  return dependence >> kDependenceBits;
}

enum class Buffer : std::uint8_t { kNone = 0, kIn = 1, kOut = 2, kScratch = 3 };

enum class OperationKind : std::uint8_t {
  kSend = 0,        // send a to peer
  kRecv = 1,        // dst = data from peer
  kRecvReduce = 2,  // dst = a + data from peer, which is received into b (scratch) first
  kReduce = 3,      // dst = a + b
  kCopy = 4,        // dst = a
  kNotify = 5,      // tell peer that the dependences are complete: a message without data
  kAwait = 6,       // complete when peer's notify has arrived
};
inline constexpr int kOperationKindCount = 7;

/// The blocks from the nodes of one box to those of another, for collectives with blocks of pairs.
/// There `box` of a piece, a region and a frame is the index of such a pair of boxes.
struct BoxPair {
  std::uint32_t source = kNone;       // index of a box
  std::uint32_t destination = kNone;  // likewise

  bool operator==(const BoxPair&) const = default;
};
static_assert(sizeof(BoxPair) == 8);

/// The blocks of `box`, of consecutive parts from `part` on.
struct Piece {
  std::uint32_t part = 0;
  std::uint32_t parts = 1;  // number of parts, at least 1
  std::uint32_t box = kNone;

  bool operator==(const Piece&) const = default;
};
static_assert(sizeof(Piece) == 12);

/// buffer[part, box], or buffer[pieces]; in scratch, inside a frame.
struct Region {
  Buffer buffer = Buffer::kNone;
  std::uint8_t reserved = 0;
  std::uint16_t pieces = 0;     // number of pieces; 0: the blocks of one box, of one part
  std::uint32_t part = 0;       // 0 if there are pieces
  std::uint32_t box = kNone;    // index of a box, or of the first piece
  std::uint32_t frame = kNone;  // scratch only: index of its frame

  bool present() const { return buffer != Buffer::kNone; }
  bool operator==(const Region&) const = default;
};
static_assert(sizeof(Region) == 16);
inline constexpr std::uint32_t kMaxPieces = 0xffff;  // of a region or a frame

/// A color: a share of every block, and the order in which its phases visit the
/// axes.
struct Color {
  std::uint64_t weight = 1;      // share = weight / sum of weights over the colors
  std::uint32_t directions = 1;  // halves (2) for the two directions of a ring, or 1
  std::uint32_t chunks = 1;      // pieces per direction, so that phases and reduction overlap
  std::uint32_t axis_count = 0;  // all axes of the topology, once each
  std::uint32_t reserved = 0;
  std::array<std::uint8_t, kMaxAxes> order{};  // order[0] is reduced first; slowest in memory

  bool operator==(const Color&) const = default;
};
static_assert(sizeof(Color) == 32);

/// A stream: operations whose messages between two ranks match in order.
struct Stream {
  std::uint32_t part = 0;  // color, direction and chunk served; kNone: any
  std::uint32_t core = 0;  // core that executes it

  bool operator==(const Stream&) const = default;
};
static_assert(sizeof(Stream) == 8);

/// A displacement from the executing node to a peer, one number per axis.
using Shift = Coordinates;
static_assert(sizeof(Shift) == 32);

/// The order in which a node goes through the peers of a loop over peers.
enum class PeerOrder : std::uint8_t {
  kFixed = 0,  // shift by shift, the first axis fastest, so that no two nodes send to one at once
  kShuffled = 1,  // drawn for each rank and operation, the same in every run
};

inline constexpr std::uint32_t kMaxWindow = 0xffff;  // of a loop over peers

/// A loop over peers, at shifts along every axis from `first` on: one operation stands for a
/// message to, or from, each of these peers except the node itself. A send goes to the node at the
/// shift; a receive is from the node as far the other way. On an axis that does not wrap shifts are
/// cyclic too: the peer is the node at that coordinate.
struct PeerLoop {
  Coordinates first{};
  std::array<std::uint32_t, kMaxAxes> count{};  // shifts along an axis; 0 on other axes
  PeerOrder order = PeerOrder::kFixed;
  std::uint8_t reserved = 0;
  std::uint16_t window = 0;  // messages that a node sends at a time; 0: all

  /// Whether the shift 0, to the node itself, is among the others.
  bool holdsOrigin() const {
    for (std::size_t axis = 0; axis < kMaxAxes; ++axis) {
      if (first[axis] > 0 || first[axis] + static_cast<std::int64_t>(count[axis]) <= 0) {
        if (count[axis] > 0) return false;
      }
    }
    return true;
  }
  /// Number of peers.
  std::uint64_t size() const {
    std::uint64_t shifts = 1;
    for (std::uint32_t along : count)
      shifts *= along > 0 ? along : 1;
    return shifts - (holdsOrigin() ? 1 : 0);
  }
  /// Whether the loop has shifts along an axis.
  bool moves(std::uint32_t axis) const { return count[axis] != 1 || first[axis] != 0; }
  bool operator==(const PeerLoop&) const = default;
};
static_assert(sizeof(PeerLoop) == 68);
/// The shifts of `peers`, without that to the node itself: the first axis fastest or, where they
/// are shuffled, in an order drawn from `rank` and `operation`, the same in every run and on every
/// machine.
std::vector<Shift> shiftsOf(const PeerLoop& peers, std::int32_t rank, std::uint32_t operation);

/// `for i in 0..count-1 { operations begin..end-1 }`
struct Loop {
  std::uint32_t begin = 0, end = 0;  // operations
  std::uint32_t count = 1;           // iterations

  bool operator==(const Loop&) const = default;
};
static_assert(sizeof(Loop) == 12);

/// Reference of an iteration number.
enum class IterationOrigin : std::uint8_t {
  kOwn = 0,    // from the iteration of the waiting operation, in its loop of the same depth
  kFirst = 1,  // from the first iteration
  kLast = 2,   // from the last iteration
  kAll = 3,    // all; the offset is 0
  kBack = 4,   // from the last one back by the waiting operation's number
};

/// Iterations of the loops around an operation, the outermost first, `segments` segments before.
/// Iterations outside a loop do not exist: nothing waits for them.
struct Iterations {
  std::uint16_t depth = 0;     // number of loops; entries behind it are 0
  std::uint16_t segments = 0;  // up to kMaxSegmentsBefore
  std::array<IterationOrigin, kMaxLoopDepth> origin{};
  std::array<std::int32_t, kMaxLoopDepth> offset{};  // to be added

  bool operator==(const Iterations&) const = default;
};
static_assert(sizeof(Iterations) == 24);

/// A value in scratch: the blocks of `box` of `part`, or those of a list of pieces one after the
/// other, packed in the color's axis order, held in a slot. Frames in one slot use its memory one
/// at a time. The iterations of the innermost loop around its users take the copies of a frame in
/// rotation. The copies take the slots of a group, which begins at a multiple of `copies`,
/// cyclically from the frame's slot on.
struct Frame {
  std::uint32_t part = 0;     // 0 if there are pieces
  std::uint32_t box = kNone;  // index of a box, or of the first piece
  std::uint32_t slot = 0;     // in the first iteration
  std::uint16_t pieces = 0;   // as in a region
  std::uint16_t copies = 1;   // 1 outside of loops

  /// The first slot of its group.
  std::uint32_t group() const { return slot - slot % copies; }
  /// The slot of an iteration's copy.
  std::uint32_t slotOf(std::uint32_t iteration) const {
    return group() + (slot % copies + iteration % copies) % copies;
  }

  bool operator==(const Frame&) const = default;
};
static_assert(sizeof(Frame) == 16);

enum class PeerKind : std::uint8_t { kShift = 0, kLoop = 1 };

struct Operation {
  OperationKind kind = OperationKind::kSend;
  PeerKind peer_kind = PeerKind::kShift;
  std::uint16_t phase = 0;
  std::uint32_t stream = 0;
  std::uint32_t peer = kNone;          // index of a shift or a loop over peers, for messages
  std::uint32_t guard = kNone;         // index of a box; kNone: every node executes
  Region dst{};                        // written
  Region a{};                          // read
  Region b{};                          // read (reduce); scratch that receives (recv_reduce)
  std::uint32_t first_dependence = 0;  // into the table of dependences
  std::uint32_t dependence_count = 0;

  bool hasPeerLoop() const { return peer_kind == PeerKind::kLoop; }
  bool operator==(const Operation&) const = default;
};
static_assert(sizeof(Operation) == 72);

/// Whether an operation is the sending or receiving end of a message.
inline bool sends(OperationKind kind) {
  return kind == OperationKind::kSend || kind == OperationKind::kNotify;
}
inline bool receives(OperationKind kind) {
  return kind == OperationKind::kRecv || kind == OperationKind::kRecvReduce ||
         kind == OperationKind::kAwait;
}
/// Whether that message is a signal: it has no data, and is sent for every count.
inline bool isSignal(OperationKind kind) {
  return kind == OperationKind::kNotify || kind == OperationKind::kAwait;
}
/// The regions of operations of a kind.
struct KindRegions {
  bool dst, a, b;
};
inline const KindRegions& regionsOf(OperationKind kind) {
  static constexpr KindRegions kRows[kOperationKindCount] = {
      {false, true, false},   // send a
      {true, false, false},   // recv dst
      {true, true, true},     // recv_reduce dst = a + (received into b)
      {true, true, true},     // reduce dst = a + b
      {true, true, false},    // copy dst = a
      {false, false, false},  // notify
      {false, false, false},  // await
  };
  return kRows[static_cast<int>(kind)];
}

std::string_view name(OperationKind kind);
std::string_view name(Buffer buffer);

/// Properties of a whole schedule: promises by passes, checked by the verifier, and the mode of
/// sending.
enum ScheduleFlags : std::uint32_t {
  kConflictFreePhases = 1u << 0,  // promise: in a phase no two colors use the same directed link
  /// A send that other operations wait for is complete when its message is received, not when it is
  /// buffered (MPI_Issend). So later messages do not share the link with it.
  kSynchronousSends = 1u << 1,
  /// Promise: sums are of contributions in the order of ranks, all of `a` before all of `b`, so
  /// that an operation that does not commute may combine them.
  kOrderedSums = 1u << 2,
  /// A message over a dead link, or to, from or through a dead node, does not exist: neither end
  /// executes it (schedules/broken_messages.h). Without this flag it is a fault.
  kDropsBroken = 1u << 3,
};
inline constexpr std::uint32_t kAllScheduleFlags =
    kConflictFreePhases | kSynchronousSends | kOrderedSums | kDropsBroken;

/// Color, direction and chunk of a part.
struct PartIndex {
  std::uint32_t color = 0;
  std::uint32_t direction = 0;
  std::uint32_t chunk = 0;

  bool operator==(const PartIndex&) const = default;
};

/// The pieces of a region or a frame, also of one that has no list.
class PieceList {
 public:
  PieceList() : size_(0) {}
  explicit PieceList(const Piece& single) : single_(single), size_(1) {}
  explicit PieceList(std::span<const Piece> list) : list_(list), size_(list.size()) {}

  const Piece* begin() const { return list_.empty() ? &single_ : list_.data(); }
  const Piece* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }
  const Piece& operator[](std::size_t index) const { return begin()[index]; }

 private:
  Piece single_;
  std::span<const Piece> list_;  // empty: a single piece, or none
  std::size_t size_;
};

/// The contents of a schedule, in tables of kind `Table`.
template <typename Text, template <typename Record> typename Table>
struct ScheduleContents {
  Collective collective = Collective::kAllreduce;
  std::uint32_t flags = 0;
  Topology topology{};
  Table<GraphLink> links{};  // links of a graph; empty: those of the torus
  Text name{};               // the @name of the text form
  Text producer{};           // version and pipeline that made it
  Table<Color> colors{};
  Table<Stream> streams{};
  Table<Box> boxes{};
  Table<BoxPair> pairs{};
  Table<Piece> pieces{};
  Table<Shift> shifts{};
  Table<PeerLoop> peer_loops{};
  Table<Frame> frames{};
  std::uint32_t slot_count = 0;
  std::uint32_t segments = 1;  // runs of the program, one for each
  std::uint32_t window = 1;    // copies of every slot, used by segments in rotation
  Table<Loop> loops{};         // by begin, outer ones first
  Table<Iterations> iterations{};
  Table<Operation> operations{};
  Table<std::uint32_t> dependences{};
};
template <typename Record>
using TableElsewhere = std::span<const Record>;
template <typename Record>
using OwnTable = std::vector<Record>;

/// A schedule with references to tables elsewhere.
struct ScheduleView : ScheduleContents<std::string_view, TableElsewhere> {
  /// Whether messages go over the links of a graph, and not over those of the torus.
  bool isOnGraph() const { return !links.empty(); }
  bool hasPairs() const { return rowOf(collective).blocks == BlockSpace::kPair; }
  /// Whether blocks of pairs go straight from source to destination, as there are no frames to
  /// forward them. For unequal counts such a schedule can be expanded from a rank's own counts;
  /// others need the counts of passing blocks (Counts::passing).
  bool isDirect() const { return rowOf(collective).blocks != BlockSpace::kNode && frames.empty(); }
  BlockAxes blockAxes() const { return {topology, rowOf(collective).blocks}; }
  /// Blocks of nodes that make a whole vector; blocks owned by dead nodes do not count. Of
  /// neighbours the vector is the data that one node sends: one block, of all parts.
  std::uint64_t vectorBlocks() const;
  /// The interval of box number `box` of a piece, on a block axis.
  const Interval& blockInterval(std::uint32_t box, std::uint32_t block_axis) const {
    if (!hasPairs()) return boxes[box][block_axis];
    const BoxPair& pair = pairs[box];
    return block_axis < topology.axis_count
               ? boxes[pair.source][block_axis]
               : boxes[pair.destination][block_axis - topology.axis_count];
  }
  /// The blocks of box number `box` of a piece for the node at `at` with the peer at `peer`.
  BlockRanges blocksOf(std::uint32_t box, const Coordinates& at, const Coordinates& peer) const;
  BlockRanges blocksOf(std::uint32_t box, const Coordinates& at) const {
    return blocksOf(box, at, at);
  }

  /// Whether every sum is over the whole vector, or over whole blocks if blocks have owners
  /// (block-major). MPI's own algorithms pass no smaller pieces to an operation.
  bool sumsWhole() const;

  std::uint32_t partCount() const;
  PartIndex partIndex(std::uint32_t part) const;
  std::span<const std::uint32_t> dependencesOf(const Operation& operation) const {
    return dependences.subspan(operation.first_dependence, operation.dependence_count);
  }
  /// The box of a guard: of kNone, all nodes.
  const Box& guardBox(std::uint32_t guard) const {
    static constexpr Box kEveryNode{};
    return guard == kNone ? kEveryNode : boxes[guard];
  }
  /// The coordinates of the nodes that execute an operation with this guard, if it is absolute.
  Ranges guardRanges(std::uint32_t guard) const { return resolve(guardBox(guard), topology, {}); }
  /// Distance of a dependence in segments.
  std::uint32_t segmentsBefore(std::uint32_t dependence) const {
    const std::uint32_t record = iterationsOf(dependence);
    return record == 0 ? 0 : iterations[record - 1].segments;
  }
  /// Of a region or a frame; empty for an absent region.
  template <typename Blocks>
  PieceList piecesOf(const Blocks& blocks) const {
    if constexpr (std::is_same_v<Blocks, Region>) {
      if (!blocks.present()) return {};
    }
    if (blocks.pieces == 0) return PieceList(Piece{blocks.part, 1, blocks.box});
    return PieceList(pieces.subspan(blocks.box, blocks.pieces));
  }
};

/// A region of one box of one part.
inline Region boxRegion(Buffer buffer, std::uint32_t part, std::uint32_t box,
                        std::uint32_t frame = kNone) {
  return {.buffer = buffer, .part = part, .box = box, .frame = frame};
}
/// All of frame number `index`.
inline Region wholeFrame(const Frame& frame, std::uint32_t index) {
  return {.buffer = Buffer::kScratch,
          .pieces = frame.pieces,
          .part = frame.part,
          .box = frame.box,
          .frame = index};
}

/// A schedule that owns its tables.
struct Schedule : ScheduleContents<std::string, OwnTable> {
  /// The dependence on these iterations of an operation, stored if they are new.
  std::uint32_t dependence(std::uint32_t operation, const Iterations& on);

  /// Refers to this object's tables: valid until they are moved or changed.
  ScheduleView view() const;
};

/// The header of `schedule` (collective, flags, topology, name, producer, segments, window,
/// colors), with empty tables.
Schedule headerOf(const ScheduleView& schedule);

/// Whether two schedules are the same, field by field.
bool operator==(const ScheduleView& a, const ScheduleView& b);

}  // namespace torc

#endif  // TORC_SCHEDULES_SCHEDULE_H_
