// Set-up of shared memory: cards of all ranks, the host's file, a vote.
#include "runtime/job/segment_set_up.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/transport/put/process_memory.h"
#include "runtime/transport/smpi.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::runtime {
namespace {

// Changes with the layout of the memory.
constexpr std::uint64_t kSegmentVersion = 3;

/// The target of a symbolic link.
std::string linkText(const char* path) {
  std::error_code fault;
  return std::filesystem::read_symlink(path, fault).string();
}

/// A number of the host, for ranks that can share memory. A separate network or process namespace
/// counts as another host.
std::uint64_t hostOf() {
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  PMPI_Get_processor_name(host, &length);
  return hashText(message(std::string_view(host, static_cast<std::size_t>(length)), ' ',
                          linkText("/proc/self/ns/pid"), ' ', linkText("/proc/self/ns/net")));
}

}  // namespace

bool SegmentSetUp::isDone(const torc_geometry& geometry) {
  return kSimulated || geometry.size == 1 || geometry.has_looked_for_segment;
}

SegmentSetUp::SegmentSetUp(torc_geometry& geometry)
    : geometry_(geometry), cards_(static_cast<std::size_t>(geometry.size)) {}

void SegmentSetUp::start() {
  fault_ = attempt([&]() -> Status {
    card_.host = hostOf();
    card_.version = hashText(kVersion, kSegmentVersion);
    if (geometry_.context->transport == TransportChoice::kMpi) {
      return {StatusCode::kUnsupported, "TORC_TRANSPORT does without"};
    }
    StatusOr<SegmentFile> file = SegmentFile::make();
    if (!file.ok()) return file.status();
    card_.left = shareOfLimits(geometry_.hosts.count);
    card_.file = file->name();
    card_.puts = 1;
    card_.address = reinterpret_cast<std::uint64_t>(&card_.number);
    card_.number = hashNumbers(card_.file.process, card_.file.number);
    file_.emplace(std::move(*file));
    return {};
  });
  geometry_.agreement.collective().allgather(geometry_.comm, &card_, cards_.data(), sizeof(card_));
}

bool SegmentSetUp::advance() {
  while (!done_) {
    ServiceCollective& collective = geometry_.agreement.collective();
    if (!collective.advance()) return false;
    if (const Status status = collective.status(); !status.ok()) {
      finish(status);
    } else if (voting_) {
      const std::span<const std::uint64_t> votes = collective.words();
      if (votes[0] > 0) {
        tell(votes);
      } else if (votes[1] > 1) {
        segment_->setCopies(votes[2] == 0);
        geometry_.segment = std::move(segment_);
      }
      finish({});
    } else {
      if (fault_.ok()) fault_ = attempt([&] { return open(); });
      vote();
    }
  }
  return true;
}

/// Opens the memory of this rank's host, created by the lowest rank there.
Status SegmentSetUp::open() {
  const Card& mine = card_;
  std::vector<std::int32_t> member_of_rank(cards_.size(), -1);
  std::vector<int> processes;
  std::size_t least = static_cast<std::size_t>(geometry_.rank);  // the rank with the lowest limit
                                                                 // of memory
  for (std::size_t rank = 0; rank < cards_.size(); ++rank) {
    const Card& card = cards_[rank];
    if (card.version != mine.version) {
      return {StatusCode::kUnsupported, message("rank ", rank, " has another version of torc")};
    }
    if (card.puts == 0) {
      return {StatusCode::kUnsupported, message("rank ", rank, " has no shared memory")};
    }
    if (card.host != mine.host) continue;
    member_of_rank[rank] = static_cast<std::int32_t>(processes.size());
    processes.push_back(card.file.process);
    if (card.left.bytes < cards_[least].left.bytes) least = rank;
  }
  // A rank alone on its host shares no memory, but joins the decision of the others.
  if (processes.size() > 1) {
    const auto leader = std::ranges::find(member_of_rank, 0) - member_of_rank.begin();
    if (leader != geometry_.rank) {
      StatusOr<SegmentFile> file = SegmentFile::open(cards_[static_cast<std::size_t>(leader)].file);
      if (!file.ok()) return file.status();
      file_ = std::move(*file);
    }
  }
  const std::shared_ptr<MemoryShare>& share = geometry_.context->put_memory;
  const MemoryLeft& left = cards_[least].left;
  if (left.bytes < HostSegment::kLeastShare) {
    return {StatusCode::kUnsupported,
            message("rank ", least, " may take ", left.bytes, " bytes, a small share of ",
                    nameOf(left.limit), ", shared memory needs ", HostSegment::kLeastShare)};
  }
  share->limit = std::min(share->limit, share->used + left.bytes);
  StatusOr<std::unique_ptr<HostSegment>> segment =
      HostSegment::over(*file_, static_cast<int>(processes.size()),
                        member_of_rank[static_cast<std::size_t>(geometry_.rank)], share);
  if (!segment.ok()) return segment.status();
  segment_ = std::move(*segment);
  segment_->setMembers(std::move(member_of_rank), std::move(processes));
  return {};
}

/// Whether this rank can read the memory of another rank of its host.
bool SegmentSetUp::mayCopy() const {
  if (segment_->members() == 1) return true;
  const int other = segment_->me() == 0 ? 1 : 0;
  for (std::size_t rank = 0; rank < cards_.size(); ++rank) {
    if (segment_->memberOf(static_cast<std::int32_t>(rank)) != other) continue;
    std::uint64_t number = 0;
    const Copied read = pull(cards_[rank].file.process, cards_[rank].address,
                             reinterpret_cast<std::byte*>(&number), sizeof(number));
    return read == Copied::kAll && number == cards_[rank].number;
  }
  return false;
}

/// The votes' maxima give the lowest rank without memory, the size of the largest host, whether a
/// rank cannot copy, and the lowest rank that requests puts.
void SegmentSetUp::vote() {
  voting_ = true;
  const auto precedence = static_cast<std::uint64_t>(geometry_.size - geometry_.rank);
  vote_ = {fault_.ok() ? 0 : precedence,
           segment_ == nullptr ? 0 : static_cast<std::uint64_t>(segment_->members()),
           segment_ != nullptr && mayCopy() ? 0u : 1u, areAsked() ? precedence : 0};
  geometry_.agreement.collective().allreduce(geometry_.comm, vote_, MPI_MAX);
}

bool SegmentSetUp::areAsked() const {
  return geometry_.context->transport == TransportChoice::kPut;
}

/// If puts are requested but impossible, the lowest requesting rank reports the reason, once.
void SegmentSetUp::tell(std::span<const std::uint64_t> votes) const {
  // Threads may set up geometries of several contexts.
  static std::atomic<bool> told = false;
  if (!areAsked() || votes[3] != vote_[3] || told.exchange(true)) return;
  const std::string why =
      fault_.ok() || votes[0] != vote_[0]
          ? message("rank ", static_cast<std::uint64_t>(geometry_.size) - votes[0],
                    " has no shared memory, or wants none")
          : fault_.message();
  writeToStderr(message("torc: warning: rank ", geometry_.rank,
                        ": no puts, messages go by MPI: ", why, '\n'));
}

void SegmentSetUp::finish(const Status& status) {
  status_ = status;
  file_.reset();
  geometry_.has_looked_for_segment = true;
  done_ = true;
}

}  // namespace torc::runtime
