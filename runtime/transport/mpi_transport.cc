// MPI transport: pieces of messages, persistent requests, completion.
#include "runtime/transport/mpi_transport.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "support/message.h"

namespace torc {
namespace {

// MPI counts in int. Both ends cut longer pieces at multiples of this.
constexpr std::size_t kLongestPiece = std::size_t{1} << 30;

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

Status mpiStatus(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  std::string message = call;
  if (PMPI_Error_string(code, text, &length) == MPI_SUCCESS) {
    message += ": " + std::string(text, static_cast<std::size_t>(length));
  } else {
    message += ": MPI error " + std::to_string(code);
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  return {StatusCode::kTransport, message};
}

int highestTag(MPI_Comm comm) {
  int* upper_bound = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, MPI_TAG_UB, &upper_bound, &found);
  return found ? *upper_bound : 32767;  // the least that MPI allows
}

MpiTransport::~MpiTransport() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized) return;
  abandon();
  if (!drained()) {
    // Whoever destroys it sooner has nothing that the messages could harm.
    for (std::size_t i = 0; i < active_count_; ++i) {
      pieces_[active_piece_[i]].request = MPI_REQUEST_NULL;
      PMPI_Request_free(&active_[i]);
    }
  }
  for (Piece& piece : pieces_) {
    if (piece.request != MPI_REQUEST_NULL) PMPI_Request_free(&piece.request);
  }
}

StatusOr<ChannelId> MpiTransport::prepareSend(std::int32_t peer, std::uint32_t tag,
                                              const Segments& segments,
                                              std::span<const std::size_t> pieces) {
  return prepare(true, peer, tag, segments, pieces);
}

StatusOr<ChannelId> MpiTransport::prepareRecv(std::int32_t peer, std::uint32_t tag,
                                              const Segments& segments,
                                              std::span<const std::size_t> pieces) {
  return prepare(false, peer, tag, segments, pieces);
}

StatusOr<ChannelId> MpiTransport::prepare(bool sending, std::int32_t peer, std::uint32_t tag,
                                          const Segments& segments,
                                          std::span<const std::size_t> pieces) {
  const std::size_t whole = segments.bytes();
  if (pieces.empty()) pieces = {&whole, 1};

  Channel channel;
  channel.sending = sending;
  channel.first_piece = static_cast<std::uint32_t>(pieces_.size());
  if (pieces.size() == 1 && whole <= kLongestPiece) {
    addPiece(peer, tag, segments);
  } else {
    SegmentWalk walk(segments);
    for (std::size_t length : pieces) {
      do {
        const std::size_t some = std::min(length, kLongestPiece);
        addPiece(peer, tag, {takeRuns(walk, some), {}});
        length -= some;
      } while (length > 0);
    }
  }
  channel.piece_count = static_cast<std::uint32_t>(pieces_.size()) - channel.first_piece;
  channels_.push_back(channel);
  return static_cast<ChannelId>(channels_.size() - 1);
}

void MpiTransport::addPiece(std::int32_t peer, std::uint32_t tag, const Segments& segments) {
  Piece& piece = pieces_.emplace_back();
  piece.channel = static_cast<ChannelId>(channels_.size());
  piece.peer = peer;
  piece.tag = tag;
  piece.bytes = static_cast<int>(segments.bytes());
  const bool contiguous = segments.list.size() == 1 && segments.list[0].loop_count == 0;
  if (contiguous) piece.place = segments.list[0].place;
  if (contiguous || segments.list.empty()) return;
  piece.place = {Base::kTransport, packed_bytes_};
  piece.first_run = static_cast<std::uint32_t>(runs_.size());
  piece.run_count = static_cast<std::uint32_t>(segments.list.size());
  for (const Segment& segment : segments.list) {
    runs_.push_back(segment);
    runs_.back().first_loop = addLoops(segments.loopsOf(segment), loops_);
  }
  packed_bytes_ += roundToCacheLine(static_cast<std::size_t>(piece.bytes));
}

Status MpiTransport::commit() {
  packed_.allocate(packed_bytes_);
  active_.resize(pieces_.size());
  active_piece_.resize(pieces_.size());
  indices_.resize(pieces_.size());
  statuses_.resize(pieces_.size());
  return {};
}

Status MpiTransport::bind(const Bases& bases) {
  bases_ = bases;
  bases_[static_cast<std::size_t>(Base::kTransport)] = packed_.data();
  if (requests_ == Requests::kOneShot) return {};
  if (bound_) return {StatusCode::kUnsupported, "persistent requests are bound for good"};
  bound_ = true;
  for (Piece& piece : pieces_) {
    if (Status status = makePersistent(piece); !status.ok()) {
      return status.annotated("message with rank " + std::to_string(piece.peer));
    }
  }
  return {};
}

Status MpiTransport::makePersistent(Piece& piece) {
  std::byte* data = piece.place.in(bases_);
  const int tag = tag_base_ + static_cast<int>(piece.tag);
  if (channels_[piece.channel].sending) {
    return mpiStatus(
        PMPI_Send_init(data, piece.bytes, MPI_BYTE, piece.peer, tag, comm_, &piece.request),
        "MPI_Send_init");
  }
  return mpiStatus(
      PMPI_Recv_init(data, piece.bytes, MPI_BYTE, piece.peer, tag, comm_, &piece.request),
      "MPI_Recv_init");
}

std::size_t MpiTransport::tableBytes() const {
  auto bytes = [](const auto& table) { return table.capacity() * sizeof(table[0]); };
  return sizeof(*this) + bytes(channels_) + bytes(pieces_) + bytes(runs_) + bytes(loops_) +
         bytes(active_) + bytes(active_piece_) + bytes(indices_) + bytes(statuses_);
}

/// Calls `visit(data, bytes)` for every run of memory of a piece that is packed.
template <typename Visit>
inline void MpiTransport::forEachRun(const Piece& piece, Visit visit) const {
  for (std::uint32_t i = 0; i < piece.run_count; ++i) {
    const Segment& run = runs_[piece.first_run + i];
    std::byte* data = run.place.in(bases_);
    if (run.loop_count == 0) {
      visit(data, run.bytes);
      continue;
    }
    LoopWalk walk{std::span(loops_).subspan(run.first_loop, run.loop_count)};
    do {
      visit(data + static_cast<std::ptrdiff_t>(walk.distance()), run.bytes);
    } while (walk.next());
  }
}

inline void MpiTransport::pack(const Piece& piece) {
  std::byte* packed = piece.place.in(bases_);
  forEachRun(piece, [&](const std::byte* data, std::size_t bytes) {
    std::memcpy(packed, data, bytes);
    packed += bytes;
  });
}

inline void MpiTransport::unpack(const Piece& piece) {
  const std::byte* packed = piece.place.in(bases_);
  forEachRun(piece, [&](std::byte* data, std::size_t bytes) {
    std::memcpy(data, packed, bytes);
    packed += bytes;
  });
}

inline int MpiTransport::startPiece(const Piece& piece, bool sending, MPI_Request* request) {
  if (requests_ == Requests::kPersistent) {
    *request = piece.request;
    return PMPI_Start(request);
  }
  std::byte* data = piece.place.in(bases_);
  const int tag = tag_base_ + static_cast<int>(piece.tag);
  return sending ? PMPI_Isend(data, piece.bytes, MPI_BYTE, piece.peer, tag, comm_, request)
                 : PMPI_Irecv(data, piece.bytes, MPI_BYTE, piece.peer, tag, comm_, request);
}

bool MpiTransport::start(ChannelId index) {
  Channel& channel = channels_[index];
  channel.unfinished = channel.piece_count;
  for (std::uint32_t i = 0; i < channel.piece_count; ++i) {
    const std::uint32_t number = channel.first_piece + i;
    const Piece& piece = pieces_[number];
    if (channel.sending) pack(piece);
    active_piece_[active_count_] = number;
    const int code = startPiece(piece, channel.sending, &active_[active_count_]);
    if (code != MPI_SUCCESS) {
      status_ = mpiStatus(code, requests_ == Requests::kPersistent ? "MPI_Start"
                                : channel.sending                  ? "MPI_Isend"
                                                                   : "MPI_Irecv");
      return false;
    }
    ++active_count_;
  }
  return true;
}

int MpiTransport::poll(std::span<ChannelId> completed) {
  if (active_count_ == 0) return 0;
  int count = 0;
  const int code = PMPI_Testsome(static_cast<int>(active_count_), active_.data(), &count,
                                 indices_.data(), statuses_.data());
  return report("MPI_Testsome", code, count, completed);
}

int MpiTransport::wait(std::span<ChannelId> completed) {
  // Not MPI_Waitsome, which under SMPI looks at the other requests by MPI_Test: see
  // runtime/transport/smpi.h.
  const int code = PMPI_Waitany(static_cast<int>(active_count_), active_.data(), indices_.data(),
                                statuses_.data());
  return report("MPI_Waitany", code, 1, completed);
}

/// What `call` has returned for the active pieces.
int MpiTransport::report(const char* call, int code, int count, std::span<ChannelId> completed) {
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
    status_ = failureOf(call, code, pieces_[active_piece_[0]]);
    return -1;
  }
  if (count <= 0) return 0;
  // The statuses are in the order of the requests; the last entries fill the gaps that completed
  // ones leave, the highest gap first.
  bool failed = false;
  for (int i = 0; i < count && !failed; ++i) {
    const Piece& piece = pieces_[active_piece_[indices_[i]]];
    if (code == MPI_ERR_IN_STATUS && statuses_[i].MPI_ERROR != MPI_SUCCESS) {
      status_ = failureOf(call, statuses_[i].MPI_ERROR, piece);
      failed = true;
    } else if (!channels_[piece.channel].sending) {
      failed = !hasRightLength(piece, statuses_[i]);
    }
  }
  std::sort(indices_.begin(), indices_.begin() + count, std::greater<int>());
  int reported = 0;
  for (int i = 0; i < count; ++i) {
    const Piece& piece = pieces_[active_piece_[indices_[i]]];
    Channel& channel = channels_[piece.channel];
    if (!failed && !channel.sending) unpack(piece);
    if (--channel.unfinished == 0) completed[reported++] = piece.channel;
    removeActive(indices_[i]);
  }
  return failed ? -1 : reported;
}

/// Takes a request that is complete out of those that are looked at.
inline void MpiTransport::removeActive(int at) {
  --active_count_;
  active_[at] = active_[active_count_];
  active_piece_[at] = active_piece_[active_count_];
}

Status MpiTransport::failureOf(const char* call, int code, const Piece& piece) const {
  int error_class = MPI_ERR_OTHER;
  PMPI_Error_class(code, &error_class);
  if (error_class != MPI_ERR_TRUNCATE) return mpiStatus(code, call);
  return {StatusCode::kTruncated,
          message("a message from rank ", piece.peer, " has more than the ", piece.bytes,
                  " bytes that are expected: the ranks' calls differ")};
}

/// Whether a message has the length that both ends know from the schedule. Sets the status where
/// not.
inline bool MpiTransport::hasRightLength(const Piece& piece, const MPI_Status& status) {
  int bytes = 0;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes == piece.bytes) return true;
  status_ = {StatusCode::kTruncated,
             message("a message from rank ", piece.peer, " has ", bytes, " bytes where ",
                     piece.bytes, " are expected: the ranks' calls differ")};
  return false;
}

std::vector<MpiTransport::Awaited> MpiTransport::awaited(std::size_t limit) const {
  std::vector<Awaited> peers;
  for (std::size_t i = 0; i < active_count_ && peers.size() < limit; ++i) {
    const Piece& piece = pieces_[active_piece_[i]];
    const Awaited peer{piece.peer, channels_[piece.channel].sending};
    if (std::find(peers.begin(), peers.end(), peer) == peers.end()) peers.push_back(peer);
  }
  return peers;
}

void MpiTransport::abandon() {
  // A receive that has no message yet ends without it. A send cannot be taken back.
  for (std::size_t i = 0; i < active_count_; ++i) {
    if (!channels_[pieces_[active_piece_[i]].channel].sending) PMPI_Cancel(&active_[i]);
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

}  // namespace torc
