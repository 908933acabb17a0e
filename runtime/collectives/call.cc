// Call: the check of a collective's arguments.
#include "runtime/collectives/call.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "runtime/collectives/check_pairs.h"
#include "runtime/transport/which_mpi.h"
#include "schedules/library/index.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

// Of a vector that all ranks get whole where each needs a block of it: where start-ups are most of
// the time.
constexpr std::uint64_t kMostBytesOfMore = 64 << 10;

/// The check of one call, rule by rule. A rule that is broken gives the error.
class Check {
 public:
  Check(const CallArguments& arguments, const CollectiveRow& row, int rank, int ranks, Call& call)
      : arguments_(arguments),
        row_(row),
        rank_(rank),
        ranks_(ranks),
        mpi_(arguments.rules == CallRules::kMpi),
        by_rank_(arguments.has_counts && row.counts == CountOf::kBlock),
        call_(call) {}

  Status run() {
    begin();
    if (arguments_.hasPairLists()) return checkPairs(arguments_, rank_, ranks_, call_);
    Status status = checkRoot();
    if (status.ok()) status = checkCounts();
    if (status.ok()) status = checkType();
    if (status.ok()) status = checkDisplacements();
    if (status.ok()) status = checkOwnType();
    if (!status.ok()) return status;
    if (call_.in_place) status = checkInPlace();
    if (!status.ok()) return status;
    measure();
    if (status = checkBuffers(); !status.ok()) return status;
    if (own_block_differs_) return ownBlockDiffers();
    if (status = checkReduction(); !status.ok()) return status;
    return checkOverlap();
  }

 private:
  Status fault(CallFault kind, StatusCode code, std::string text) {
    call_.fault = kind;
    return {code, std::move(text)};
  }
  Status wrong(std::string text) {
    return fault(CallFault::kArgument, StatusCode::kInvalidArgument, std::move(text));
  }
  Status tooLong(std::string text) {
    return fault(CallFault::kOverflow, StatusCode::kOverflow, std::move(text));
  }

  Status checkInPlace() {
    if (!row_.servesInPlace()) {
      // Under MPI's rules the copy of a contribution is there already (Packing).
      if (mpi_) return {};
      return fault(CallFault::kArgument, StatusCode::kUnsupported,
                   message("in is MPI_IN_PLACE, which no schedule of ", row_.name, " serves"));
    }
    if (row_.mayBeInPlace(isRoot())) return {};
    return wrong(message(row_.describesOwnOut() ? "out" : "in", " is MPI_IN_PLACE, of a ",
                         row_.name, " at the root alone"));
  }
  bool isRoot() const { return rank_ == call_.root; }

  void begin() {
    call_.fault = CallFault::kNone;
    call_.collective = arguments_.collective;
    call_.in_place = (row_.describesOwnOut() ? arguments_.out : arguments_.in) == MPI_IN_PLACE;
    call_.keep_type = mpi_ ? Keep::kOriginal : Keep::kDuplicate;
    call_.packs_in = call_.unpacks_out = false;
    call_.keeps_whole = false;
    call_.root = 0;
    call_.reduction = {};
    call_.in = arguments_.in;
    call_.out = arguments_.out;
    call_.whole_is_in = row_.describesOwnOut();
    // Nothing is written there.
    if (call_.in_place && call_.whole_is_in) call_.out = const_cast<void*>(arguments_.in);
    call_.per_rank.clear();
    call_.displacements.clear();
    call_.in_per_rank.clear();
    call_.in_displacements.clear();
    call_.lowest_displacement = call_.in_displaced = call_.out_displaced = 0;
    call_.bytes = 0;
  }

  Status checkRoot() {
    if (!row_.isRooted()) return {};
    if (arguments_.root < 0 || arguments_.root >= ranks_) {
      return wrong(message("root is ", arguments_.root, ", of ", ranks_, " ranks"));
    }
    call_.root = arguments_.root;
    return {};
  }

  Status checkCounts() {
    if (!by_rank_) {
      if (arguments_.count < 0) return wrong(message("count is ", arguments_.count));
      block_ = static_cast<std::uint64_t>(arguments_.count);
      const std::uint64_t blocks = row_.countedBlocks(static_cast<std::uint64_t>(ranks_));
      if (__builtin_mul_overflow(block_, blocks, &all_))
        return tooLong(message(block_, " elements of each rank exceed the address space"));
      span_ = all_;
      own_ = row_.blocks == BlockSpace::kPair ? all_ : block_;
      return {};
    }
    if (arguments_.counts.isNull()) return wrong("counts is NULL");
    for (int r = 0; r < ranks_; ++r) {
      const std::int64_t count = arguments_.counts[r];
      if (count < 0) return wrong(message("counts[", r, "] is ", count));
      if (__builtin_add_overflow(all_, static_cast<std::uint64_t>(count), &all_)) {
        return tooLong("the counts together exceed the address space");
      }
      if (r == rank_) block_ = own_ = static_cast<std::uint64_t>(count);
    }
    span_ = all_;
    return {};
  }

  Status checkType() {
    if (Status status = lookAtType(arguments_.type, element_); !status.ok()) {
      call_.fault = CallFault::kArgument;
      return status;
    }
    if (__builtin_mul_overflow(all_, element_.size, &call_.bytes) || call_.bytes > kMost) {
      call_.bytes = 0;
      return exceedsMemory(all_, element_.size);
    }
    moves_bytes_ = mpi_ && !row_.reduces();
    copies_whole_ = moves_bytes_ && !element_.isBytesInRow();
    // Elements without data: nothing moves.
    call_.scale = moves_bytes_ ? element_.size : element_.bytes > 0 ? 1 : 0;
    return {};
  }
  Status exceedsMemory(std::uint64_t elements, std::size_t element_bytes) {
    return tooLong(message("a vector of ", elements, " elements of ", element_bytes,
                           " bytes exceeds the address space"));
  }

  /// MPI's displacements may be negative and in any order; a call's count from the lowest one in
  /// use.
  Status checkDisplacements() {
    if (!arguments_.has_displacements) return {};
    const NumberList& displacements = arguments_.displacements;
    if (displacements.isNull()) return wrong("displacements is NULL");
    if (copies_whole_) return {};  // the copy's blocks follow one another
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    std::int64_t highest = std::numeric_limits<std::int64_t>::min();
    for (int r = 0; r < ranks_; ++r) {
      if (arguments_.counts[r] == 0) continue;
      lowest = std::min(lowest, displacements[r]);
      highest = std::max(highest, displacements[r]);
    }
    if (lowest > highest) return {};  // all blocks are empty
    std::int64_t apart = 0;
    if (__builtin_sub_overflow(highest, lowest, &apart)) {
      return tooLong(message("displacements span from ", lowest, " to ", highest));
    }
    call_.lowest_displacement = lowest;
    span_ = 0;
    for (int r = 0; r < ranks_; ++r) {
      const auto count = static_cast<std::uint64_t>(arguments_.counts[r]);
      if (count == 0) continue;
      span_ = std::max(span_, static_cast<std::uint64_t>(displacements[r] - lowest) + count);
    }
    return {};
  }

  /// What the caller says of its own block.
  Status checkOwnType() {
    if (!row_.describesOwn() || !arguments_.has_buffers || call_.in_place) return {};
    if (arguments_.own_count < 0) {
      return wrong(message(ownBuffer(), "_count is ", arguments_.own_count));
    }
    if (Status status = lookAtType(arguments_.own_type, own_element_); !status.ok()) {
      call_.fault = CallFault::kArgument;
      return status.annotated(message(ownBuffer(), "_type"));
    }
    const auto have = static_cast<unsigned __int128>(arguments_.own_count) * bytesOf(own_element_);
    const bool has_gaps = !own_element_.gapless || !element_.gapless;
    if (!mpi_ && has_gaps) return {};  // which torc.h's rules do not serve
    own_block_differs_ = have != static_cast<unsigned __int128>(block_) * bytesOf(element_);
    return {};
  }
  std::size_t bytesOf(const ElementType& element) const {
    return mpi_ ? element.size : element.bytes;
  }
  Status ownBlockDiffers() {
    return fault(CallFault::kOwnBlock, StatusCode::kMismatch,
                 message("the own block is ", arguments_.own_count, " of ", own_element_.name(),
                         " in `", ownBuffer(), "`, but ", block_, " of ", element_.name(), " in `",
                         row_.describesOwnOut() ? "in" : "out", "`"));
  }
  /// The buffer that holds the own block alone.
  std::string_view ownBuffer() const { return row_.describesOwnOut() ? "out" : "in"; }
  /// Elements of the program in `in`, and in `out`.
  const ElementType& inElement() const {
    return row_.describesOwn() && !row_.describesOwnOut() ? own_element_ : element_;
  }
  const ElementType& outElement() const { return row_.describesOwnOut() ? own_element_ : element_; }

  /// Elements in the buffers, those of the arguments.
  std::uint64_t held(Holds holds, std::uint64_t whole) const {
    return holds == Holds::kWhole ? whole : holds == Holds::kOwn ? own_ : 0;
  }
  /// What of the call follows from what has been found so far.
  void measure() {
    in_ = held(row_.inAt(isRoot()), row_.describesOwnOut() ? span_ : all_);
    const bool is_left_alone = !row_.includesOwn() && rank_ == 0;
    out_ = is_left_alone ? 0 : held(row_.outAt(isRoot()), span_);
    call_.type = element_;
    if (moves_bytes_) static_cast<void>(lookAtType(MPI_BYTE, call_.type));
    call_.count = by_rank_ ? 0 : block_ * call_.scale;
    call_.elements = {in_ * call_.scale, out_ * call_.scale};
    const std::int64_t displaced =
        call_.lowest_displacement * static_cast<std::int64_t>(call_.scale * call_.type.bytes);
    call_.in_displaced = call_.whole_is_in ? displaced : 0;
    call_.out_displaced = call_.whole_is_in && !call_.in_place ? 0 : displaced;
    if (moves_bytes_) findCopies();
    if (call_.in_place && row_.inPlaceSharesBlock()) {
      call_.elements.in = call_.elements.out = std::max(call_.elements.in, call_.elements.out);
    }
  }
  void findCopies() {
    if (!row_.describesOwn()) {
      call_.packs_in = call_.unpacks_out = copies_whole_;
    } else if (call_.in_place && !row_.servesInPlace()) {
      // What is in `out` is copied, and that is the contribution.
      call_.packs_in = in_ > 0;
      call_.unpacks_out = copies_whole_;
      call_.in_place = false;
    } else if (!call_.in_place) {
      call_.unpacks_out = out_ > 0 && !outElement().isBytesInRow();
      // MPICH lets a contribution lie within the result, and reads it before it writes.
      call_.packs_in =
          in_ > 0 && (!inElement().isBytesInRow() || (!call_.unpacks_out && buffersOverlap()));
    } else if (row_.describesOwnOut()) {
      call_.packs_in = copies_whole_;  // which has the own block too
    } else {
      // The own block of `out` becomes an `in`.
      call_.packs_in = call_.unpacks_out = copies_whole_;
      call_.in_place = !copies_whole_;
    }
  }

  Status checkBuffers() {
    const std::uint64_t longest = std::max(in_, out_);
    if (element_.size > 0 && longest > kMost / element_.size) {
      return exceedsMemory(longest, element_.size);
    }
    if (!arguments_.has_buffers) return {};
    const bool own_in_place = row_.describesOwnOut() && arguments_.out == MPI_IN_PLACE;
    const bool in_place = !row_.describesOwnOut() && arguments_.in == MPI_IN_PLACE;
    const std::uint64_t written = in_place ? longest : out_;  // in place, `out` holds both
    if (!own_in_place) {
      if (mpi_ ? written > 0 && arguments_.out == MPI_IN_PLACE : arguments_.out == MPI_IN_PLACE) {
        return wrong("out is MPI_IN_PLACE");
      }
      if (written > 0 && isMissing(arguments_.out, outElement())) return wrong("out is NULL");
    }
    if (in_place || in_ == 0) return {};
    if (arguments_.in == MPI_IN_PLACE) return wrong("in is MPI_IN_PLACE");
    if (isMissing(arguments_.in, inElement())) return wrong("in is NULL");
    // In reductions MPICH looks also where a rank gets nothing.
    const bool looks = out_ > 0 || !row_.describesOwn();
    if (mpi_ && kRefusesAliases && !own_in_place && looks && isAliased()) {
      return wrong("in and out are the same memory");
    }
    return {};
  }
  /// With a derived type a null pointer is MPI_BOTTOM, to MPI.
  bool isMissing(const void* buffer, const ElementType& type) const {
    return buffer == nullptr && (!mpi_ || type.predefined);
  }
  /// Whether MPICH takes `in` for the same memory as what it is to be written to, and refuses that.
  /// A rank that left a call where MPI does not refuse it would be waited for
  /// (tests/runtime/pmpi/differences). An own block is sought in `out` where both are described
  /// alike, by the type's size.
  bool isAliased() const {
    if (!row_.describesOwn()) return arguments_.in == arguments_.out && arguments_.in != nullptr;
    if (arguments_.own_type != arguments_.type ||
        arguments_.own_count != static_cast<std::int64_t>(block_)) {
      return false;
    }
    if (row_.blocks == BlockSpace::kPair) return arguments_.out == arguments_.in && own_ > 0;
    const std::int64_t place =
        arguments_.has_displacements ? arguments_.displacements[rank_] : rank_ * arguments_.count;
    const void* whole = row_.describesOwnOut() ? arguments_.in : arguments_.out;
    const void* own = row_.describesOwnOut() ? arguments_.out : arguments_.in;
    return static_cast<const std::byte*>(whole) +
               place * static_cast<std::int64_t>(element_.size) ==
           own;
  }

  /// Whether the schedules that combine in the order of ranks give a rank more than the call.
  bool givesMore() const {
    return row_.ordered && rowOf(*row_.ordered).outWhole() && !row_.outWhole();
  }
  Status checkReduction() {
    if (row_.reduces() && mpi_ && arguments_.op == MPI_OP_NULL)
      return wrong("the operation is MPI_OP_NULL");
    if (!element_.gapless && !moves_bytes_) return hasGaps(element_, "");
    if (!row_.reduces()) return checkOwnGaps();
    Status status = lookAtReduction(element_, arguments_.op, call_.reduction);
    if (!status.ok()) {
      call_.fault =
          status.code() == StatusCode::kUnsupported ? CallFault::kOperation : CallFault::kArgument;
    } else if (call_.needsOrderedSums() && givesMore() && call_.bytes > kMostBytesOfMore) {
      return fault(
          CallFault::kOperation, StatusCode::kUnsupported,
          message("the operation does not commute, and schedules that combine in the order "
                  "of ranks give all of them the whole vector, of ",
                  call_.bytes, " bytes; up to ", kMostBytesOfMore, " are served so"));
    }
    return status;
  }
  Status hasGaps(const ElementType& type, const char* argument) {
    call_.fault = CallFault::kDatatype;
    const Status status = gapsIn(type);
    return *argument == '\0' ? status : status.annotated(argument);
  }
  Status checkOwnGaps() {
    if (mpi_ || own_element_.handle == MPI_DATATYPE_NULL) return {};
    if (!own_element_.gapless) {
      return hasGaps(own_element_, row_.describesOwnOut() ? "out_type" : "in_type");
    }
    if (arguments_.own_type != arguments_.type && !(own_element_.simple && element_.simple)) {
      return fault(CallFault::kDatatype, StatusCode::kUnsupported,
                   message("in_type ", inElement().name(), " and out_type ", outElement().name(),
                           " are different derived datatypes"));
    }
    return {};
  }

  /// MPI leaves overlaps that it does not refuse to the caller.
  Status checkOverlap() {
    if (mpi_ || !arguments_.has_buffers || call_.in_place || !buffersOverlap()) return {};
    return wrong("in and out overlap (MPI_IN_PLACE says that they are the same)");
  }
  /// Bytes of the caller's own: one block of `own_count` elements, or one for each rank.
  std::uintptr_t ownBytes() const {
    const auto blocks = row_.blocks == BlockSpace::kPair ? static_cast<std::uintptr_t>(ranks_) : 1;
    return blocks * static_cast<std::uintptr_t>(arguments_.own_count) * bytesOf(own_element_);
  }
  bool buffersOverlap() const {
    if (in_ == 0 || out_ == 0) return false;
    const bool own_is_out = row_.describesOwnOut(), own_is_in = row_.describesOwn() && !own_is_out;
    const auto in_begin = reinterpret_cast<std::uintptr_t>(call_.inBegin());
    const std::uintptr_t in_end = in_begin + (own_is_in ? ownBytes() : in_ * element_.bytes);
    const auto out_begin = reinterpret_cast<std::uintptr_t>(call_.outBegin());
    const std::uintptr_t out_end = out_begin + (own_is_out ? ownBytes() : out_ * element_.bytes);
    return in_begin < in_end && out_begin < out_end && in_begin < out_end && out_begin < in_end;
  }

  const CallArguments& arguments_;
  const CollectiveRow& row_;
  const int rank_, ranks_;
  const bool mpi_;      // MPI's rules
  const bool by_rank_;  // counts
  bool moves_bytes_ = false;
  bool copies_whole_ = false;  // the buffer of all blocks is packed or unpacked
  bool own_block_differs_ = false;
  // Elements of the arguments: of all blocks, of the own one, of what the rank has alone (that, or
  // the blocks of its pairs), from the first one to the end of the last; and in the buffers.
  std::uint64_t all_ = 0, block_ = 0, own_ = 0, span_ = 0, in_ = 0, out_ = 0;
  ElementType element_, own_element_;
  Call& call_;
};

}  // namespace

std::uint64_t Call::countsFingerprint() const {
  return per_rank.empty() ? count : checksumOf(std::as_bytes(std::span(per_rank)));
}

void dropIgnored(const CollectiveRow& row, int rank, CallArguments& arguments) {
  if (!row.isRooted() || rank == arguments.root) return;
  if (row.out_elsewhere == Holds::kNothing) arguments.out = nullptr;
  if (!row.describesOwn()) return;
  if (row.in_elsewhere == Holds::kNothing) arguments.in = nullptr;
  arguments.has_displacements = false;
  if (arguments.has_counts) return;
  arguments.count = arguments.own_count;
  arguments.type = arguments.own_type;
}

Status check(const CallArguments& arguments, const CollectiveRow& row, int rank, int ranks,
             Call& call) {
  if (row.isRooted() && rank != arguments.root && arguments.has_buffers) {
    CallArguments counting = arguments;
    dropIgnored(row, rank, counting);
    return Check(counting, row, rank, ranks, call).run();
  }
  return Check(arguments, row, rank, ranks, call).run();
}

Status check(const CallArguments& arguments, int rank, int ranks, Call& call) {
  return check(arguments, rowOf(arguments.collective), rank, ranks, call);
}

void takeLists(const CallArguments& arguments, int ranks, Call& call) {
  if (arguments.hasPairLists()) return takePairLists(arguments, ranks, call);
  if (!arguments.has_counts || rowOf(arguments.collective).counts != CountOf::kBlock) return;
  const auto size = static_cast<std::size_t>(ranks);
  call.per_rank.resize(size);
  for (int r = 0; r < ranks; ++r)
    call.per_rank[static_cast<std::size_t>(r)] =
        static_cast<std::uint64_t>(arguments.counts[r]) * call.scale;
  const bool copies_whole = call.whole_is_in ? call.packs_in : call.unpacks_out;
  if (!arguments.has_displacements || copies_whole) return;
  call.displacements.resize(size);
  for (int r = 0; r < ranks; ++r) {
    const bool is_used = arguments.counts[r] > 0;
    call.displacements[static_cast<std::size_t>(r)] =
        is_used
            ? static_cast<std::uint64_t>(arguments.displacements[r] - call.lowest_displacement) *
                  call.scale
            : 0;
  }
}

}  // namespace torc::runtime
