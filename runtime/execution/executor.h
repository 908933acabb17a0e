// Executor: runs the flat program of one rank over a transport.
//
// An operation starts when the count of its unfinished dependences reaches zero. Everything is
// laid out at creation: successor lists, message channels, the stretches of memory that local
// work touches. Between start and completion nothing is allocated, looked up or compared. The
// layout holds places relative to the buffers, so that it can be bound to others between rounds at
// no cost.
//
// Order of work: messages first, so that peers never wait for our arithmetic; local work in the
// order in which it became ready. What is added to what is fixed by the program: dst = a op b,
// for a recv_reduce dst = a op received. Results do not depend on the order of arrival. Where the
// transport has pieces of a message at hand, they are reduced from where they are as they come.
// Where there are core threads, they do what is long, each step's work in parts; messages stay with
// the caller. The bits are the same: an element is added by one thread, as the program says.
#ifndef TORC_RUNTIME_EXECUTION_EXECUTOR_H_
#define TORC_RUNTIME_EXECUTION_EXECUTOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/execution/aligned_loops.h"
#include "runtime/execution/core_threads.h"
#include "runtime/reductions/reduction.h"
#include "runtime/trace/round_trace.h"
#include "runtime/transport/transport.h"
#include "schedules/expansion/expand.h"
#include "support/status.h"

namespace torc::runtime {

/// Where a program's buffers lie. `in` and `out` may be the same memory where the collective
/// allows it; `scratch` overlaps neither. Aligned for the element type.
struct Buffers {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::byte* scratch = nullptr;
  std::size_t element_bytes = 1;  // from one element to the next
  bool in_is_out = false;         // the same memory
};

/// For every operation of a program the elements of its message's fragments, in order, the same at
/// both ends; an empty list where the message is one fragment (see Transport::prepare).
using MessageFragments = std::vector<std::vector<std::uint64_t>>;

enum class Progress : std::uint8_t {
  kIdle,    // not started since creation
  kActive,  // started, not complete
  kDone,    // complete; may be started again
  kFailed,  // see status(); cannot be started again
};

class Executor : private PieceTaker, private CoreTasks {
 public:
  /// Lays out `program` over `buffers`, and prepares its messages on `transport`. The program is
  /// not needed afterwards. `reducer` may be empty for a program that reduces nothing, `fragments`
  /// where all messages are whole. `cores`, which outlive its rounds, may help; null: none do.
  /// Errors: sizes beyond the address space, what the transport refuses.
  static StatusOr<std::unique_ptr<Executor>> create(const FlatProgram& program,
                                                    const Buffers& buffers, const Reducer& reducer,
                                                    std::unique_ptr<Transport> transport,
                                                    const MessageFragments& fragments = {},
                                                    CoreThreads* cores = nullptr);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Binds to other memory and another reduction on elements of the same size, `in_is_out` being as
  /// at creation: a later round is as if all had been made anew. Precondition: not active, not
  /// failed. Errors: a transport that is bound for good.
  Status bind(const Buffers& buffers, const Reducer& reducer);

  /// Records the operations of later rounds; nullptr: does not. Outlives the executor.
  /// Precondition: not active.
  void setTrace(RoundTrace* trace) { trace_ = trace; }

  /// Starts a round. Precondition: not active, not failed.
  Progress start();

  /// Does what can be done now and returns. Never waits.
  Progress advance();

  /// Runs the round to its end, waiting in the transport: where a wait is better than many looks.
  Progress run();

  /// Ends an active round as failed, with `status` as its error.
  void abandon(const Status& status);

  /// After a failed round: whether no message can touch the buffers any more. Never waits.
  bool drained() { return transport_->drained(); }

  Progress progress() const { return progress_; }
  const Status& status() const { return status_; }

  std::size_t operations() const { return steps_.size(); }
  std::size_t messages() const { return step_of_channel_.size(); }
  /// Operations of the round that are not complete.
  std::size_t remaining() const { return remaining_; }
  /// Whether core threads have work of the round.
  bool isWorking() const { return given_ > 0; }
  /// Bytes of memory for data that the transport has allocated.
  std::size_t bufferBytes() const { return transport_->bufferBytes(); }
  /// Bytes of the tables, the transport's included.
  std::size_t tableBytes() const;

  /// The first operation (index in the schedule) that is not complete, for error messages;
  /// kNone when there is none.
  std::uint32_t firstPending() const;

 private:
  enum class Work : std::uint8_t { kNone, kReduce, kCopy };

  /// A run of elements that local work touches, repeated by loops whose strides are bytes.
  struct Stretch {
    Place dst, a, b;
    std::size_t count;  // elements of a reduction, bytes of a copy; of one run
    std::uint32_t first_loop = 0;
    std::uint32_t loop_count = 0;
  };

  struct Step {
    std::uint32_t first_successor = 0;
    std::uint32_t successor_count = 0;
    ChannelId channel = kNone;
    std::uint32_t first_stretch = 0;
    std::uint32_t stretch_count = 0;
    std::uint32_t source = 0;
    std::uint32_t task = kNone;  // of core threads
    Work work = Work::kNone;
    bool in_pieces = false;  // the transport hands the message over: it is reduced as it comes
  };

  static constexpr std::size_t kPartBytes = std::size_t{64} * 1024;

  Executor(std::unique_ptr<Transport> transport, CoreThreads* cores);

  Status layOut(const FlatProgram& program, const Buffers& buffers,
                const MessageFragments& fragments);
  Status layOutMessage(const FlatProgram& program, const FlatOperation& operation,
                       const Buffers& buffers, std::span<const std::size_t> fragments,
                       SendMode mode, Step& step);
  void layWork(const FlatProgram& program, const FlatOperation& operation, const Buffers& buffers,
               Step& step);
  std::vector<Segment> segmentsOf(const FlatProgram& program, const FlatRegion& region,
                                  const Buffers& buffers) const;
  bool layStrided(const std::array<Segments, kOperands>& operands, const Step& step);
  void addStretch(Stretch stretch, const Step& step, std::span<const AlignedLoop> loops = {});
  void laySuccessors(const FlatProgram& program);
  void layPieces(const FlatProgram& program);
  void layTasks();
  void joinCopies();

  void takePiece(ChannelId channel, std::size_t offset, const std::byte* data,
                 std::size_t bytes) override;
  void doPart(const CoreTask& task, std::uint32_t part) override;
  /// Bytes of one of what the step's stretches count.
  std::size_t unitOf(const Step& step) const {
    return step.work == Work::kReduce ? element_bytes_ : 1;
  }
  /// Of those, in a part of its work: some microseconds of one core.
  std::size_t unitsPerPart(const Step& step) const {
    return std::max<std::size_t>(1, kPartBytes / unitOf(step));
  }
  std::size_t bytesOf(const Step& step) const;
  void enqueue(std::uint32_t step);
  void complete(std::uint32_t step);
  std::size_t work(const Step& step);
  void workPlain(const Step& step, const Stretch& stretch, std::size_t first, std::size_t count);
  std::size_t workStrided(const Step& step, const Stretch& stretch);
  bool give(std::uint32_t step);
  bool collectGiven();
  [[nodiscard]] bool startReady();
  [[nodiscard]] bool take(int count);
  [[nodiscard]] bool workFor(std::size_t bytes);
  Progress fail();
  Progress finish();

  RoundTrace* trace_ = nullptr;
  Reducer reducer_;
  Bases bases_{};
  std::size_t element_bytes_ = 1;
  // A kernel, which takes vectors apart: what a program has made of its own gets them whole.
  bool reduces_pieces_ = false;
  std::unique_ptr<Transport> transport_;
  CoreThreads* cores_ = nullptr;

  std::vector<Step> steps_;
  std::vector<CoreTask> tasks_;
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> dependence_counts_;  // as at the start of a round
  std::vector<std::uint32_t> roots_;              // steps without dependences
  std::vector<Stretch> stretches_;
  std::vector<AlignedLoop> stretch_loops_;
  std::vector<std::uint32_t> step_of_channel_;
  std::vector<RunLoop> loops_;  // of the program, in bytes; while it is laid out

  // State of the round.
  Progress progress_ = Progress::kIdle;
  Status status_;
  std::size_t remaining_ = 0;
  std::vector<std::uint32_t> waiting_;   // unfinished dependences of each step; kNone: complete
  std::vector<std::uint32_t> messages_;  // ready to be started; every step enters once a round
  std::vector<std::uint32_t> local_;     // ready for local work, likewise
  std::size_t messages_head_ = 0, messages_tail_ = 0;
  std::size_t local_head_ = 0, local_tail_ = 0;
  std::size_t given_ = 0;  // tasks that core threads have
  std::vector<ChannelId> completed_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_EXECUTION_EXECUTOR_H_
