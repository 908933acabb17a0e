// A plan's operations as steps: those of a gpu's thread blocks, and those of others in its memory.
#include "ir/exchange/readers/mscclpp_reader.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/exchange/readers/mscclpp_plan.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

// Channels of rank programs: of signals through memory the number of the channel between the two
// gpus, and of a port; of what a thread block stores and reads its own number.
constexpr std::int32_t kPorts = 1 << 14, kStores = 2 << 14, kRequests = 3 << 14, kAnswers = 4 << 14,
                       kProxies = 5 << 14;

using EventId = std::uint32_t;
constexpr std::int32_t kEvent = -2;  // as the block of a step that is waited for: its number is one

/// A step of a rank, by its block and its place there, which others wait for; block -1: nothing.
struct StepOf {
  std::int32_t block = -1, index = 0;
};

/// What steps wait for before it is known where it is.
struct Event {
  StepOf step;
  bool happens = false;
  std::string at, waits_for;  // of who waits, for messages
};

class PlanSteps {
 public:
  PlanSteps(const MscclppPlan& plan, llvm::StringRef origin) : plan_(plan) {
    programs_.origin = origin.str();
    programs_.collective = plan.collective;
    programs_.in_place = plan.in_place;
    programs_.shares = static_cast<std::int32_t>(plan.shares);
    programs_.ranks.resize(plan.gpus.size());
  }

  llvm::Expected<RankPrograms> run() {
    if (llvm::Error error = readSizes()) return error;
    if (llvm::Error error = readChannels()) return error;
    packets_.resize(plan_.gpus.size());
    others_.resize(plan_.gpus.size());
    if (llvm::Error error = forEachOp([this](const PlanOp& op) { return findPackets(op); }))
      return error;
    packet_ = 0;
    for (rank_ = 0; rank_ < plan_.gpus.size(); ++rank_) {
      if (llvm::Error error = addRank()) return error;
    }
    if (llvm::Error error = placeEvents()) return error;
    return std::move(programs_);
  }

 private:
  const PlanGpu& gpu() const { return plan_.gpus[rank_]; }
  std::string blockName() const {
    return "gpu " + std::to_string(rank_) + " tb " + std::to_string(block_);
  }
  /// `x.json:57: error: gpu 3 tb 1 step 4: `.
  std::string at(const PlanOp& op) const {
    return programs_.origin + ":" + std::to_string(op.line) + ": error: " + blockName() + " step " +
           std::to_string(op.number) + ": ";
  }

  llvm::Error forEachOp(llvm::function_ref<llvm::Error(const PlanOp&)> does) {
    for (rank_ = 0; rank_ < plan_.gpus.size(); ++rank_) {
      for (block_ = 0; block_ < gpu().blocks.size(); ++block_) {
        for (const PlanOp& op : gpu().blocks[block_].ops) {
          if (llvm::Error error = does(op)) return error;
        }
      }
    }
    return llvm::Error::success();
  }

  /// The chunks of buffers, which all gpus share.
  llvm::Error readSizes() {
    const auto ranks = static_cast<std::int32_t>(plan_.gpus.size());
    for (std::size_t rank = 0; rank < plan_.gpus.size(); ++rank) {
      const auto [in, out, scratch] = plan_.gpus[rank].chunks;
      std::int64_t chunks = std::max(in, out);
      if (plan_.collective == Collective::kAllgather && out == 0) chunks = std::int64_t{in} * ranks;
      if (plan_.collective == Collective::kReduceScatter && in == 0)
        chunks = std::int64_t{out} * ranks;
      chunks *= plan_.shares;
      if (rank == 0) chunks_ = chunks;
      if (chunks != chunks_ || chunks < 1 || chunks > kMaxForeignChunks ||
          std::int64_t{scratch} * plan_.shares > kMaxForeignChunks) {
        return makeError(programs_.at() + "gpu " + llvm::Twine(rank) + " has " + llvm::Twine(in) +
                         ", " + llvm::Twine(out) + " and " + llvm::Twine(scratch) +
                         " chunks of input, output and scratch" +
                         (chunks != chunks_ ? ", unlike gpu 0"
                          : chunks < 1
                              ? llvm::Twine("")
                              : ", in " + llvm::Twine(plan_.shares) + " shares each; at most " +
                                    llvm::Twine(kMaxForeignChunks) + " are imported"));
      }
      for (std::size_t i = 0; i < 3; ++i)
        programs_.ranks[rank].chunks[i] =
            plan_.gpus[rank].chunks[i] * static_cast<std::int32_t>(plan_.shares);
    }
    programs_.chunks = static_cast<std::int32_t>(chunks_);
    return llvm::Error::success();
  }

  /// The i-th channel of a type to a gpu is that one's i-th back.
  llvm::Error readChannels() {
    for (std::size_t rank = 0; rank < plan_.gpus.size(); ++rank) {
      const PlanGpu& gpu = plan_.gpus[rank];
      const auto check = [&](std::int32_t peer) -> llvm::Error {
        if (peer < static_cast<std::int32_t>(plan_.gpus.size()) &&
            peer != static_cast<std::int32_t>(rank)) {
          return llvm::Error::success();
        }
        return makeError(programs_.at() + "gpu " + llvm::Twine(rank) + " has gpu " +
                         llvm::Twine(peer) + " as a peer, of " + llvm::Twine(plan_.gpus.size()) +
                         " gpus");
      };
      std::array<std::vector<std::int32_t>, 2>& numbers = channel_numbers_.emplace_back();
      for (std::size_t type = 0; type < 2; ++type) {
        std::map<std::int32_t, std::int32_t> of_peer;
        for (const std::int32_t peer : gpu.peers[type]) {
          if (llvm::Error error = check(peer)) return error;
          numbers[type].push_back(of_peer[peer]++);
        }
      }
      for (const PlanGpu::RemoteBuffer& buffer : gpu.remote_buffers) {
        if (llvm::Error error = check(buffer.rank)) return error;
      }
    }
    return llvm::Error::success();
  }

  /// This thread block's share of some chunks.
  PlanChunks shareOf(const PlanOp& op, const PlanChunks& chunks) const {
    const auto per_chunk = static_cast<std::int32_t>(plan_.shares);
    PlanChunks share = chunks;
    share.count = chunks.count * (per_chunk / op.shares);
    share.first = chunks.first * per_chunk + op.share * share.count;
    return share;
  }
  std::size_t rankOf(const PlanChunks& chunks) const {
    if (chunks.remote < 0) return rank_;
    return static_cast<std::size_t>(
        gpu().remote_buffers[static_cast<std::size_t>(chunks.remote)].rank);
  }

  // Packets.

  /// What an operation writes packets to, in the order of its steps.
  llvm::SmallVector<PlanChunks, 4> packetsOf(const PlanOp& op) const {
    llvm::SmallVector<PlanChunks, 4> written;
    if (!op.row->packets_written) return written;
    const std::size_t data = op.row->kind == PlanOpKind::kReduce ? 1 : 0;
    for (const PlanChunks& target : gpu().targetsOf(op).drop_front(data))
      written.push_back(shareOf(op, target));
    return written;
  }

  llvm::Error findPackets(const PlanOp& op) {
    for (const PlanChunks& chunks : packetsOf(op)) {
      if (chunks.buffer != ChunkBuffer::kScratch) {
        return makeError(at(op) + "writes packets to a buffer that is not scratch");
      }
      if (chunks.first + chunks.count > programs_.ranks[rankOf(chunks)].chunks[2]) {
        return makeError(at(op) + "writes packets beyond the scratch of gpu " +
                         llvm::Twine(rankOf(chunks)));
      }
      for (std::int32_t i = 0; i < chunks.count; ++i) {
        if (!packets_[rankOf(chunks)].try_emplace(chunks.first + i, packet_).second) {
          return makeError(at(op) + "writes packets to s[" +
                           llvm::Twine(chunks.first / static_cast<std::int32_t>(plan_.shares)) +
                           "] of gpu " + llvm::Twine(rankOf(chunks)) +
                           ", where others are written: readers could not tell them apart");
        }
      }
      ++packet_;
      events_.emplace_back();
    }
    return llvm::Error::success();
  }

  /// The next step waits for the packets in some chunks.
  llvm::Error waitForPackets(const PlanOp& op, const PlanChunks& chunks) {
    llvm::SmallVector<EventId, 4> events;
    for (std::int32_t i = 0; i < chunks.count; ++i) {
      const auto found = packets_[rank_].find(chunks.first + i);
      if (chunks.buffer != ChunkBuffer::kScratch || found == packets_[rank_].end()) {
        return makeError(at(op) + "waits for packets that nobody writes");
      }
      if (!llvm::is_contained(events, found->second)) events.push_back(found->second);
    }
    for (const EventId event : events)
      pending_.push_back({kEvent, static_cast<std::int32_t>(event)});
    return llvm::Error::success();
  }

  // Steps.

  RankStep stepOf(const PlanOp& op, StepKind kind, const PlanChunks& src,
                  const PlanChunks& dst) const {
    RankStep step;
    step.kind = kind;
    step.src = {src.buffer, src.first};
    step.dst = {dst.buffer, dst.first};
    step.count = src.count;
    step.line = op.line;
    step.number = op.number;
    return step;
  }
  /// A message of no chunks.
  RankStep signalOf(const PlanOp& op, StepKind kind, bool arrives = false) const {
    RankStep step = stepOf(op, kind, {}, {});
    step.arrives = arrives;
    return step;
  }

  ThreadBlock& newBlock(RankProgram& program, std::int32_t send, std::int32_t receive,
                        std::int32_t channel, std::uint32_t line) const {
    ThreadBlock& block = program.blocks.emplace_back();
    block.send_peer = send;
    block.receive_peer = receive;
    block.channel = channel;
    block.line = line;
    block.name = blockName();
    return block;
  }

  /// Appends a step that waits for all of `before`: for all but one by steps before it, which do
  /// nothing.
  StepOf push(RankProgram& program, std::int32_t block, RankStep step,
              llvm::ArrayRef<StepOf> before = {}) {
    std::vector<RankStep>& steps = program.blocks[static_cast<std::size_t>(block)].steps;
    for (const StepOf& earlier : before) {
      if (earlier.block == -1 || earlier.block == block) continue;
      if (step.after_block != -1) {
        RankStep& nothing = steps.emplace_back();
        nothing.line = step.line;
        nothing.number = step.number;
        nothing.after_block = step.after_block;
        nothing.after = step.after;
        ++steps_;
      }
      step.after_block = earlier.block;
      step.after = earlier.index;
    }
    steps.push_back(step);
    ++steps_;
    return {block, static_cast<std::int32_t>(steps.size()) - 1};
  }

  /// Adds a step to this thread block, which has a block of its own for each connection; they wait
  /// for each other so that all steps keep their order.
  StepOf add(const RankStep& step, std::int32_t send = -1, std::int32_t receive = -1,
             std::int32_t channel = 0) {
    RankProgram& program = programs_.ranks[rank_];
    const auto [lane, is_new] = lanes_.try_emplace(
        {send, receive, channel}, static_cast<std::int32_t>(program.blocks.size()));
    if (is_new) newBlock(program, send, receive, channel, gpu().blocks[block_].line);
    pending_.push_back(tail_);
    tail_ = push(program, lane->second, step, pending_);
    pending_.clear();
    return tail_;
  }

  /// The end of this thread block so far; a negative block: nothing has to be waited for.
  StepOf endSoFar(const PlanOp& op) {
    if (!pending_.empty()) add(signalOf(op, StepKind::kNothing));
    return tail_;
  }

  /// Adds a step in the memory of `rank`, behind those that this gpu has there on the channel.
  StepOf addThere(std::size_t rank, std::int32_t channel, const RankStep& step) {
    RankProgram& program = programs_.ranks[rank];
    const auto own = static_cast<std::int32_t>(rank_);
    const auto [there, is_new] =
        others_[rank].try_emplace({own, channel}, static_cast<std::int32_t>(program.blocks.size()));
    const bool sends = hasSend(step.kind);
    if (is_new) {
      newBlock(program, sends ? own : -1, sends ? -1 : own, channel, gpu().blocks[block_].line);
    }
    return push(program, there->second, step);
  }

  void happen(EventId event, StepOf step) {
    events_[event].step = step;
    events_[event].happens = true;
  }

  /// Signals of ports, semaphores and barriers, by what they are of and their number.
  enum class Of : std::uint8_t { kPort, kSemaphore, kBarrier };
  using EventKey = std::tuple<Of, std::size_t, std::size_t, std::int32_t, std::uint32_t>;
  EventId eventOf(Of of, std::size_t rank, std::size_t from, std::int32_t id,
                  std::uint32_t number) {
    const auto [event, is_new] = named_events_.try_emplace(EventKey{of, rank, from, id, number},
                                                           static_cast<EventId>(events_.size()));
    if (is_new) events_.emplace_back();
    return event->second;
  }
  void waitFor(EventId event, const PlanOp& op, const llvm::Twine& what) {
    events_[event].at = at(op);
    events_[event].waits_for = what.str();
    pending_.push_back({kEvent, static_cast<std::int32_t>(event)});
  }

  llvm::Error addRank() {
    barriers_.clear();
    acquired_.assign(gpu().semaphores.size(), {});
    released_.assign(gpu().semaphores.size(), {});
    if (llvm::Error error = countSemaphores()) return error;
    for (block_ = 0; block_ < gpu().blocks.size(); ++block_) {
      lanes_.clear();
      pending_.clear();
      tail_ = {};
      arrivals_.clear();
      const std::vector<PlanOp>& ops = gpu().blocks[block_].ops;
      for (const PlanOp& op : ops) {
        if (llvm::Error error = addOp(op)) return error;
      }
      // What is waited for last must happen, too.
      if (!ops.empty()) endSoFar(ops.back());
    }
    return addBarriers();
  }

  llvm::Error addOp(const PlanOp& op) {
    if (steps_ > kMaxForeignSteps) {
      return makeError(at(op) + "has more than " + llvm::Twine(kMaxForeignSteps) +
                       " steps before it");
    }
    if (!packets_[rank_].empty()) {
      if (llvm::Error error = checkScratch(op)) return error;
    }
    switch (op.row->kind) {
      case PlanOpKind::kCopy:
        return addCopies(op);
      case PlanOpKind::kReduce:
      case PlanOpKind::kReadReduce:
        return addReduction(op);
      case PlanOpKind::kPut:
        return addPuts(op);
      case PlanOpKind::kRead:
        for (std::size_t i = 0; i < op.sources; ++i)
          addRead(op, StepKind::kReceive, gpu().sourcesOf(op)[i], gpu().targetsOf(op)[i]);
        return llvm::Error::success();
      case PlanOpKind::kSignal:
      case PlanOpKind::kWait:
      case PlanOpKind::kFlush:
        for (const std::int32_t channel : gpu().idsOf(op)) {
          if (llvm::Error error = addSignal(op, static_cast<std::size_t>(channel), op.row->kind)) {
            return error;
          }
        }
        return llvm::Error::success();
      case PlanOpKind::kBarrier: {
        const auto ids = gpu().idsOf(op);
        Barrier& barrier = barriers_[{ids[0], arrivals_[ids[0]]++}];
        if (!barrier.arrivals.empty() && barrier.blocks != static_cast<std::size_t>(ids[1])) {
          return makeError(at(op) + "barrier " + llvm::Twine(ids[0]) + " waits for " +
                           llvm::Twine(ids[1]) + " thread blocks here, for " +
                           llvm::Twine(barrier.blocks) + " elsewhere");
        }
        barrier.blocks = static_cast<std::size_t>(ids[1]);
        barrier.arrivals.push_back(endSoFar(op));
        barrier.op = &op;
        waitFor(eventOf(Of::kBarrier, rank_, 0, ids[0], arrivals_[ids[0]]), op, "");
        return llvm::Error::success();
      }
      case PlanOpKind::kAcquire:
      case PlanOpKind::kRelease:
        return addSemaphores(op);
      case PlanOpKind::kNothing:
        break;
    }
    return llvm::Error::success();
  }

  /// Packets take twice the room: a chunk of them is not where the chunk of data is.
  llvm::Error checkScratch(const PlanOp& op) const {
    const auto isData = [&](const PlanChunks& chunks, bool of_packets) {
      return chunks.buffer == ChunkBuffer::kScratch && rankOf(chunks) == rank_ && !of_packets;
    };
    const bool reduces = op.row->kind == PlanOpKind::kReduce;
    // A port takes packets as they are.
    const bool reads_packets =
        op.row->packets_read || (op.row->packets_written && op.channel == PlanChannel::kPort);
    for (std::size_t i = 0; i < op.sources; ++i) {
      if (isData(gpu().sourcesOf(op)[i], reads_packets && (!reduces || i > 0)))
        return makeError(at(op) + "reads data from scratch, which has packets");
    }
    for (std::size_t i = 0; i < op.targets; ++i) {
      if (isData(gpu().targetsOf(op)[i], op.row->packets_written && (!reduces || i > 0)))
        return makeError(at(op) + "writes data to scratch, which has packets");
    }
    return llvm::Error::success();
  }

  llvm::Error addCopies(const PlanOp& op) {
    for (std::size_t i = 0; i < op.sources; ++i) {
      const PlanChunks src = shareOf(op, gpu().sourcesOf(op)[i]);
      if (op.row->packets_read) {
        if (llvm::Error error = waitForPackets(op, src)) return error;
      }
      const StepOf step =
          add(stepOf(op, StepKind::kCopy, src, shareOf(op, gpu().targetsOf(op)[i])));
      if (op.row->packets_written) happen(packet_++, step);
    }
    return llvm::Error::success();
  }

  llvm::Error addPuts(const PlanOp& op) {
    for (std::size_t i = 0; i < op.targets; ++i) {
      const PlanChunks src = shareOf(op, gpu().sourcesOf(op)[i % op.sources]);
      const PlanChunks dst = shareOf(op, gpu().targetsOf(op)[i]);
      if (op.row->packets_read) {
        if (llvm::Error error = waitForPackets(op, src)) return error;
      }
      StepOf arrival;
      if (op.channel == PlanChannel::kMemory) {
        arrival = addStore(op, src, dst);
      } else {
        const auto channel = static_cast<std::size_t>(gpu().idsOf(op)[i]);
        if (gpu().peers[1][channel] != static_cast<std::int32_t>(rankOf(dst))) {
          return makeError(at(op) + "puts to gpu " + llvm::Twine(rankOf(dst)) +
                           " through a port to gpu " + llvm::Twine(gpu().peers[1][channel]));
        }
        if (llvm::Error error = addByProxy(op, channel, stepOf(op, StepKind::kSend, src, {})))
          return error;
        arrival = addThere(rankOf(dst), kPorts + channel_numbers_[rank_][1][channel],
                           stepOf(op, StepKind::kReceive, dst, dst));
        // The message itself is the signal, too.
        if (op.row->signals) happen(signalTo(rankOf(dst), channel), arrival);
        if (op.row->flushes) {
          if (llvm::Error error = addSignal(op, channel, PlanOpKind::kFlush)) return error;
        }
      }
      if (op.row->packets_written) happen(packet_++, arrival);
    }
    return llvm::Error::success();
  }

  /// A port's proxy does what it is asked for in that order, while the thread block goes on; a
  /// flush waits for it.
  llvm::Error addByProxy(const PlanOp& op, std::size_t channel, const RankStep& step) {
    RankProgram& program = programs_.ranks[rank_];
    const std::int32_t peer = gpu().peers[1][channel];
    const std::int32_t number = channel_numbers_[rank_][1][channel];
    const auto [proxy, is_new] = others_[rank_].try_emplace(
        {peer, kProxies + number}, static_cast<std::int32_t>(program.blocks.size()));
    if (is_new) {
      newBlock(program, peer, -1, kPorts + number, gpu().blocks[block_].line);
    } else if (program.blocks[static_cast<std::size_t>(proxy->second)].name != blockName()) {
      return makeError(at(op) + "port " + llvm::Twine(channel) + " serves " +
                       program.blocks[static_cast<std::size_t>(proxy->second)].name +
                       ", too: who comes first is not said");
    }
    const StepOf asked = push(program, proxy->second, step, endSoFar(op));
    if (step.arrives) pending_.push_back(asked);
    return llvm::Error::success();
  }

  StepOf addStore(const PlanOp& op, const PlanChunks& src, const PlanChunks& dst) {
    const std::int32_t channel = kStores + static_cast<std::int32_t>(block_);
    RankStep step = stepOf(op, StepKind::kSend, src, {});
    step.arrives = true;
    add(step, static_cast<std::int32_t>(rankOf(dst)), -1, channel);
    return addThere(rankOf(dst), channel, stepOf(op, StepKind::kReceive, dst, dst));
  }

  void addRead(const PlanOp& op, StepKind kind, const PlanChunks& from, const PlanChunks& to) {
    const auto block = static_cast<std::int32_t>(block_);
    const std::size_t rank = rankOf(from);
    const auto peer = static_cast<std::int32_t>(rank);
    const PlanChunks src = shareOf(op, from), dst = shareOf(op, to);
    add(signalOf(op, StepKind::kSend), peer, -1, kRequests + block);
    const StepOf request = addThere(rank, kRequests + block, signalOf(op, StepKind::kReceive));
    RankStep answer = stepOf(op, StepKind::kSend, src, {});
    answer.after_block = request.block;
    answer.after = request.index;
    addThere(rank, kAnswers + block, answer);
    add(stepOf(op, kind, dst, dst), -1, peer, kAnswers + block);
  }

  /// Where chunks of this gpu lie, so that those that are one memory are one.
  std::pair<int, std::int64_t> memoryOf(const PlanChunks& chunks) const {
    if (!plan_.in_place || chunks.buffer == ChunkBuffer::kScratch)
      return {static_cast<int>(chunks.buffer), chunks.first};
    const bool is_own =
        (plan_.collective == Collective::kAllgather && chunks.buffer == ChunkBuffer::kInput) ||
        (plan_.collective == Collective::kReduceScatter && chunks.buffer == ChunkBuffer::kOutput);
    const std::int64_t block = chunks_ / static_cast<std::int64_t>(plan_.gpus.size());
    return {0, chunks.first + (is_own ? static_cast<std::int64_t>(rank_) * block : 0)};
  }

  /// The sum grows in the first target; a source that lies there begins it.
  llvm::Error addReduction(const PlanOp& op) {
    const bool reads = op.row->kind == PlanOpKind::kReadReduce;
    const PlanChunks dst = shareOf(op, gpu().targetsOf(op)[0]);
    const auto [buffer, first] = memoryOf(dst);
    const std::size_t local = reads ? 1 : op.sources;
    std::size_t begins = local;
    for (std::size_t i = 0; i < local; ++i) {
      const auto [other, at] = memoryOf(shareOf(op, gpu().sourcesOf(op)[i]));
      if (other != buffer || at >= first + dst.count || first >= at + dst.count) continue;
      if (at != first || begins != local) {
        return makeError(this->at(op) + "its target overlaps its sources, and is not one of them");
      }
      begins = i;
    }
    for (std::size_t i = 0; i < local; ++i) {
      const bool of_packets = op.row->packets_read && i > 0;
      if (!of_packets) continue;
      if (llvm::Error error = waitForPackets(op, shareOf(op, gpu().sourcesOf(op)[i]))) return error;
    }
    if (begins == local) {
      begins = 0;
      add(stepOf(op, StepKind::kCopy, shareOf(op, gpu().sourcesOf(op)[0]), dst));
    }
    for (std::size_t i = 0; i < local; ++i) {
      if (i == begins) continue;
      add(stepOf(op, StepKind::kReduce, shareOf(op, gpu().sourcesOf(op)[i]), dst));
    }
    for (std::size_t i = local; i < op.sources; ++i)
      addRead(op, StepKind::kReceiveReduce, gpu().sourcesOf(op)[i], gpu().targetsOf(op)[0]);
    for (const PlanChunks& target : gpu().targetsOf(op).drop_front(1)) {
      const PlanChunks to = shareOf(op, target);
      const StepOf step =
          to.remote < 0 ? add(stepOf(op, StepKind::kCopy, dst, to)) : addStore(op, dst, to);
      if (op.row->packets_written) happen(packet_++, step);
    }
    return llvm::Error::success();
  }

  llvm::Error addSignal(const PlanOp& op, std::size_t channel, PlanOpKind kind) {
    const auto type = static_cast<std::size_t>(op.channel);
    const std::int32_t peer = gpu().peers[type][channel];
    const auto rank = static_cast<std::size_t>(peer);
    const std::int32_t number = channel_numbers_[rank_][type][channel];
    if (op.channel == PlanChannel::kMemory) {
      // Stores need no flush.
      if (kind == PlanOpKind::kWait) add(signalOf(op, StepKind::kReceive), -1, peer, number);
      if (kind == PlanOpKind::kSignal) add(signalOf(op, StepKind::kSend), peer, -1, number);
      return llvm::Error::success();
    }
    if (kind == PlanOpKind::kWait) {
      const std::uint32_t turn = waited_[{rank_, rank, number}]++;
      waitFor(eventOf(Of::kPort, rank_, rank, number, turn), op,
              "waits for signal " + llvm::Twine(turn) + " of gpu " + llvm::Twine(rank) +
                  ", which nobody sends");
      return llvm::Error::success();
    }
    const bool is_flush = kind == PlanOpKind::kFlush;
    if (llvm::Error error = addByProxy(op, channel, signalOf(op, StepKind::kSend, is_flush))) {
      return error;
    }
    const StepOf arrival = addThere(rank, kPorts + number, signalOf(op, StepKind::kReceive));
    if (is_flush) return llvm::Error::success();
    happen(signalTo(rank, channel), arrival);
    return llvm::Error::success();
  }

  /// The next signal through a port.
  EventId signalTo(std::size_t rank, std::size_t channel) {
    const std::int32_t number = channel_numbers_[rank_][1][channel];
    const std::uint32_t turn = signalled_[{rank_, rank, number}]++;
    return eventOf(Of::kPort, rank, rank_, number, turn);
  }

  // Semaphores.

  struct Uses {
    std::uint32_t count = 0, blocks = 0;
  };

  llvm::Error countSemaphores() {
    semaphore_releases_.assign(gpu().semaphores.size(), {});
    std::vector<Uses> acquires(gpu().semaphores.size());
    for (block_ = 0; block_ < gpu().blocks.size(); ++block_) {
      std::vector<bool> seen(2 * gpu().semaphores.size());
      for (const PlanOp& op : gpu().blocks[block_].ops) {
        const bool acquires_it = op.row->kind == PlanOpKind::kAcquire;
        if (!acquires_it && op.row->kind != PlanOpKind::kRelease) continue;
        for (const std::int32_t id : gpu().idsOf(op)) {
          const auto semaphore = static_cast<std::size_t>(id);
          Uses& uses = acquires_it ? acquires[semaphore] : semaphore_releases_[semaphore];
          ++uses.count;
          if (!seen[2 * semaphore + (acquires_it ? 1 : 0)]) ++uses.blocks;
          seen[2 * semaphore + (acquires_it ? 1 : 0)] = true;
          if (acquires_it && uses.blocks > 1) {
            return makeError(at(op) + "acquires semaphore " + llvm::Twine(id) +
                             ", as another thread block does: who comes first is not said");
          }
        }
      }
    }
    return llvm::Error::success();
  }

  llvm::Error addSemaphores(const PlanOp& op) {
    for (const std::int32_t id : gpu().idsOf(op)) {
      const auto semaphore = static_cast<std::size_t>(id);
      if (op.row->kind == PlanOpKind::kRelease) {
        const StepOf end = endSoFar(op);
        happen(eventOf(Of::kSemaphore, rank_, 0, id, released_[semaphore]++), end);
        continue;
      }
      const std::uint32_t turn = acquired_[semaphore]++;
      const auto begin = static_cast<std::uint32_t>(gpu().semaphores[semaphore]);
      if (turn < begin) continue;
      const Uses& releases = semaphore_releases_[semaphore];
      const auto wait = [&](std::uint32_t number) {
        waitFor(eventOf(Of::kSemaphore, rank_, 0, id, number), op,
                "deadlock: acquires semaphore " + llvm::Twine(id) + " for the " +
                    llvm::Twine(turn + 1) + ". time, which begins with " + llvm::Twine(begin) +
                    " and is released " + llvm::Twine(releases.count) + " times");
      };
      if (releases.blocks <= 1) {
        wait(turn - begin);
      } else if (turn - begin + 1 >= releases.count) {
        // Which of several has released it is known when all have.
        for (std::uint32_t i = 0; i <= turn - begin; ++i)
          wait(i);
      }
    }
    return llvm::Error::success();
  }

  // Barriers.

  struct Barrier {
    std::size_t blocks = 0;
    std::vector<StepOf> arrivals;
    const PlanOp* op = nullptr;  // the last one
  };

  llvm::Error addBarriers() {
    RankProgram& program = programs_.ranks[rank_];
    std::int32_t hub = -1;
    std::int32_t id = -1;
    for (const auto& [key, barrier] : barriers_) {
      if (barrier.arrivals.size() != barrier.blocks) {
        return makeError(llvm::Twine(programs_.origin) + ":" + llvm::Twine(barrier.op->line) +
                         ": error: gpu " + llvm::Twine(rank_) + ": deadlock: barrier " +
                         llvm::Twine(key.first) + " waits for " + llvm::Twine(barrier.blocks) +
                         " thread blocks, and " + llvm::Twine(barrier.arrivals.size()) +
                         " come to it");
      }
      if (key.first != id) {
        id = key.first;
        hub = static_cast<std::int32_t>(program.blocks.size());
        newBlock(program, -1, -1, 0, barrier.op->line).name =
            "gpu " + std::to_string(rank_) + " barrier " + std::to_string(id);
      }
      StepOf last;
      for (const StepOf& arrival : barrier.arrivals) {
        RankStep step;
        step.line = barrier.op->line;
        step.number = key.second;
        step.after_block = arrival.block;
        step.after = arrival.index;
        last = push(program, hub, step);
      }
      happen(eventOf(Of::kBarrier, rank_, 0, id, key.second + 1), last);
    }
    return llvm::Error::success();
  }

  /// Steps that wait for events wait for the steps that these are.
  llvm::Error placeEvents() {
    for (RankProgram& program : programs_.ranks) {
      for (ThreadBlock& block : program.blocks) {
        for (RankStep& step : block.steps) {
          if (step.after_block != kEvent) continue;
          const Event& event = events_[static_cast<std::size_t>(step.after)];
          if (!event.happens) return makeError(event.at + event.waits_for);
          step.after_block = event.step.block;
          step.after = event.step.index;
        }
      }
    }
    for (const auto& [key, number] : named_events_) {
      const auto& [of, rank, from, id, turn] = key;
      if (of != Of::kPort || !events_[number].waits_for.empty()) continue;
      const StepOf at = events_[number].step;
      return makeError(programs_.at(rank, static_cast<std::size_t>(at.block),
                                    static_cast<std::size_t>(at.index)) +
                       "sends signal " + llvm::Twine(turn) + " to gpu " + llvm::Twine(rank) +
                       ", which nobody waits for");
    }
    return llvm::Error::success();
  }

  const MscclppPlan& plan_;
  RankPrograms programs_;
  std::int64_t chunks_ = 0;  // of the vector
  /// Of each gpu's channels: how many of the type to the same gpu stand before.
  std::vector<std::array<std::vector<std::int32_t>, 2>> channel_numbers_;
  std::vector<std::unordered_map<std::int32_t, EventId>> packets_;  // of each gpu, by chunk
  EventId packet_ = 0;                                              // the next one
  std::vector<Event> events_;  // of packets, in the order of their writers; others
  std::map<EventKey, EventId> named_events_;
  std::map<std::tuple<std::size_t, std::size_t, std::int32_t>, std::uint32_t> waited_, signalled_;
  /// Of each gpu, by the other one and the channel: its block there.
  std::vector<std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>> others_;
  std::uint64_t steps_ = 0;

  // Of the gpu and the thread block that are gone through.
  std::size_t rank_ = 0, block_ = 0;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int32_t> lanes_;
  StepOf tail_;
  llvm::SmallVector<StepOf, 4> pending_;  // what the next step waits for
  std::map<std::int32_t, std::uint32_t> arrivals_;
  std::map<std::pair<std::int32_t, std::uint32_t>, Barrier> barriers_;
  std::vector<Uses> semaphore_releases_;
  std::vector<std::uint32_t> acquired_, released_;
};

}  // namespace

llvm::Expected<RankPrograms> readMscclpp(llvm::StringRef text, llvm::StringRef origin) {
  llvm::Expected<MscclppPlan> plan = readMscclppPlan(text, origin);
  if (!plan) return plan.takeError();
  return PlanSteps(*plan, origin).run();
}

}  // namespace torc::ir
