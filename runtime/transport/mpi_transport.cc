// MPI transport: fragments of messages, requests, completion.
#include "runtime/transport/mpi_transport.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

// MPI counts are int. Both ends cut longer fragments at multiples of this.
constexpr std::size_t kLongestFragment = std::size_t{1} << 30;

/// The next `bytes` of a message's memory, as single runs.
std::vector<Segment> takeRuns(SegmentWalk& walk, std::size_t bytes) {
  std::vector<Segment> runs;
  while (bytes > 0) {
    const std::size_t some = std::min(bytes, walk.available());
    if (!runs.empty() && runs.back().place + runs.back().bytes == walk.place()) {
      runs.back().bytes += some;
    } else {
      runs.push_back({walk.place(), some});
    }
    bytes -= some;
    walk.skip(some);
  }
  return runs;
}

}  // namespace

MpiTransport::~MpiTransport() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized) return;
  abandon();
  if (drained()) return;
  // A caller that destroys the transport before it is drained has no memory that the messages could
  // damage.
  for (std::size_t i = 0; i < active_count_; ++i)
    PMPI_Request_free(&active_[i]);
}

ChannelId MpiTransport::prepare(const Envelope& envelope, const Segments& segments,
                                std::span<const std::size_t> fragments) {
  const std::size_t whole = segments.bytes();
  if (fragments.empty()) fragments = {&whole, 1};

  Channel channel;
  channel.first_fragment = static_cast<std::uint32_t>(fragments_.size());
  if (fragments.size() == 1 && whole <= kLongestFragment) {
    addFragment(envelope, segments);
  } else {
    SegmentWalk walk(segments);
    for (std::size_t length : fragments) {
      do {
        const std::size_t some = std::min(length, kLongestFragment);
        addFragment(envelope, {takeRuns(walk, some), {}});
        length -= some;
      } while (length > 0);
    }
  }
  channel.fragment_count = static_cast<std::uint32_t>(fragments_.size()) - channel.first_fragment;
  channels_.push_back(channel);
  return static_cast<ChannelId>(channels_.size() - 1);
}

void MpiTransport::addFragment(const Envelope& envelope, const Segments& segments) {
  Fragment& fragment = fragments_.emplace_back();
  static_cast<Envelope&>(fragment) = envelope;
  fragment.channel = static_cast<ChannelId>(channels_.size());
  fragment.bytes = static_cast<int>(segments.bytes());
  if (segments.isInRow()) fragment.place = segments.list[0].place;
  if (segments.isInRow() || segments.list.empty()) return;
  fragment.place = {Base::kTransport, packed_bytes_};
  fragment.packed = runs_.add(segments);
  packed_bytes_ += roundToCacheLine(static_cast<std::size_t>(fragment.bytes));
}

void MpiTransport::commit() {
  packed_.allocate(packed_bytes_);
  active_.resize(fragments_.size());
  active_fragment_.resize(fragments_.size());
  indices_.resize(fragments_.size());
  statuses_.resize(fragments_.size());
}

void MpiTransport::bind(const Bases& bases) {
  bases_ = bases;
  bases_[static_cast<std::size_t>(Base::kTransport)] = packed_.data();
}

std::size_t MpiTransport::tableBytes() const {
  return sizeof(*this) + runs_.bytes() +
         bytesOfTables(channels_, fragments_, active_, active_fragment_, indices_, statuses_);
}

inline void MpiTransport::pack(const Fragment& fragment) {
  std::byte* packed = fragment.place.in(bases_);
  runs_[fragment.packed].forEachRun(bases_, [&](const std::byte* data, std::size_t bytes) {
    std::memcpy(packed, data, bytes);
    packed += bytes;
  });
}

inline void MpiTransport::unpack(const Fragment& fragment) {
  const std::byte* packed = fragment.place.in(bases_);
  runs_[fragment.packed].forEachRun(bases_, [&](std::byte* data, std::size_t bytes) {
    std::memcpy(data, packed, bytes);
    packed += bytes;
  });
}

inline int MpiTransport::startFragment(const Fragment& fragment, MPI_Request* request) const {
  std::byte* data = fragment.place.in(bases_);
  const int tag = tag_base_ + static_cast<int>(fragment.tag);
  if (!fragment.sending) {
    return PMPI_Irecv(data, fragment.bytes, MPI_BYTE, fragment.peer, tag, comm_, request);
  }
  const auto send = fragment.mode == SendMode::kSynchronous ? PMPI_Issend : PMPI_Isend;
  return send(data, fragment.bytes, MPI_BYTE, fragment.peer, tag, comm_, request);
}

bool MpiTransport::start(ChannelId index) {
  Channel& channel = channels_[index];
  channel.unfinished = channel.fragment_count;
  for (std::uint32_t i = 0; i < channel.fragment_count; ++i) {
    const std::uint32_t number = channel.first_fragment + i;
    const Fragment& fragment = fragments_[number];
    if (fragment.sending) pack(fragment);
    active_fragment_[active_count_] = number;
    const int code = startFragment(fragment, &active_[active_count_]);
    if (code != MPI_SUCCESS) {
      status_ = mpiStatus(code, fragment.sending ? "MPI_Isend" : "MPI_Irecv");
      return false;
    }
    ++active_count_;
    if (fragment.sending && sent_ != nullptr) {
      sent_->mpi += static_cast<std::uint64_t>(fragment.bytes);
    }
  }
  return true;
}

int MpiTransport::poll(std::span<ChannelId> completed) {
  if (active_count_ == 0) return 0;
  if (active_count_ == 1) return pollLast(completed);
  int count = 0;
  const int code = PMPI_Testsome(static_cast<int>(active_count_), active_.data(), &count,
                                 indices_.data(), statuses_.data());
  return report("MPI_Testsome", code, count, completed);
}

/// The same with one active fragment, as in all short calls: MPI_Test takes less time than
/// MPI_Testsome.
int MpiTransport::pollLast(std::span<ChannelId> completed) {
  int done = 0;
  MPI_Status& status = statuses_[0];
  const int code = PMPI_Test(&active_[0], &done, &status);
  if (code == MPI_SUCCESS && !done) return 0;
  const Fragment& fragment = fragments_[active_fragment_[0]];
  Channel& channel = channels_[fragment.channel];
  if (code != MPI_SUCCESS) {
    status_ = failureOf("MPI_Test", code, fragment);
    // A failed request is complete.
    if (done || active_[0] == MPI_REQUEST_NULL) removeActive(0);
    return -1;
  }
  removeActive(0);
  if (!fragment.sending) {
    if (!hasRightLength(fragment, status)) return -1;
    unpack(fragment);
  }
  if (--channel.unfinished > 0) return 0;
  completed[0] = fragment.channel;
  return 1;
}

int MpiTransport::wait(std::span<ChannelId> completed) {
  // Not MPI_Waitsome, which calls MPI_Test for the other requests under SMPI: see
  // runtime/transport/smpi.h.
  const int code = PMPI_Waitany(static_cast<int>(active_count_), active_.data(), indices_.data(),
                                statuses_.data());
  return report("MPI_Waitany", code, 1, completed);
}

/// Handles the results of `call` for the active fragments.
int MpiTransport::report(const char* call, int code, int count, std::span<ChannelId> completed) {
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
    status_ = failureOf(call, code, fragments_[active_fragment_[0]]);
    return -1;
  }
  if (count <= 0) return 0;
  // The statuses are in the order of the requests. The last entries fill the gaps of completed
  // ones, the highest gap first.
  bool failed = false;
  for (int i = 0; i < count && !failed; ++i) {
    const Fragment& fragment = fragments_[active_fragment_[indices_[i]]];
    if (code == MPI_ERR_IN_STATUS && statuses_[i].MPI_ERROR != MPI_SUCCESS) {
      status_ = failureOf(call, statuses_[i].MPI_ERROR, fragment);
      failed = true;
    } else if (!fragment.sending) {
      failed = !hasRightLength(fragment, statuses_[i]);
    }
  }
  std::sort(indices_.begin(), indices_.begin() + count, std::greater<int>());
  int reported = 0;
  for (int i = 0; i < count; ++i) {
    const Fragment& fragment = fragments_[active_fragment_[indices_[i]]];
    Channel& channel = channels_[fragment.channel];
    if (!failed && !fragment.sending) unpack(fragment);
    if (--channel.unfinished == 0) completed[reported++] = fragment.channel;
    removeActive(indices_[i]);
  }
  return failed ? -1 : reported;
}

/// Removes a completed request from the active ones.
inline void MpiTransport::removeActive(int at) {
  --active_count_;
  active_[at] = active_[active_count_];
  active_fragment_[at] = active_fragment_[active_count_];
}

Status MpiTransport::failureOf(const char* call, int code, const Fragment& fragment) const {
  int error_class = MPI_ERR_OTHER;
  PMPI_Error_class(code, &error_class);
  if (error_class != MPI_ERR_TRUNCATE) return mpiStatus(code, call);
  return callsDiffer(fragment.peer, " has more than the ", fragment.bytes,
                     " bytes that are expected");
}

/// Whether a message has the length that both ends know from the schedule, or may be shorter. If
/// not, sets the status.
inline bool MpiTransport::hasRightLength(const Fragment& fragment, const MPI_Status& status) {
  int bytes = 0;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes == fragment.bytes) return true;
  const bool is_whole =
      channels_[fragment.channel].fragment_count == 1 && fragment.packed.count == 0;
  if (shorter_ != nullptr && is_whole && bytes < fragment.bytes) {
    shorter_->push_back({fragment.place.in(bases_), static_cast<std::size_t>(bytes)});
    return true;
  }
  status_ =
      callsDiffer(fragment.peer, " has ", bytes, " bytes where ", fragment.bytes, " are expected");
  return false;
}

/// Any probe makes MPI progress all its communication.
void MpiTransport::progressMedium() {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &found, MPI_STATUS_IGNORE);
}

std::vector<Transport::Awaited> MpiTransport::awaited(std::size_t limit) const {
  std::vector<Awaited> peers;
  for (std::size_t i = 0; i < active_count_; ++i)
    addAwaited(fragments_[active_fragment_[i]], limit, peers);
  return peers;
}

void MpiTransport::abandon() {
  // A receive without a message is cancelled. A send cannot be cancelled.
  for (std::size_t i = 0; i < active_count_; ++i) {
    if (!fragments_[active_fragment_[i]].sending) PMPI_Cancel(&active_[i]);
  }
}

bool MpiTransport::drained() {
  if (active_count_ == 0) return true;
  int count = 0;
  const int code = PMPI_Testsome(static_cast<int>(active_count_), active_.data(), &count,
                                 indices_.data(), statuses_.data());
  // A failed request is complete, too.
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return false;
  std::sort(indices_.begin(), indices_.begin() + std::max(count, 0), std::greater<int>());
  for (int i = 0; i < count; ++i)
    removeActive(indices_[i]);
  return active_count_ == 0;
}

}  // namespace torc::runtime
