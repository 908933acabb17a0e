// Executor: compiles a flat program at creation.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "runtime/execution/executor.h"

namespace torc::runtime {
namespace {

// Up to so many runs are listed one by one, which is faster than loops.
constexpr std::uint64_t kFewRuns = 16;

Base baseOf(Buffer buffer, const Buffers& buffers) {
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

/// Walks memory by whole segments with their loops; only a single run is split.
class SegmentCursor {
 public:
  explicit SegmentCursor(const Segments& segments) : segments_(segments) {}

  bool done() const { return index_ == segments_.list.size(); }
  /// Remaining bytes of the segment, over all its runs.
  std::size_t available() const { return segment().bytes * iterations(loops()) - used_; }
  bool canTake(std::size_t bytes) const { return loops().empty() || bytes == available(); }
  /// The next `bytes`, which must be available.
  StridedOperand operand(std::size_t bytes) const {
    return {loops().empty() ? bytes : segment().bytes, loops()};
  }
  Place place() const { return segment().place + used_; }
  void skip(std::size_t bytes) {
    used_ += bytes;
    if (available() == 0) {
      ++index_;
      used_ = 0;
    }
  }

 private:
  const Segment& segment() const { return segments_.list[index_]; }
  std::span<const RunLoop> loops() const { return segments_.loopsOf(segment()); }

  Segments segments_;
  std::size_t index_ = 0;
  std::size_t used_ = 0;
};

/// Walks operands of equally many bytes together: calls visit(bytes, cursors) for each part that
/// lies in one segment of each operand. Returns false as soon as `visit` does.
template <typename Cursor, typename Visit>
bool layRuns(const std::array<Segments, kOperands>& operands, Visit visit) {
  std::array<Cursor, kOperands> at{Cursor(operands[0]), Cursor(operands[1]), Cursor(operands[2])};
  while (!at[0].done()) {
    const std::size_t bytes = std::min({at[0].available(), at[1].available(), at[2].available()});
    if (!visit(bytes, at)) return false;
    for (Cursor& cursor : at)
      cursor.skip(bytes);
  }
  return true;
}

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

Executor::Executor(std::unique_ptr<Transport> transport, CoreThreads* cores)
    : transport_(std::move(transport)), cores_(cores) {}

Executor::~Executor() {
  if (given_ > 0) cores_->withdraw(*this);
}

StatusOr<std::unique_ptr<Executor>> Executor::create(const FlatProgram& program,
                                                     const Buffers& buffers, const Reducer& reducer,
                                                     std::unique_ptr<Transport> transport,
                                                     const MessageFragments& fragments,
                                                     CoreThreads* cores) {
  if (Status status = checkAddressable(program, buffers); !status.ok()) return status;
  std::unique_ptr<Executor> executor(new Executor(std::move(transport), cores));
  executor->layOut(program, buffers, fragments);
  if (Status status = executor->transport_->status(); !status.ok()) return status;
  executor->bind(buffers, reducer);
  return executor;
}

void Executor::layOut(const FlatProgram& program, const Buffers& buffers,
                      const MessageFragments& fragments) {
  std::vector<std::size_t> fragment_bytes;
  element_bytes_ = buffers.element_bytes;
  for (RunLoop loop : program.loops) {
    loop.stride *= element_bytes_;
    loop.back *= element_bytes_;
    loops_.push_back(loop);
  }
  // Whether another operation depends on this one.
  std::vector<bool> is_awaited(program.operations.size());
  for (const std::uint32_t d : program.dependences)
    is_awaited[d] = true;
  steps_.resize(program.operations.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const FlatOperation& operation = program.operations[i];
    steps_[i].source = operation.source;
    if (sends(operation.kind) || receives(operation.kind)) {
      fragment_bytes.clear();
      if (!fragments.empty()) {
        for (std::uint64_t elements : fragments[i])
          fragment_bytes.push_back(elements * element_bytes_);
      }
      const bool synchronous =
          program.synchronous_sends && is_awaited[i] && !isSignal(operation.kind);
      steps_[i].channel = layOutMessage(program, operation, buffers, fragment_bytes,
                                        synchronous ? SendMode::kSynchronous : SendMode::kStandard);
      step_of_channel_.resize(steps_[i].channel + 1);
      step_of_channel_[steps_[i].channel] = static_cast<std::uint32_t>(i);
    }
    layWork(program, operation, buffers, steps_[i]);
  }
  laySuccessors(program);
  joinCopies();
  if (cores_ != nullptr) layTasks();
  loops_ = {};

  waiting_.resize(steps_.size());
  messages_.resize(step_of_channel_.size());
  local_.resize(steps_.size());
  completed_.resize(step_of_channel_.size());
  transport_->commit();
  layPieces(program);
}

/// Selects work for core threads: work that takes longer than to wake one. Its message arrives
/// whole, so that the caller only copies it.
void Executor::layTasks() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (step.work == Work::kNone) continue;
    const std::size_t bytes = bytesOf(step);
    if (bytes < 2 * kPartBytes) continue;
    const auto stretches = std::span(stretches_).subspan(step.first_stretch, step.stretch_count);
    const auto repeats = [](const Stretch& stretch) { return stretch.loop_count > 0; };
    const std::size_t per_part = unitsPerPart(step);
    const std::size_t parts = std::ranges::any_of(stretches, repeats)
                                  ? 1
                                  : (bytes / unitOf(step) + per_part - 1) / per_part;
    step.task = static_cast<std::uint32_t>(tasks_.size());
    tasks_.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(parts));
  }
}

/// Lets the transport deliver messages in pieces that are reduced, if no other operation reads the
/// scratch that would have received them.
void Executor::layPieces(const FlatProgram& program) {
  // Scratch that operations read, except the data of recv_reduce: [begin, end).
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
  const auto read = [&](const FlatRegion& region) {
    if (region.buffer != Buffer::kScratch) return;
    for (const StridedExtent& extent : program.stridedExtentsOf(region)) {
      begin = extent.loop_count > 0 ? 0 : std::min(begin, extent.offset);
      end = extent.loop_count > 0 ? program.scratch_elements
                                  : std::max(end, extent.offset + extent.length);
    }
  };
  for (const FlatOperation& operation : program.operations) {
    read(operation.a);
    if (operation.kind != OperationKind::kRecvReduce) read(operation.b);
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const FlatOperation& operation = program.operations[i];
    Step& step = steps_[i];
    if (operation.kind != OperationKind::kRecvReduce || operation.b.buffer != Buffer::kScratch ||
        step.task != kNone) {
      continue;
    }
    const auto isApart = [&](const StridedExtent& extent) {
      return extent.loop_count == 0 &&
             (extent.offset + extent.length <= begin || extent.offset >= end);
    };
    const auto stretches = std::span(stretches_).subspan(step.first_stretch, step.stretch_count);
    const auto repeats = [](const Stretch& stretch) { return stretch.loop_count > 0; };
    if (!std::ranges::all_of(program.stridedExtentsOf(operation.b), isApart) ||
        std::ranges::any_of(stretches, repeats)) {
      continue;
    }
    step.in_pieces = transport_->handOver(step.channel, this, element_bytes_);
  }
}

/// The memory of a region; its loops refer to loops_.
std::vector<Segment> Executor::segmentsOf(const FlatProgram& program, const FlatRegion& region,
                                          const Buffers& buffers) const {
  std::vector<Segment> segments;
  const Base base = baseOf(region.buffer, buffers);
  for (const StridedExtent& extent : program.stridedExtentsOf(region)) {
    const Place place(base, extent.offset * element_bytes_);
    const std::size_t bytes = extent.length * element_bytes_;
    if (bytes == 0) continue;
    if (!segments.empty() && segments.back().loop_count == 0 && extent.loop_count == 0 &&
        segments.back().place + segments.back().bytes == place) {
      segments.back().bytes += bytes;
    } else {
      segments.push_back({place, bytes, extent.first_loop, extent.loop_count});
    }
  }
  return segments;
}

ChannelId Executor::layOutMessage(const FlatProgram& program, const FlatOperation& operation,
                                  const Buffers& buffers, std::span<const std::size_t> fragments,
                                  SendMode mode) {
  const bool sending = sends(operation.kind);
  const FlatRegion& region = sending                                        ? operation.a
                             : operation.kind == OperationKind::kRecvReduce ? operation.b
                                                                            : operation.dst;
  return transport_->prepare({operation.peer, operation.tag, sending, mode},
                             {segmentsOf(program, region, buffers), loops_}, fragments);
}

void Executor::layWork(const FlatProgram& program, const FlatOperation& operation,
                       const Buffers& buffers, Step& step) {
  const bool copies = operation.kind == OperationKind::kCopy;
  const bool reduces =
      operation.kind == OperationKind::kReduce || operation.kind == OperationKind::kRecvReduce;
  if (!copies && !reduces) return;

  step.first_stretch = static_cast<std::uint32_t>(stretches_.size());
  step.work = reduces ? Work::kReduce : Work::kCopy;
  const std::vector<Segment> dst = segmentsOf(program, operation.dst, buffers);
  const std::vector<Segment> a = segmentsOf(program, operation.a, buffers);
  std::vector<Segment> b;
  if (reduces) b = segmentsOf(program, operation.b, buffers);
  const std::array<Segments, kOperands> operands{
      {{dst, loops_}, {a, loops_}, {reduces ? b : a, loops_}}};
  if (!layStrided(operands, step)) {
    stretches_.resize(step.first_stretch);
    layRuns<SegmentWalk>(operands, [&](std::size_t bytes, const auto& walks) {
      addStretch({walks[0].place(), walks[1].place(), walks[2].place(), bytes / unitOf(step)},
                 step);
      return true;
    });
  }
  step.stretch_count = static_cast<std::uint32_t>(stretches_.size()) - step.first_stretch;
}

/// Compiles the work of an operation by whole segments; false if their runs do not nest.
bool Executor::layStrided(const std::array<Segments, kOperands>& operands, const Step& step) {
  return layRuns<SegmentCursor>(operands, [&](std::size_t bytes, const auto& at) {
    if (!at[0].canTake(bytes) || !at[1].canTake(bytes) || !at[2].canTake(bytes)) return false;
    const std::optional<AlignedLoops> aligned =
        alignLoops({at[0].operand(bytes), at[1].operand(bytes), at[2].operand(bytes)});
    if (!aligned) return false;
    const Stretch first{at[0].place(), at[1].place(), at[2].place(),
                        aligned->length / unitOf(step)};
    if (aligned->runs() > kFewRuns) {
      addStretch(first, step, aligned->loops);
    } else {
      AlignedWalk walk(aligned->loops.data(), static_cast<std::uint32_t>(aligned->loops.size()));
      do {
        const auto& [to, from_a, from_b] = walk.distances();
        addStretch({first.dst + to, first.a + from_a, first.b + from_b, first.count}, step);
      } while (walk.next());
    }
    return true;
  });
}

/// Adds a stretch to `step`, the last one. Joins it to the previous stretch if they are adjacent;
/// omits a copy to itself.
void Executor::addStretch(Stretch stretch, const Step& step, std::span<const AlignedLoop> loops) {
  const bool copies = step.work == Work::kCopy;
  const auto onItself = [](const AlignedLoop& loop) { return loop[0] == loop[1]; };
  if (stretch.count == 0 ||
      (copies && stretch.dst == stretch.a && std::ranges::all_of(loops, onItself))) {
    return;
  }
  if (stretches_.size() > step.first_stretch && loops.empty()) {
    Stretch& last = stretches_.back();
    const std::size_t bytes = last.count * (copies ? 1 : element_bytes_);
    if (last.loop_count == 0 && last.dst + bytes == stretch.dst && last.a + bytes == stretch.a &&
        last.b + bytes == stretch.b) {
      last.count += stretch.count;
      return;
    }
  }
  stretch.loop_count = static_cast<std::uint32_t>(loops.size());
  if (!loops.empty()) stretch.first_loop = addLoops(loops, stretch_loops_);
  stretches_.push_back(stretch);
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
  // Receives first: a message with a posted receive needs no copy.
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

/// Copies without dependences and with adjacent memory, such as the parts of the own block in an
/// allgather, become one: the first does the work of the others. A long memcpy is faster per byte
/// than two halves (from some size on it bypasses the caches). A core thread may do the first copy
/// while the caller continues: then copies with successors are not joined to it.
void Executor::joinCopies() {
  Step* first = nullptr;
  for (std::uint32_t root : roots_) {
    Step& step = steps_[root];
    if (step.work != Work::kCopy || step.stretch_count != 1) continue;
    const Stretch& mine = stretches_[step.first_stretch];
    if (mine.loop_count > 0) continue;
    if (first != nullptr && (cores_ == nullptr || step.successor_count == 0)) {
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

}  // namespace torc::runtime
