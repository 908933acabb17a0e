// Executor: layout of a flat program at creation.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "runtime/execution/executor.h"

namespace torc {
namespace {

/// Walks the runs of a region from front to back as memory.
class RegionCursor {
 public:
  RegionCursor(const FlatProgram& program, const FlatRegion& region, const Buffers& buffers)
      : extents_(program.extentsOf(region)),
        base_(baseOf(region.buffer, buffers)),
        element_bytes_(buffers.element_bytes) {}

  bool done() const { return index_ == extents_.size(); }
  std::uint64_t available() const { return extents_[index_].length - used_; }
  Place place() const { return {base_, (extents_[index_].offset + used_) * element_bytes_}; }
  void skip(std::uint64_t elements) {
    used_ += elements;
    if (used_ == extents_[index_].length) {
      ++index_;
      used_ = 0;
    }
  }

 private:
  static Base baseOf(Buffer buffer, const Buffers& buffers) {
    switch (buffer) {
      case Buffer::kIn:
        return buffers.in_is_out ? Base::kOut : Base::kIn;
      case Buffer::kScratch:
        return Base::kScratch;
      case Buffer::kOut:
      case Buffer::kNone:
        break;
    }
    return Base::kOut;
  }

  std::span<const Extent> extents_;
  Base base_;
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

Executor::Executor(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

Executor::~Executor() = default;

StatusOr<std::unique_ptr<Executor>> Executor::create(const FlatProgram& program,
                                                     const Buffers& buffers, const Reducer& reducer,
                                                     std::unique_ptr<Transport> transport,
                                                     const MessagePieces& pieces) {
  if (Status status = checkAddressable(program, buffers); !status.ok()) return status;
  std::unique_ptr<Executor> executor(new Executor(std::move(transport)));
  if (Status status = executor->lay(program, buffers, pieces); !status.ok()) return status;
  if (Status status = executor->bind(buffers, reducer); !status.ok()) return status;
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
    const Place place = cursor.place();
    const std::size_t bytes = elements * element_bytes_;
    if (!segments_.empty() && segments_.back().place + segments_.back().bytes == place) {
      segments_.back().bytes += bytes;
    } else if (bytes > 0) {
      segments_.push_back({place, bytes});
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
    if (copies && dst.place() == a.place()) {
      // In place: source and destination are the same memory.
    } else if (last != nullptr && last->dst + last->count * unit == dst.place() &&
               last->a + last->count * unit == a.place() &&
               last->b + last->count * unit == b.place()) {
      last->count += count;
    } else if (elements > 0) {
      stretches_.push_back({dst.place(), a.place(), b.place(), count});
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

}  // namespace torc
