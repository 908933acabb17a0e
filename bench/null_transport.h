// A transport that moves nothing: a round over it measures the executor's own work.
#ifndef TORC_BENCH_NULL_TRANSPORT_H_
#define TORC_BENCH_NULL_TRANSPORT_H_

#include <algorithm>
#include <vector>

#include "runtime/transport/transport.h"

namespace torc::runtime {

/// Completes every started channel at the next poll.
class NullTransport final : public Transport {
 public:
  ChannelId prepare(const Envelope&, const Segments&, std::span<const std::size_t>) override {
    return channels_++;
  }
  void commit() override { started_.resize(channels_); }
  bool start(ChannelId channel) override {
    started_[count_++] = channel;
    return true;
  }
  int poll(std::span<ChannelId> completed) override {
    const std::size_t count = std::min(count_, completed.size());
    std::copy_n(started_.begin(), count, completed.begin());
    count_ = 0;
    return static_cast<int>(count);
  }

 private:
  ChannelId channels_ = 0;
  std::vector<ChannelId> started_;
  std::size_t count_ = 0;
};

}  // namespace torc::runtime

#endif  // TORC_BENCH_NULL_TRANSPORT_H_
