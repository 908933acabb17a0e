// Executor: the loop that runs a compiled program.
#include "runtime/execution/executor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <sched.h>

namespace torc::runtime {
namespace {

// Bytes of local work between two polls of the network: a few microseconds of one core.
constexpr std::size_t kBytesBetweenPolls = 32 * 1024;

}  // namespace

std::size_t Executor::tableBytes() const {
  return sizeof(*this) + transport_->tableBytes() +
         bytesOfTables(steps_, successors_, dependence_counts_, roots_, stretches_, stretch_loops_,
                       step_of_channel_, tasks_, waiting_, messages_, local_, completed_);
}

std::uint32_t Executor::firstPending() const {
  if (progress_ == Progress::kIdle || progress_ == Progress::kDone) return kNone;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (waiting_[i] != kNone) return steps_[i].source;
  }
  return kNone;
}

void Executor::bind(const Buffers& buffers, const Reducer& reducer) {
  reducer_ = reducer;
  reduces_pieces_ = reducer.cookie == nullptr;
  // `in` is only read: the kinds of operation ensure that.
  bases_ = {const_cast<std::byte*>(buffers.in), buffers.out, buffers.scratch, nullptr};
  transport_->bind(bases_);
}

Progress Executor::start() {
  std::copy(dependence_counts_.begin(), dependence_counts_.end(), waiting_.begin());
  messages_head_ = messages_tail_ = 0;
  local_head_ = local_tail_ = 0;
  remaining_ = steps_.size();
  progress_ = Progress::kActive;
  transport_->beginRound();
  for (std::uint32_t root : roots_)
    enqueue(root);
  if (!startReady() || !workFor(kBytesBetweenPolls)) return fail();
  return remaining_ == 0 ? finish() : progress_;
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

/// Does the local work of a step; returns the number of bytes written.
std::size_t Executor::work(const Step& step) {
  std::size_t bytes = 0;
  const Stretch* stretch = stretches_.data() + step.first_stretch;
  for (std::uint32_t i = 0; i < step.stretch_count; ++i, ++stretch) {
    if (stretch->loop_count > 0) {
      bytes += workStrided(step, *stretch);
    } else {
      workPlain(step, *stretch, 0, stretch->count);
      bytes += stretch->count * unitOf(step);
    }
  }
  return bytes;
}

/// For a stretch without loops: `count` elements from `first` on.
inline void Executor::workPlain(const Step& step, const Stretch& stretch, std::size_t first,
                                std::size_t count) {
  const std::size_t offset = first * unitOf(step);
  std::byte* dst = stretch.dst.in(bases_) + offset;
  const std::byte* a = stretch.a.in(bases_) + offset;
  if (step.work == Work::kReduce) {
    reducer_(dst, a, stretch.b.in(bases_) + offset, count);
  } else {
    std::memcpy(dst, a, count);
  }
}

/// The same for one stretch with loops.
std::size_t Executor::workStrided(const Step& step, const Stretch& stretch) {
  std::byte* dst = stretch.dst.in(bases_);
  const std::byte* a = stretch.a.in(bases_);
  const std::byte* b = stretch.b.in(bases_);
  std::size_t runs = 0;
  const AlignedLoop* loops = stretch_loops_.data() + stretch.first_loop;
  AlignedWalk walk(loops, stretch.loop_count - 1);  // around the fastest loop
  const AlignedLoop& fastest = loops[stretch.loop_count - 1];
  do {
    std::array<std::ptrdiff_t, kOperands> at;
    for (std::size_t k = 0; k < kOperands; ++k)
      at[k] = static_cast<std::ptrdiff_t>(walk.distances()[k]);
    for (std::uint32_t i = 0;;) {
      if (step.work == Work::kReduce) {
        reducer_(dst + at[0], a + at[1], b + at[2], stretch.count);
      } else {
        std::memcpy(dst + at[0], a + at[1], stretch.count);
      }
      if (++i == fastest[0].repeat) break;
      for (std::size_t k = 0; k < kOperands; ++k) {
        at[k] += static_cast<std::ptrdiff_t>(fastest[k].stride);
        if (i == fastest[k].turn) at[k] -= static_cast<std::ptrdiff_t>(fastest[k].back);
      }
    }
    runs += fastest[0].repeat;
  } while (walk.next());
  return runs * stretch.count * unitOf(step);
}

/// The result of `work`, computed in advance.
std::size_t Executor::bytesOf(const Step& step) const {
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < step.stretch_count; ++i) {
    const Stretch& stretch = stretches_[step.first_stretch + i];
    std::size_t runs = 1;
    for (std::uint32_t k = 0; k < stretch.loop_count; ++k)
      runs *= stretch_loops_[stretch.first_loop + k][0].repeat;
    bytes += runs * stretch.count * unitOf(step);
  }
  return bytes;
}

/// Does a part of a step's work, on any thread: it writes only the step's own memory.
void Executor::doPart(const CoreTask& task, std::uint32_t part) {
  const Step& step = steps_[task.id];
  if (task.parts == 1) {
    work(step);
    return;
  }
  // Parts divide the stretches as one sequence.
  std::size_t count = unitsPerPart(step), first = part * count;
  const Stretch* stretch = stretches_.data() + step.first_stretch;
  for (std::uint32_t i = 0; i < step.stretch_count && count > 0; ++i, ++stretch) {
    if (first >= stretch->count) {
      first -= stretch->count;
      continue;
    }
    const std::size_t some = std::min(count, stretch->count - first);
    workPlain(step, *stretch, first, some);
    count -= some;
    first = 0;
  }
}

/// For a recv_reduce: the received data are operand b.
void Executor::takePiece(ChannelId channel, std::size_t offset, const std::byte* data,
                         std::size_t bytes) {
  const Step& step = steps_[step_of_channel_[channel]];
  for (const Stretch* stretch = stretches_.data() + step.first_stretch; bytes > 0; ++stretch) {
    const std::size_t length = stretch->count * element_bytes_;
    if (offset >= length) {
      offset -= length;
      continue;
    }
    const std::size_t some = std::min(bytes, length - offset);
    if (reduces_pieces_) {
      reducer_((stretch->dst + offset).in(bases_), (stretch->a + offset).in(bases_), data,
               some / element_bytes_);
    } else {
      std::memcpy((stretch->b + offset).in(bases_), data, some);
    }
    data += some;
    bytes -= some;
    offset = 0;
  }
}

inline bool Executor::startReady() {
  while (messages_head_ < messages_tail_) {
    const std::uint32_t index = messages_[messages_head_++];
    if (trace_ != nullptr) trace_->beginMessage(index);
    if (!transport_->start(steps_[index].channel)) return false;
  }
  return true;
}

inline Progress Executor::finish() {
  transport_->endRound();
  return progress_ = Progress::kDone;
}

Progress Executor::fail() {
  abandon(transport_->status());
  return progress_;
}

void Executor::abandon(const Status& status) {
  status_ = status;
  if (given_ > 0) cores_->withdraw(*this);
  given_ = 0;
  transport_->abandon();
  progress_ = Progress::kFailed;
}

/// Handles `count` messages that the transport has reported in completed_, and starts the
/// operations that became ready. -1: the transport has failed.
inline bool Executor::take(int count) {
  if (count < 0) return false;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t index = step_of_channel_[completed_[i]];
    if (trace_ != nullptr) trace_->endMessage(index);
    if (steps_[index].work == Work::kNone) {
      complete(index);
    } else if (steps_[index].in_pieces && reduces_pieces_) {
      // Its work was done while the message arrived.
      if (trace_ != nullptr) {
        trace_->beginWork(index);
        trace_->endWork(index, bytesOf(steps_[index]));
      }
      complete(index);
    } else {
      local_[local_tail_++] = index;
    }
  }
  return startReady();
}

/// Does local work until about `bytes` are written.
inline bool Executor::workFor(std::size_t bytes) {
  for (std::size_t written = 0; local_head_ < local_tail_ && written < bytes;) {
    const std::uint32_t index = local_[local_head_++];
    if (trace_ != nullptr) trace_->beginWork(index);
    if (cores_ != nullptr && give(index)) continue;
    const std::size_t bytes_of_step = work(steps_[index]);
    if (trace_ != nullptr) trace_->endWork(index, bytes_of_step);
    written += bytes_of_step;
    complete(index);
    if (!startReady()) return false;  // peers wait for these messages
  }
  return true;
}

/// Gives the work of a step to core threads; false: it is too short.
bool Executor::give(std::uint32_t index) {
  const Step& step = steps_[index];
  if (step.task == kNone || (step.work == Work::kReduce && !reduces_pieces_)) return false;
  ++given_;
  cores_->give(*this, tasks_[step.task]);
  return true;
}

/// Handles work that core threads have finished; without any, does some of their work. Returns
/// whether anything was done.
bool Executor::collectGiven() {
  const unsigned count = cores_->collect(*this, [this](std::uint32_t index) {
    if (trace_ != nullptr) trace_->endWork(index, bytesOf(steps_[index]));
    complete(index);
  });
  given_ -= count;
  return count > 0 || cores_->help();
}

Progress Executor::advance() {
  if (progress_ != Progress::kActive) return progress_;
  for (;;) {
    const int count = transport_->poll(completed_);
    if (!take(count)) return fail();
    bool worked = local_head_ < local_tail_;
    if (!workFor(kBytesBetweenPolls)) return fail();
    if (given_ > 0 && count == 0 && !worked) {
      worked = collectGiven();
      if (!startReady()) return fail();
    }
    if (remaining_ == 0) return finish();
    if (count == 0 && !worked) return progress_;
  }
}

Progress Executor::run() {
  if (progress_ != Progress::kActive) return progress_;
  for (;;) {
    if (!workFor(std::numeric_limits<std::size_t>::max())) return fail();
    if (remaining_ == 0) return finish();
    if (given_ > 0) {
      if (advance() != Progress::kActive) return progress_;
      sched_yield();  // a core thread may want this core
      continue;
    }
    if (!take(transport_->wait(completed_))) return fail();
  }
}

}  // namespace torc::runtime
