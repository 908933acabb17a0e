// Collectives: one row of facts for each, read by all other code. A new collective is a row here,
// an algorithm, and a function in each interface that has one per collective
// (docs/developers/adding.md lists them).
#ifndef TORC_SCHEDULES_COLLECTIVE_H_
#define TORC_SCHEDULES_COLLECTIVE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace torc {

/// Number of a row, stored in files.
enum class Collective : std::uint8_t {
  kAllreduce = 0,
  kReduceScatter = 1,
  kAllgather = 2,
  kBroadcast = 3,
  kAlltoall = 4,
  kReduce = 5,
  kScatter = 6,
  kGather = 7,
  kScan = 8,
  kExscan = 9,
  kNeighborAllgather = 10,
  kNeighborAlltoall = 11,
};
inline constexpr int kCollectiveCount = 12;

/// Index of the blocks of a vector.
enum class BlockSpace : std::uint8_t {
  kNode = 0,  // owner
  kPair = 1,  // source and destination
  kNone = 2,  // no blocks: no data moves
  // Owner, and neighbour that the part comes from: a part is the data that travels one way along
  // one axis (schedules/neighbours.h).
  kNeighbour = 3,
};

/// Contents of a buffer of one rank.
enum class Holds : std::uint8_t {
  kNothing = 0,
  kOwn = 1,    // the rank's own block; of pairs, the sent (`in`) or received (`out`) blocks
  kWhole = 2,  // every block
  // Of neighbours: one block for each, in MPI's order. (kOwn: one block for all.)
  kEachNeighbour = 3,
};

/// Elements of the result.
enum class Result : std::uint8_t {
  kMoved = 0,  // elements of one rank, unchanged
  kSum = 1,    // elements of all ranks, combined by an operation
  // Prefixes: each rank gets a sum of its own.
  kSumUpToOwn = 2,    // sum over the ranks up to the rank itself
  kSumBeforeOwn = 3,  // sum over the ranks before it; the first rank's `out` is left alone
};

/// Order of the elements of a block in `in` and `out`.
enum class Layout : std::uint8_t {
  kPartMajor = 0,   // parts first, then blocks in the color's axis order: messages are contiguous
  kBlockMajor = 1,  // each rank's block has the place that MPI gives it, with its parts inside
};

/// Meaning of a call's count.
enum class CountOf : std::uint8_t {
  kVector = 0,  // elements of the whole vector
  kBlock = 1,   // elements of every block, or one count per rank
};

/// Meaning of MPI_IN_PLACE.
enum class InPlace : std::uint8_t {
  kVector = 0,    // `out` holds the whole of `in`: in[b] and out[b] are the same memory
  kOwnBlock = 1,  // the own block of `in` is at its place in `out`
  kStart = 2,    // `out` holds the whole of `in`; the own block of the result goes to its beginning
  kSwapped = 3,  // the block to a rank and the block from it have one place: schedules take a copy
  kOwnResult = 4,  // the own block of `out` is at its place in `in`
  kNothing = 5,    // not defined by MPI
};

/// The facts of one collective.
struct CollectiveRow {
  std::string_view name{};  // on the command line, in text, JSON, settings and statistics
  BlockSpace blocks = BlockSpace::kNode;
  Holds in = Holds::kWhole;  // at the root, if there is one
  Holds in_elsewhere = in;   // on the other ranks
  Holds out = Holds::kWhole;
  Holds out_elsewhere = out;
  Result result = Result::kMoved;
  Layout layout = Layout::kPartMajor;
  CountOf counts = layout == Layout::kPartMajor ? CountOf::kVector : CountOf::kBlock;
  InPlace in_place = InPlace::kVector;
  /// The rootless form: the collective whose schedules serve this one if it has none of its own
  /// (allreduce for reduce).
  std::optional<Collective> rootless{};
  /// The collective that serves this one for operations that do not commute, if its own schedules
  /// do not combine in the order of ranks. All its ranks get the whole result.
  std::optional<Collective> ordered{};
  std::array<std::string_view, 3> mpi{};  // MPI functions served by it, "" if there is none

  /// Whether schedules of `other` serve calls of this one if it has none of its own.
  bool mayBeServedBy(Collective other) const { return other == rootless || other == ordered; }
  /// Whether calls of MPI functions are intercepted.
  bool isIntercepted() const { return !mpi[0].empty(); }
  /// Whether a call has a separate count and datatype for the own block: in `out` if `in` is whole,
  /// else in `in`.
  bool describesOwn() const {
    return result == Result::kMoved && (in != out || blocks != BlockSpace::kNode);
  }
  bool describesOwnOut() const { return describesOwn() && inWhole(); }
  bool inWhole() const { return in == Holds::kWhole; }
  bool outWhole() const { return out == Holds::kWhole; }
  /// Whether one rank has a part of its own, named by a call.
  bool isRooted() const { return in != in_elsewhere || out != out_elsewhere; }
  Holds inAt(bool at_root) const { return at_root ? in : in_elsewhere; }
  Holds outAt(bool at_root) const { return at_root ? out : out_elsewhere; }
  bool reduces() const { return result != Result::kMoved; }
  /// Whether each rank's result is a sum over the ranks before it: results depend on the order of
  /// ranks.
  bool isPrefix() const { return result == Result::kSumUpToOwn || result == Result::kSumBeforeOwn; }
  /// Whether the rank itself contributes to its result.
  bool includesOwn() const { return result != Result::kSumBeforeOwn; }
  /// Whether MPI_IN_PLACE makes in[b] and out[b] the same memory.
  bool inPlaceAliases() const { return in_place == InPlace::kVector || inPlaceSharesBlock(); }
  /// Whether MPI_IN_PLACE makes the own block, the only one in its buffer, a part of the other
  /// buffer.
  bool inPlaceSharesBlock() const {
    return in_place == InPlace::kOwnBlock || in_place == InPlace::kOwnResult;
  }
  /// Whether a schedule can serve a call with MPI_IN_PLACE without a copy.
  bool servesInPlace() const { return in_place != InPlace::kSwapped; }
  bool isOfNeighbours() const { return blocks == BlockSpace::kNeighbour; }
  /// Whether a rank may pass MPI_IN_PLACE: it must have the buffer that holds the other's data.
  bool mayBeInPlace(bool at_root) const {
    return in_place != InPlace::kNothing &&
           (in_place == InPlace::kOwnResult ? inAt(at_root) : outAt(at_root)) != Holds::kNothing;
  }
  /// Blocks that a call's count stands for, on `ranks` ranks of a grid of `dimensions` dimensions
  /// (used for neighbours only).
  std::uint64_t countedBlocks(std::uint64_t ranks, std::uint64_t dimensions = 0) const {
    return counts == CountOf::kVector ? 1 : isOfNeighbours() ? 2 * dimensions : ranks;
  }
};

/// The row of `collective`, which must be valid.
const CollectiveRow& rowOf(Collective collective);

/// All rows, by number.
std::span<const CollectiveRow> collectiveRows();

/// The collective with that name in torc or MPI (MPI_Bcast): any case, with or without `MPI_`,
/// hyphens and underscores.
std::optional<Collective> collectiveNamed(std::string_view name);

/// The names of all collectives: "a, b and c" with `last` = " and ".
std::string collectiveNames(std::string_view last, std::string_view between = ", ");

}  // namespace torc

#endif  // TORC_SCHEDULES_COLLECTIVE_H_
