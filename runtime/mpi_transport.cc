// MPI transport: datatypes of messages, persistent requests, completion.
#include "runtime/mpi_transport.h"

#include <algorithm>
#include <climits>
#include <functional>
#include <string>

namespace torc {
namespace {

// MPI counts in int; a longer run becomes several blocks of a datatype.
constexpr std::size_t kLongestBlock = std::size_t{1} << 30;

/// A message as MPI takes it: `count` of `type` at `data`.
struct Message {
  const void* data = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

bool isRegular(std::span<const Segment> segments) {
  const std::ptrdiff_t stride = segments[1].data - segments[0].data;
  for (std::size_t i = 1; i < segments.size(); ++i) {
    if (segments[i].bytes != segments[0].bytes) return false;
    if (segments[i].data - segments[i - 1].data != stride) return false;
  }
  return segments[0].bytes <= kLongestBlock;
}

int makeIndexed(std::span<const Segment> segments, MPI_Datatype* type) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  for (const Segment& segment : segments) {
    for (std::size_t done = 0; done < segment.bytes; done += kLongestBlock) {
      lengths.push_back(static_cast<int>(std::min(kLongestBlock, segment.bytes - done)));
      displacements.push_back(segment.data - segments[0].data + static_cast<MPI_Aint>(done));
    }
  }
  if (lengths.size() > static_cast<std::size_t>(INT_MAX)) return MPI_ERR_COUNT;
  return MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                  displacements.data(), MPI_BYTE, type);
}

StatusOr<Message> describe(std::span<const Segment> segments) {
  Message message;
  if (segments.empty()) return message;
  message.data = segments[0].data;
  if (segments.size() == 1 && segments[0].bytes <= kLongestBlock) {
    message.count = static_cast<int>(segments[0].bytes);
    return message;
  }
  message.count = 1;
  int code;
  if (segments.size() > 1 && segments.size() <= static_cast<std::size_t>(INT_MAX) &&
      isRegular(segments)) {
    code = MPI_Type_create_hvector(static_cast<int>(segments.size()),
                                   static_cast<int>(segments[0].bytes),
                                   segments[1].data - segments[0].data, MPI_BYTE, &message.type);
  } else {
    code = makeIndexed(segments, &message.type);
  }
  if (code != MPI_SUCCESS) return mpiStatus(code, "making a datatype");
  code = MPI_Type_commit(&message.type);
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Type_commit");
  return message;
}

// MPI_Recv_init takes its buffer without const; one signature serves both.
int recvInit(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
             MPI_Request* request) {
  return MPI_Recv_init(const_cast<void*>(data), count, type, peer, tag, comm, request);
}

}  // namespace

Status mpiStatus(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  std::string message = call;
  if (MPI_Error_string(code, text, &length) == MPI_SUCCESS) {
    message += ": " + std::string(text, static_cast<std::size_t>(length));
  } else {
    message += ": MPI error " + std::to_string(code);
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  return {StatusCode::kTransport, message};
}

MpiTransport::~MpiTransport() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  abandon();
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

StatusOr<ChannelId> MpiTransport::prepareSend(std::int32_t peer, std::uint32_t tag,
                                              std::span<const Segment> segments) {
  return prepare(true, MPI_Send_init, peer, tag, segments);
}

StatusOr<ChannelId> MpiTransport::prepareRecv(std::int32_t peer, std::uint32_t tag,
                                              std::span<const Segment> segments) {
  return prepare(false, recvInit, peer, tag, segments);
}

StatusOr<ChannelId> MpiTransport::prepare(bool sending, InitFunction init, std::int32_t peer,
                                          std::uint32_t tag, std::span<const Segment> segments) {
  StatusOr<Message> message = describe(segments);
  if (!message.ok()) return message.status();
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = init(message->data, message->count, message->type, peer,
                        tag_base_ + static_cast<int>(tag), comm_, &request);
  // The request keeps the datatype alive.
  if (message->type != MPI_BYTE) MPI_Type_free(&message->type);
  if (code != MPI_SUCCESS) {
    return mpiStatus(code, sending ? "MPI_Send_init" : "MPI_Recv_init");
  }
  requests_.push_back(request);
  sending_.push_back(sending);
  return static_cast<ChannelId>(requests_.size() - 1);
}

Status MpiTransport::commit(std::size_t most_active) {
  active_.resize(most_active);
  active_channel_.resize(most_active);
  indices_.resize(most_active);
  statuses_.resize(most_active);
  return {};
}

bool MpiTransport::start(ChannelId channel) {
  MPI_Request* request = &active_[active_count_];
  *request = requests_[channel];
  active_channel_[active_count_] = channel;
  if (const int code = MPI_Start(request); code != MPI_SUCCESS) {
    status_ = mpiStatus(code, "MPI_Start");
    return false;
  }
  ++active_count_;
  return true;
}

int MpiTransport::poll(std::span<ChannelId> completed) {
  if (active_count_ == 0) return 0;
  int count = 0;
  int code = MPI_Testsome(static_cast<int>(active_count_), active_.data(), &count, indices_.data(),
                          statuses_.data());
  if (code != MPI_SUCCESS) {
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; ++i) {
      if (statuses_[i].MPI_ERROR != MPI_SUCCESS) code = statuses_[i].MPI_ERROR;
    }
    status_ = mpiStatus(code, "MPI_Testsome");
    return -1;
  }
  if (count <= 0) return 0;
  for (int i = 0; i < count; ++i)
    completed[i] = active_channel_[indices_[i]];
  // The last entries fill the gaps, the highest gap first.
  std::sort(indices_.begin(), indices_.begin() + count, std::greater<int>());
  for (int i = 0; i < count; ++i) {
    --active_count_;
    active_[indices_[i]] = active_[active_count_];
    active_channel_[indices_[i]] = active_channel_[active_count_];
  }
  return count;
}

void MpiTransport::abandon() {
  // A cancelled receive ends without its message; a send cannot be taken back, and MPI releases it
  // when it is through.
  for (std::size_t i = 0; i < active_count_; ++i) {
    if (!sending_[active_channel_[i]]) MPI_Cancel(&active_[i]);
    MPI_Request_free(&active_[i]);
    requests_[active_channel_[i]] = MPI_REQUEST_NULL;
  }
  active_count_ = 0;
}

}  // namespace torc
