// Executor: runs the flat program of one rank over a transport.
//
// An operation starts when its number of unfinished dependences reaches zero. All tables are
// computed at creation: successor lists, message channels, and the memory of local work. Between
// start and completion there is no allocation, look-up or comparison. Addresses are relative to the
// buffers, so that other buffers can be bound between rounds at no cost.
//
// Order of work: messages first, so that peers never wait for local arithmetic; then local work in
// the order in which it became ready. The program fixes the operands: dst = a op b, for a
// recv_reduce dst = a op received. Results do not depend on the order of arrival. If the transport
// delivers pieces of a message, they are reduced from its memory as they arrive. Core threads, if
// any, do long work, each step in parts; the caller moves the messages. The results are bitwise the
// same: one thread adds an element, in the program's order.
#ifndef TORC_RUNTIME_EXECUTION_EXECUTOR_H_
#define TORC_RUNTIME_EXECUTION_EXECUTOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/execution/aligned_loops.h"
#include "runtime/execution/core_threads.h"
#include "runtime/non_copyable.h"
#include "runtime/reductions/reduction.h"
#include "runtime/trace/round_trace.h"
#include "runtime/transport/transport.h"
#include "schedules/expansion/expand.h"
#include "support/status.h"

namespace torc::runtime {

/// Buffers of a program. `in` and `out` may be the same memory if the collective allows it;
/// `scratch` overlaps neither. Aligned for the element type.
struct Buffers {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::byte* scratch = nullptr;
  std::size_t element_bytes = 1;  // distance between elements
  bool in_is_out = false;         // the same memory
};

/// By operation of a program: the numbers of elements of its message's fragments, in order, the
/// same at both ends; an empty list means one fragment (see Transport::prepare).
using MessageFragments = std::vector<std::vector<std::uint64_t>>;

enum class Progress : std::uint8_t {
  kIdle,    // not started since creation
  kActive,  // started, not complete
  kDone,    // complete; may be started again
  kFailed,  // see status(); cannot be started again
};

class Executor : NonCopyable, private PieceTaker, private CoreTasks {
 public:
  /// Compiles `program` for `buffers`, and prepares its messages on `transport`. The program may be
  /// destroyed afterwards. `reducer` may be empty for a program without reductions, `fragments` if
  /// all messages are whole. `cores`, which outlive its rounds, help; null: none. Errors: sizes
  /// beyond the address space, errors of the transport.
  static StatusOr<std::unique_ptr<Executor>> create(const FlatProgram& program,
                                                    const Buffers& buffers, const Reducer& reducer,
                                                    std::unique_ptr<Transport> transport,
                                                    const MessageFragments& fragments = {},
                                                    CoreThreads* cores = nullptr);
  ~Executor();

  /// Binds other memory and another reduction on elements of the same size, with `in_is_out` as at
  /// creation: later rounds use these. Precondition: not active, not failed.
  void bind(const Buffers& buffers, const Reducer& reducer);

  /// Records the operations of later rounds; nullptr: off. Outlives the executor. Precondition: not
  /// active.
  void setTrace(RoundTrace* trace) { trace_ = trace; }

  /// Starts a round. Precondition: not active, not failed.
  Progress start();

  /// Makes progress, and returns without waiting.
  Progress advance();

  /// Runs the round to its end, waiting in the transport: for cases in which one wait is better
  /// than many polls.
  Progress run();

  /// Fails an active round, with `status` as its error.
  void abandon(const Status& status);

  /// After a failed round: whether no message can touch the buffers any more. Never waits.
  bool drained() { return transport_->drained(); }

  Progress progress() const { return progress_; }
  const Status& status() const { return status_; }

  std::size_t operations() const { return steps_.size(); }
  std::size_t messages() const { return step_of_channel_.size(); }
  /// Number of operations of the round that are not complete.
  std::size_t remaining() const { return remaining_; }
  /// Whether core threads have work of the round.
  bool isWorking() const { return given_ > 0; }
  /// Bytes of memory for data that the transport has allocated.
  std::size_t bufferBytes() const { return transport_->bufferBytes(); }
  /// Bytes of the tables, including the transport's.
  std::size_t tableBytes() const;

  /// The first incomplete operation (index in the schedule), for error messages; kNone without one.
  std::uint32_t firstPending() const;

 private:
  enum class Work : std::uint8_t { kNone, kReduce, kCopy };

  /// A run of elements of local work, repeated by loops with strides in bytes.
  struct Stretch {
    Place dst, a, b;
    std::size_t count;  // of one run: elements of a reduction, bytes of a copy
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
    std::uint32_t task = kNone;  // in core threads
    Work work = Work::kNone;
    bool in_pieces = false;  // the transport delivers the message in pieces, reduced as they arrive
  };

  static constexpr std::size_t kPartBytes = std::size_t{64} * 1024;

  Executor(std::unique_ptr<Transport> transport, CoreThreads* cores);

  void layOut(const FlatProgram& program, const Buffers& buffers,
              const MessageFragments& fragments);
  ChannelId layOutMessage(const FlatProgram& program, const FlatOperation& operation,
                          const Buffers& buffers, std::span<const std::size_t> fragments,
                          SendMode mode);
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
  /// Bytes of one unit of the step's stretches.
  std::size_t unitOf(const Step& step) const {
    return step.work == Work::kReduce ? element_bytes_ : 1;
  }
  /// Units in one part of its work: some microseconds of one core.
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
  // Whether the reducer is a kernel, which may get parts of vectors: user-defined operations need
  // whole ones.
  bool reduces_pieces_ = false;
  std::unique_ptr<Transport> transport_;
  CoreThreads* cores_ = nullptr;

  std::vector<Step> steps_;
  std::vector<CoreTask> tasks_;
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> dependence_counts_;  // at the start of a round
  std::vector<std::uint32_t> roots_;              // steps without dependences
  std::vector<Stretch> stretches_;
  std::vector<AlignedLoop> stretch_loops_;
  std::vector<std::uint32_t> step_of_channel_;
  std::vector<RunLoop> loops_;  // of the program, in bytes; only during creation

  // State of the round.
  Progress progress_ = Progress::kIdle;
  Status status_;
  std::size_t remaining_ = 0;
  std::vector<std::uint32_t> waiting_;   // by step: number of unfinished dependences; kNone:
                                         // complete
  std::vector<std::uint32_t> messages_;  // ready to start; every step enters once per round
  std::vector<std::uint32_t> local_;     // ready for local work, likewise
  std::size_t messages_head_ = 0, messages_tail_ = 0;
  std::size_t local_head_ = 0, local_tail_ = 0;
  std::size_t given_ = 0;  // tasks given to core threads
  std::vector<ChannelId> completed_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_EXECUTION_EXECUTOR_H_
