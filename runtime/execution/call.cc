// Call: checks of a collective's arguments. Every message names the function and the argument.
#include "runtime/execution/call.h"

#include <algorithm>
#include <limits>
#include <span>

#include "schedules/library/index.h"
#include "support/message.h"

namespace torc {
namespace {

Status bad(const std::string& text) {
  return {StatusCode::kInvalidArgument, text};
}

Status copyCounts(const CallArguments& arguments, int ranks, Call& call) {
  if (!arguments.has_counts) {
    if (arguments.count < 0) return bad(message("count is ", arguments.count));
    call.count = static_cast<std::uint64_t>(arguments.count);
    return {};
  }
  if (arguments.counts == nullptr) return bad("counts is NULL");
  call.count = 0;
  call.per_rank.resize(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    if (arguments.counts[r] < 0) return bad(message("counts[", r, "] is ", arguments.counts[r]));
    call.per_rank[r] = static_cast<std::uint64_t>(arguments.counts[r]);
  }
  return {};
}

/// MPI's displacements may be negative and in any order; ours count from the lowest one in use.
Status copyDisplacements(const CallArguments& arguments, int ranks, Call& call) {
  if (arguments.displacements == nullptr) return bad("displacements is NULL");
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  for (int r = 0; r < ranks; ++r) {
    if (call.per_rank[r] == 0) continue;
    lowest = std::min(lowest, arguments.displacements[r]);
    highest = std::max(highest, arguments.displacements[r]);
  }
  if (lowest > highest) lowest = highest = 0;  // all blocks are empty
  if (lowest < 0 && highest > std::numeric_limits<std::int64_t>::max() + lowest) {
    return {StatusCode::kOverflow, message("displacements span from ", lowest, " to ", highest)};
  }
  call.first_displacement = lowest;
  call.displacements.resize(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    const bool used = call.per_rank[r] > 0;
    call.displacements[r] =
        used ? static_cast<std::uint64_t>(arguments.displacements[r] - lowest) : 0;
  }
  return {};
}

/// The caller's own block as the schedule sees it, against what the caller says of `in`.
Status checkOwnBlock(const CallArguments& arguments, const Call& call, int rank, TypeTable& types) {
  if (arguments.in_count < 0) return bad(message("in_count is ", arguments.in_count));
  StatusOr<const ElementType*> described = types.describe(arguments.in_type);
  if (!described.ok()) return described.status().annotated("in_type");
  const ElementType* in_type = *described;
  if (arguments.in_type != arguments.type && !(in_type->simple && call.type.simple)) {
    return {StatusCode::kUnsupported, message("in_type ", in_type->name, " and out_type ",
                                              call.type.name, " are different derived datatypes")};
  }
  const std::uint64_t elements = call.per_rank.empty() ? call.count : call.per_rank[rank];
  const auto have = static_cast<unsigned __int128>(arguments.in_count) * in_type->bytes;
  const auto want = static_cast<unsigned __int128>(elements) * call.type.bytes;
  if (have != want) {
    return {StatusCode::kMismatch,
            message("the own block is ", arguments.in_count, " of ", in_type->name,
                    " in `in`, but ", elements, " of ", call.type.name, " in `out`")};
  }
  return {};
}

}  // namespace

std::uint64_t Call::countsFingerprint() const {
  return per_rank.empty() ? count : checksumOf(std::as_bytes(std::span(per_rank)));
}

Call Call::bySchedule(const RankMap& map, int ranks, Layout layout) const {
  Call mapped = *this;
  if (map.isIdentity() || layout == Layout::kPartMajor) return mapped;
  std::vector<std::uint64_t> mapped_counts(static_cast<std::size_t>(ranks));
  std::vector<std::uint64_t> mapped_displacements(static_cast<std::size_t>(ranks));
  std::uint64_t before = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint64_t elements = per_rank.empty() ? count : per_rank[rank];
    const std::int32_t there = map.toSchedule(rank);
    mapped_counts[there] = elements;
    mapped_displacements[there] = displacements.empty() ? before : displacements[rank];
    before += elements;
  }
  mapped.per_rank = std::move(mapped_counts);
  mapped.displacements = std::move(mapped_displacements);
  return mapped;
}

Status checkCounts(const CallArguments& arguments, const ScheduleView& schedule, int rank,
                   TypeTable& types, Call& call) {
  if (schedule.collective != arguments.collective) {
    return {StatusCode::kMismatch,
            message("schedule ", schedule.name, " is one for ", rowOf(schedule.collective).name)};
  }
  call.per_rank.clear();
  call.displacements.clear();
  call.first_displacement = 0;
  const int ranks = static_cast<int>(schedule.topology.ranks());
  if (Status status = copyCounts(arguments, ranks, call); !status.ok()) return status;
  if (arguments.has_displacements) {
    if (Status status = copyDisplacements(arguments, ranks, call); !status.ok()) return status;
  }
  StatusOr<const ElementType*> type = types.describe(arguments.type);
  if (!type.ok()) return type.status();
  call.type = **type;
  call.in_place = arguments.in == MPI_IN_PLACE;
  if (arguments.collective == Collective::kAllgather && !call.in_place) {
    if (Status status = checkOwnBlock(arguments, call, rank, types); !status.ok()) return status;
  }
  if (call.type.bytes == 0) {  // elements without data: nothing moves
    call.count = 0;
    std::fill(call.per_rank.begin(), call.per_rank.end(), 0);
  }
  return {};
}

Status checkBuffers(const CallArguments& arguments, const Call& call,
                    const BufferElements& elements) {
  const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
  const std::uint64_t longest = std::max(elements.in, elements.out);
  if (call.type.bytes > 0 && longest > most / call.type.bytes) {
    return {StatusCode::kOverflow, message("a vector of ", longest, " elements of ",
                                           call.type.bytes, " bytes exceeds the address space")};
  }
  const std::uint64_t out_elements =
      call.in_place ? longest : elements.out;  // in place, `out` holds both
  if (arguments.out == MPI_IN_PLACE) return bad("out is MPI_IN_PLACE");
  if (arguments.null_is_bottom) return {};
  if (arguments.out == nullptr && out_elements > 0) return bad("out is NULL");
  if (!call.in_place && arguments.in == nullptr && elements.in > 0) return bad("in is NULL");
  return {};
}

Status checkOverlap(const CallArguments& arguments, const Call& call,
                    const BufferElements& elements) {
  if (call.in_place) return {};
  const auto in_begin = reinterpret_cast<std::uintptr_t>(arguments.in);
  const auto in_end = in_begin + elements.in * call.type.bytes;
  const auto out_begin = reinterpret_cast<std::uintptr_t>(arguments.out) +
                         static_cast<std::uintptr_t>(call.first_displacement) * call.type.bytes;
  const auto out_end = out_begin + elements.out * call.type.bytes;
  if (in_begin < in_end && out_begin < out_end && in_begin < out_end && out_begin < in_end) {
    return bad("in and out overlap (MPI_IN_PLACE says that they are the same)");
  }
  return {};
}

}  // namespace torc
