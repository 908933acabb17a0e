// Tag ring: ranges on a ring that is thought unrolled, so that order is comparison.
#include "runtime/transport/tag_ring.h"

#include "support/message.h"

namespace torc {

StatusOr<TagRange> TagRing::take(std::uint32_t count) {
  if (count > size_) {
    return Status(StatusCode::kUnsupported, message("the schedule needs ", count,
                                                    " message tags, the communicator has ", size_));
  }
  const TagRange range = pass(count);
  hold(range);
  return range;
}

void TagRing::hold(const TagRange& range) {
  held_.push_back({range.begin, false});
  ++held_count_;
}

void TagRing::release(const TagRange& range) {
  const std::uint64_t oldest = next_number_ - held_.size();
  held_[range.number - oldest].released = true;
  --held_count_;
  while (!held_.empty() && held_.front().released)
    held_.pop_front();
}

}  // namespace torc
