// Executor: layout of a flat program at creation, and the loop that runs it.
#include "runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace torc {
namespace {

// Local work between two looks at the network: about what one core does in a few microseconds.
constexpr std::size_t kBytesBetweenPolls = 32 * 1024;

/// Walks the runs of a region from front to back as memory.
class RegionCursor {
 public:
  RegionCursor(const FlatProgram& program, const FlatRegion& region, const Buffers& buffers)
      : extents_(program.extentsOf(region)),
        base_(baseOf(region.buffer, buffers)),
        element_bytes_(buffers.element_bytes) {}

  bool done() const { return index_ == extents_.size(); }
  std::uint64_t available() const { return extents_[index_].length - used_; }
  std::byte* pointer() const { return base_ + (extents_[index_].offset + used_) * element_bytes_; }
  void skip(std::uint64_t elements) {
    used_ += elements;
    if (used_ == extents_[index_].length) {
      ++index_;
      used_ = 0;
    }
  }

 private:
  // `in` is only ever read: the const is given back by the kinds of operation.
  static std::byte* baseOf(Buffer buffer, const Buffers& buffers) {
    switch (buffer) {
      case Buffer::kIn:
        return const_cast<std::byte*>(buffers.in);
      case Buffer::kOut:
        return buffers.out;
      case Buffer::kScratch:
        return buffers.scratch;
      case Buffer::kNone:
        break;
    }
    return nullptr;
  }

  std::span<const Extent> extents_;
  std::byte* base_;
  std::size_t element_bytes_;
  std::size_t index_ = 0;
  std::uint64_t used_ = 0;
};

Status checkAddressable(const FlatProgram& program, const Buffers& buffers) {
  const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
  const std::uint64_t elements =
      std::max({program.in_elements, program.out_elements, program.scratch_elements});
  if (buffers.element_bytes == 0 || elements <= most / buffers.element_bytes) return {};
  return {StatusCode::kOverflow, "a buffer of " + std::to_string(elements) + " elements of " +
                                     std::to_string(buffers.element_bytes) +
                                     " bytes is larger than the address space"};
}

}  // namespace

Executor::Executor(const Reducer& reducer, std::unique_ptr<Transport> transport)
    : reducer_(reducer), transport_(std::move(transport)) {}

Executor::~Executor() = default;

StatusOr<std::unique_ptr<Executor>> Executor::create(const FlatProgram& program,
                                                     const Buffers& buffers, const Reducer& reducer,
                                                     std::unique_ptr<Transport> transport,
                                                     const MessagePieces& pieces) {
  if (Status status = checkAddressable(program, buffers); !status.ok()) return status;
  std::unique_ptr<Executor> executor(new Executor(reducer, std::move(transport)));
  if (Status status = executor->lay(program, buffers, pieces); !status.ok()) return status;
  return executor;
}

Status Executor::lay(const FlatProgram& program, const Buffers& buffers,
                     const MessagePieces& pieces) {
  std::vector<std::size_t> piece_bytes;
  element_bytes_ = buffers.element_bytes;
  steps_.resize(program.operations.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const FlatOperation& operation = program.operations[i];
    steps_[i].source = operation.source;
    if (sends(operation.kind) || receives(operation.kind)) {
      piece_bytes.clear();
      if (!pieces.empty()) {
        for (std::uint64_t elements : pieces[i])
          piece_bytes.push_back(elements * element_bytes_);
      }
      Status status = layMessage(program, operation, buffers, piece_bytes, steps_[i]);
      if (!status.ok()) {
        return status.annotated("operation " + std::to_string(operation.source) + " (" +
                                std::string(name(operation.kind)) + ", rank " +
                                std::to_string(operation.peer) + ")");
      }
      step_of_channel_.resize(steps_[i].channel + 1);
      step_of_channel_[steps_[i].channel] = static_cast<std::uint32_t>(i);
    }
    layWork(program, operation, buffers, steps_[i]);
  }
  laySuccessors(program);
  joinCopies();
  segments_ = {};

  waiting_.resize(steps_.size());
  messages_.resize(step_of_channel_.size());
  local_.resize(steps_.size());
  completed_.resize(step_of_channel_.size());
  return transport_->commit();
}

Status Executor::layMessage(const FlatProgram& program, const FlatOperation& operation,
                            const Buffers& buffers, std::span<const std::size_t> pieces,
                            Step& step) {
  const bool sending = sends(operation.kind);
  const FlatRegion& region = sending                                        ? operation.a
                             : operation.kind == OperationKind::kRecvReduce ? operation.b
                                                                            : operation.dst;
  segments_.clear();
  for (RegionCursor cursor(program, region, buffers); !cursor.done();) {
    const std::uint64_t elements = cursor.available();
    std::byte* data = cursor.pointer();
    const std::size_t bytes = elements * element_bytes_;
    if (!segments_.empty() && segments_.back().data + segments_.back().bytes == data) {
      segments_.back().bytes += bytes;
    } else if (bytes > 0) {
      segments_.push_back({data, bytes});
    }
    cursor.skip(elements);
  }
  StatusOr<ChannelId> channel =
      sending ? transport_->prepareSend(operation.peer, operation.tag, segments_, pieces)
              : transport_->prepareRecv(operation.peer, operation.tag, segments_, pieces);
  if (!channel.ok()) return channel.status();
  step.channel = *channel;
  return {};
}

void Executor::layWork(const FlatProgram& program, const FlatOperation& operation,
                       const Buffers& buffers, Step& step) {
  const bool copies = operation.kind == OperationKind::kCopy;
  const bool reduces =
      operation.kind == OperationKind::kReduce || operation.kind == OperationKind::kRecvReduce;
  if (!copies && !reduces) return;

  step.first_stretch = static_cast<std::uint32_t>(stretches_.size());
  RegionCursor dst(program, operation.dst, buffers);
  RegionCursor a(program, operation.a, buffers);
  // A copy reads nothing but a.
  RegionCursor b(program, reduces ? operation.b : operation.a, buffers);
  while (!dst.done()) {
    const std::uint64_t elements = std::min({dst.available(), a.available(), b.available()});
    const std::size_t count = copies ? elements * element_bytes_ : elements;
    const std::size_t unit = copies ? 1 : element_bytes_;
    const bool first = stretches_.size() == step.first_stretch;
    Stretch* last = first ? nullptr : &stretches_.back();
    if (copies && dst.pointer() == a.pointer()) {
      // In place: source and destination are the same memory.
    } else if (last != nullptr && last->dst + last->count * unit == dst.pointer() &&
               last->a + last->count * unit == a.pointer() &&
               last->b + last->count * unit == b.pointer()) {
      last->count += count;
    } else if (elements > 0) {
      stretches_.push_back({dst.pointer(), a.pointer(), b.pointer(), count});
    }
    dst.skip(elements);
    a.skip(elements);
    b.skip(elements);
  }
  step.stretch_count = static_cast<std::uint32_t>(stretches_.size()) - step.first_stretch;
  step.work = reduces ? Work::kReduce : Work::kCopy;
}

void Executor::laySuccessors(const FlatProgram& program) {
  dependence_counts_.resize(steps_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const FlatOperation& operation = program.operations[i];
    dependence_counts_[i] = operation.dependence_count;
    if (operation.dependence_count == 0) roots_.push_back(static_cast<std::uint32_t>(i));
    for (std::uint32_t d : program.dependencesOf(operation))
      ++steps_[d].successor_count;
  }
  // Receives first: a message that finds its receive posted is spared a copy.
  std::stable_partition(roots_.begin(), roots_.end(), [&](std::uint32_t root) {
    return receives(program.operations[root].kind);
  });

  std::uint32_t next = 0;
  for (Step& step : steps_) {
    step.first_successor = next;
    next += step.successor_count;
    step.successor_count = 0;
  }
  successors_.resize(next);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    for (std::uint32_t d : program.dependencesOf(program.operations[i])) {
      Step& step = steps_[d];
      successors_[step.first_successor + step.successor_count++] = static_cast<std::uint32_t>(i);
    }
  }
}

/// Copies that wait for nothing and whose memory adjoins, as the parts of the own block in an
/// allgather, become one: the first does the work of those behind it. A long memcpy is faster per
/// byte than two halves (from some size on it bypasses the caches).
void Executor::joinCopies() {
  Step* first = nullptr;
  for (std::uint32_t root : roots_) {
    Step& step = steps_[root];
    if (step.work != Work::kCopy || step.stretch_count != 1) continue;
    const Stretch& mine = stretches_[step.first_stretch];
    if (first != nullptr) {
      Stretch& joined = stretches_[first->first_stretch];
      if (joined.dst + joined.count == mine.dst && joined.a + joined.count == mine.a) {
        joined.count += mine.count;
        step.stretch_count = 0;
        continue;
      }
    }
    first = &step;
  }
}

std::size_t Executor::tableBytes() const {
  auto bytes = [](const auto& table) { return table.capacity() * sizeof(table[0]); };
  return sizeof(*this) + bytes(steps_) + bytes(successors_) + bytes(dependence_counts_) +
         bytes(roots_) + bytes(stretches_) + bytes(step_of_channel_) + bytes(waiting_) +
         bytes(messages_) + bytes(local_) + bytes(completed_);
}

std::uint32_t Executor::firstPending() const {
  if (progress_ == Progress::kIdle || progress_ == Progress::kDone) return kNone;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (waiting_[i] != kNone) return steps_[i].source;
  }
  return kNone;
}

Progress Executor::start() {
  std::copy(dependence_counts_.begin(), dependence_counts_.end(), waiting_.begin());
  messages_head_ = messages_tail_ = 0;
  local_head_ = local_tail_ = 0;
  remaining_ = steps_.size();
  progress_ = Progress::kActive;
  for (std::uint32_t root : roots_)
    enqueue(root);
  if (!startReady() || !workFor(kBytesBetweenPolls)) return fail();
  return remaining_ == 0 ? progress_ = Progress::kDone : progress_;
}

inline void Executor::enqueue(std::uint32_t step) {
  if (steps_[step].channel != kNone) {
    messages_[messages_tail_++] = step;
  } else {
    local_[local_tail_++] = step;
  }
}

inline void Executor::complete(std::uint32_t index) {
  const Step& step = steps_[index];
  waiting_[index] = kNone;
  --remaining_;
  const std::uint32_t* successor = successors_.data() + step.first_successor;
  for (std::uint32_t i = 0; i < step.successor_count; ++i) {
    if (--waiting_[successor[i]] == 0) enqueue(successor[i]);
  }
}

/// Does the local work of a step; returns the bytes that it wrote.
std::size_t Executor::work(const Step& step) {
  std::size_t bytes = 0;
  const Stretch* stretch = stretches_.data() + step.first_stretch;
  for (std::uint32_t i = 0; i < step.stretch_count; ++i, ++stretch) {
    if (step.work == Work::kReduce) {
      reducer_(stretch->dst, stretch->a, stretch->b, stretch->count);
      bytes += stretch->count * element_bytes_;
    } else {
      std::memcpy(stretch->dst, stretch->a, stretch->count);
      bytes += stretch->count;
    }
  }
  return bytes;
}

inline bool Executor::startReady() {
  while (messages_head_ < messages_tail_) {
    if (!transport_->start(steps_[messages_[messages_head_++]].channel)) return false;
  }
  return true;
}

Progress Executor::fail() {
  status_ = transport_->status();
  transport_->abandon();
  progress_ = Progress::kFailed;
  return progress_;
}

/// Takes in `count` messages that the transport has reported in completed_, and starts what they
/// make ready. -1: the transport has failed.
inline bool Executor::take(int count) {
  if (count < 0) return false;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t index = step_of_channel_[completed_[i]];
    if (steps_[index].work == Work::kNone) {
      complete(index);
    } else {
      local_[local_tail_++] = index;
    }
  }
  return startReady();
}

/// Local work until about `bytes` are written.
inline bool Executor::workFor(std::size_t bytes) {
  for (std::size_t written = 0; local_head_ < local_tail_ && written < bytes;) {
    const std::uint32_t index = local_[local_head_++];
    written += work(steps_[index]);
    complete(index);
    if (!startReady()) return false;  // peers wait for these
  }
  return true;
}

Progress Executor::advance() {
  if (progress_ != Progress::kActive) return progress_;
  for (;;) {
    const int count = transport_->poll(completed_);
    if (!take(count)) return fail();
    const bool worked = local_head_ < local_tail_;
    if (!workFor(kBytesBetweenPolls)) return fail();
    if (remaining_ == 0) return progress_ = Progress::kDone;
    if (count == 0 && !worked) return progress_;
  }
}

Progress Executor::run() {
  if (progress_ != Progress::kActive) return progress_;
  for (;;) {
    if (!workFor(std::numeric_limits<std::size_t>::max())) return fail();
    if (remaining_ == 0) return progress_ = Progress::kDone;
    if (!take(transport_->wait(completed_))) return fail();
  }
}

}  // namespace torc
