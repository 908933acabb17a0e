// MPI transport: a nonblocking send or receive for each message and round.
//
// MPI gets contiguous memory only. A non-contiguous fragment is packed before its send and unpacked
// after its receive, with memory allocated at init. Measured against derived datatypes (MPICH
// 4.0.2, shared memory), packing small runs is up to twice as fast, and so is sending large runs
// one by one, without a copy.
#ifndef TORC_RUNTIME_TRANSPORT_MPI_TRANSPORT_H_
#define TORC_RUNTIME_TRANSPORT_MPI_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "runtime/transport/data_memory.h"
#include "runtime/transport/transport.h"

namespace torc::runtime {

class MpiTransport final : public Transport {
 public:
  /// Messages use `comm`, which returns errors (MPI_ERRORS_RETURN) and outlives the transport, as
  /// does `sent`, with tags from `tag_base` on.
  MpiTransport(MPI_Comm comm, int tag_base, SentBytes* sent = nullptr)
      : Transport(sent), comm_(comm), tag_base_(tag_base) {}
  ~MpiTransport() override;

  ChannelId prepare(const Envelope& envelope, const Segments& segments,
                    std::span<const std::size_t> fragments) override;
  void commit() override;
  void bind(const Bases& bases) override;
  void bindTags(const TagRange& tags) override { tag_base_ = tags.base; }
  bool start(ChannelId channel) override;
  int poll(std::span<ChannelId> completed) override;
  int wait(std::span<ChannelId> completed) override;
  void abandon() override;
  bool drained() override;
  std::size_t bufferBytes() const override { return packed_bytes_; }
  std::size_t tableBytes() const override;
  void progressMedium() override;
  std::vector<Awaited> awaited(std::size_t limit) const override;

 private:
  /// A fragment: one MPI message. The fragments of a channel follow one another, and share its tag:
  /// MPI keeps the order of messages with equal envelopes.
  struct Fragment : Envelope {
    Place place;  // the caller's memory, or packed
    int bytes = 0;
    ChannelId channel = 0;
    SegmentTable::Range packed;
  };
  struct Channel {
    std::uint32_t first_fragment = 0, fragment_count = 0;
    std::uint32_t unfinished = 0;  // fragments of the round
  };

  int pollLast(std::span<ChannelId> completed);
  int report(const char* call, int code, int count, std::span<ChannelId> completed);
  Status failureOf(const char* call, int code, const Fragment& fragment) const;
  bool hasRightLength(const Fragment& fragment, const MPI_Status& status);
  void removeActive(int at);
  void addFragment(const Envelope& envelope, const Segments& segments);
  int startFragment(const Fragment& fragment, MPI_Request* request) const;
  void pack(const Fragment& fragment);
  void unpack(const Fragment& fragment);

  MPI_Comm comm_;
  int tag_base_;
  std::vector<Channel> channels_;
  std::vector<Fragment> fragments_;
  std::size_t packed_bytes_ = 0;
  DataMemory packed_;

  // The first active_count_ entries: fragments that are started and not complete.
  std::size_t active_count_ = 0;
  std::vector<MPI_Request> active_;
  std::vector<std::uint32_t> active_fragment_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_MPI_TRANSPORT_H_
