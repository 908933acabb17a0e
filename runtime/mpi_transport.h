// MPI transport: one persistent request per channel, made once and started every round.
//
// Messages of several runs of memory are one derived datatype, so that MPI packs them while it
// sends. Started requests stand in one compact array for MPI_Testsome.
#ifndef TORC_RUNTIME_MPI_TRANSPORT_H_
#define TORC_RUNTIME_MPI_TRANSPORT_H_

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "runtime/transport.h"

namespace torc {

/// What an MPI call returned, as a status: `MPI_Start: Invalid rank, error stack: ...`, one line.
Status mpiStatus(int code, const char* call);

class MpiTransport final : public Transport {
 public:
  /// Messages travel on `comm`, which returns errors (MPI_ERRORS_RETURN) and outlives the
  /// transport, with tags from `tag_base` on.
  MpiTransport(MPI_Comm comm, int tag_base) : comm_(comm), tag_base_(tag_base) {}
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  StatusOr<ChannelId> prepareSend(std::int32_t peer, std::uint32_t tag,
                                  std::span<const Segment> segments) override;
  StatusOr<ChannelId> prepareRecv(std::int32_t peer, std::uint32_t tag,
                                  std::span<const Segment> segments) override;
  Status commit(std::size_t most_active) override;
  bool start(ChannelId channel) override;
  int poll(std::span<ChannelId> completed) override;
  void abandon() override;
  Status status() const override { return status_; }

 private:
  using InitFunction = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

  StatusOr<ChannelId> prepare(bool sending, InitFunction init, std::int32_t peer, std::uint32_t tag,
                              std::span<const Segment> segments);

  MPI_Comm comm_;
  int tag_base_;
  std::vector<MPI_Request> requests_;  // by channel
  std::vector<bool> sending_;          // by channel

  // The first active_count_ entries: started, not reported.
  std::size_t active_count_ = 0;
  std::vector<MPI_Request> active_;
  std::vector<ChannelId> active_channel_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  Status status_;
};

}  // namespace torc

#endif  // TORC_RUNTIME_MPI_TRANSPORT_H_
