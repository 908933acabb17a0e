// Collectives: one row of facts each, which everything else reads. A new collective is a row here,
// an algorithm that serves it, and a function of each interface that has one per collective
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

/// Number of a row; stands in files.
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

/// What the blocks of a vector are indexed by.
enum class BlockSpace : std::uint8_t {
  kNode = 0,  // their owner
  kPair = 1,  // their source and their destination
  kNone = 2,  // there are none: no data moves
  // Their owner, who gets a part of them from each of its neighbours: a part is what travels one
  // way along one axis (schedules/neighbours.h).
  kNeighbour = 3,
};

/// What a buffer of one rank holds.
enum class Holds : std::uint8_t {
  kNothing = 0,
  kOwn = 1,    // the rank's own block; of pairs, `in` those that it sends, `out` those it receives
  kWhole = 2,  // every block
  // Of neighbours: one block for each, in MPI's order. (kOwn: one block for all.)
  kEachNeighbour = 3,
};

/// What the result's elements are.
enum class Result : std::uint8_t {
  kMoved = 0,  // those of one rank, unchanged
  kSum = 1,    // those of all ranks, combined by an operation
  // Prefixes: what each rank gets is a sum of its own.
  kSumUpToOwn = 2,    // those of the ranks up to the rank itself
  kSumBeforeOwn = 3,  // those of the ranks before it; the first rank's `out` is left alone
};

/// Where the elements of a block lie in `in` and `out`.
enum class Layout : std::uint8_t {
  kPartMajor = 0,   // parts first, then blocks in the color's axis order: messages are contiguous
  kBlockMajor = 1,  // each rank's block lies where MPI puts it, its parts inside it
};

/// What a call's count counts.
enum class CountOf : std::uint8_t {
  kVector = 0,  // elements of the whole vector
  kBlock = 1,   // elements of every block, or of each: one count per rank
};

/// What MPI_IN_PLACE means.
enum class InPlace : std::uint8_t {
  kVector = 0,    // `out` holds the whole of `in`: in[b] and out[b] are the same memory
  kOwnBlock = 1,  // the own block of `in` lies at its place in `out`
  kStart = 2,    // `out` holds the whole of `in`; the own block of the result goes to its beginning
  kSwapped = 3,  // the block to a rank lies where the one from it goes: schedules take a copy
  kOwnResult = 4,  // the own block of `out` lies at its place in `in`
  kNothing = 5,    // nothing: MPI does not have it
};

/// The facts of one collective.
struct CollectiveRow {
  std::string_view name{};  // on the command line, in text, JSON, settings and statistics
  BlockSpace blocks = BlockSpace::kNode;
  Holds in = Holds::kWhole;            // at the root, where there is one
  Holds in_elsewhere = Holds::kWhole;  // the same where there is none
  Holds out = Holds::kWhole;
  Holds out_elsewhere = Holds::kWhole;
  Result result = Result::kMoved;
  Layout layout = Layout::kPartMajor;
  CountOf counts = CountOf::kVector;
  InPlace in_place = InPlace::kVector;
  /// The collective that does for all ranks, or with all, what this one does for its root, or from
  /// it: schedules of that serve this one where it has none of its own.
  std::optional<Collective> rootless{};
  /// The collective whose schedules combine contributions in the order of ranks for this one, where
  /// an operation does not commute and its own do not: one that gives all ranks the whole result.
  std::optional<Collective> ordered{};
  std::array<std::string_view, 3> mpi{};  // functions of MPI that it serves, "" where there is none

  /// Whether schedules of `other` serve calls of this one where it has none of its own.
  bool mayBeServedBy(Collective other) const { return other == rootless || other == ordered; }
  /// Whether calls of MPI are served.
  bool isIntercepted() const { return !mpi[0].empty(); }
  /// Whether a call has a count and a datatype for the own block apart from those for all blocks:
  /// one of `out` where `in` is whole, else of `in`.
  bool describesOwn() const {
    return result == Result::kMoved && (in != out || blocks != BlockSpace::kNode);
  }
  bool describesOwnOut() const { return describesOwn() && inWhole(); }
  bool inWhole() const { return in == Holds::kWhole; }
  bool outWhole() const { return out == Holds::kWhole; }
  /// Whether one rank has a part of its own, which a call names.
  bool isRooted() const { return in != in_elsewhere || out != out_elsewhere; }
  Holds inAt(bool at_root) const { return at_root ? in : in_elsewhere; }
  Holds outAt(bool at_root) const { return at_root ? out : out_elsewhere; }
  bool reduces() const { return result != Result::kMoved; }
  /// Whether what a rank gets is the sum of those before it: results depend on the order of ranks.
  bool isPrefix() const { return result == Result::kSumUpToOwn || result == Result::kSumBeforeOwn; }
  /// Whether the rank itself contributes to its result.
  bool includesOwn() const { return result != Result::kSumBeforeOwn; }
  /// Whether MPI_IN_PLACE makes in[b] and out[b] the same memory.
  bool inPlaceAliases() const { return in_place == InPlace::kVector || inPlaceSharesBlock(); }
  /// Whether it makes the own block, which one buffer holds alone, a part of the other buffer.
  bool inPlaceSharesBlock() const {
    return in_place == InPlace::kOwnBlock || in_place == InPlace::kOwnResult;
  }
  /// Whether a schedule can serve a call with MPI_IN_PLACE as it stands.
  bool servesInPlace() const { return in_place != InPlace::kSwapped; }
  bool isOfNeighbours() const { return blocks == BlockSpace::kNeighbour; }
  /// Whether a rank may say it: one that has the buffer in which the other's data lie.
  bool mayBeInPlace(bool at_root) const {
    return in_place != InPlace::kNothing &&
           (in_place == InPlace::kOwnResult ? inAt(at_root) : outAt(at_root)) != Holds::kNothing;
  }
  /// Blocks that a call's count stands for, on `ranks` ranks of a grid of so many dimensions, which
  /// only neighbours ask for.
  std::uint64_t countedBlocks(std::uint64_t ranks, std::uint64_t dimensions = 0) const {
    return counts == CountOf::kVector ? 1 : isOfNeighbours() ? 2 * dimensions : ranks;
  }
};

/// The row of `collective`, which is valid.
const CollectiveRow& rowOf(Collective collective);

/// All rows, by number.
std::span<const CollectiveRow> collectiveRows();

/// The collective of that name, ours or MPI's (MPI_Bcast): small or large letters, with or without
/// `MPI_`, hyphens and underscores.
std::optional<Collective> collectiveNamed(std::string_view name);

/// The names of all collectives: "a, b and c" with `last` = " and ".
std::string collectiveNames(std::string_view last, std::string_view between = ", ");

}  // namespace torc

#endif  // TORC_SCHEDULES_COLLECTIVE_H_
