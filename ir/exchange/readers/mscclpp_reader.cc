// MSCCL++ execution plans as rank programs. Their data move one-sided: a gpu writes into the buffer
// of another, or reads it, and a signal reports it. A schedule's messages have two ends. So the
// work of a thread block in the memory of another gpu becomes a separate thread block there:
//
// - put through memory: a message that is complete on arrival, as stores precede the signal that
//   follows. A put through a port is sent by the proxy, a thread block of its own, in the order of
//   requests, as are the port's signals. A flush waits for it.
// - get, and the reading reductions: a signal that requests the chunks, and a message back.
// - signal and wait: messages of no chunks, which order other steps and are not kept in the
//   schedule. Barriers and semaphores: dependences.
// - packets: a packet's reader waits for its writer. Each place in scratch has one packet, once.
//
// Operations of a thread block are assumed to be in order: the `nop`s that synchronise threads of
// the block are not checked. A pipeline runs once, as for chunks of at most its unit. Shares of
// thread block groups are assumed to be of equal size.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include <llvm/ADT/STLExtras.h>

#include "ir/exchange/readers/mscclpp_plan.h"
#include "ir/exchange/readers/mscclpp_steps.h"
#include "ir/exchange/readers/readers.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

// Channels of rank programs. Signals through memory and ports use the number of the channel between
// the two gpus; stores and reads of a thread block use its own number.
constexpr std::int32_t kPorts = 1 << 14, kStores = 2 << 14, kRequests = 3 << 14, kAnswers = 4 << 14;

class PlanOperations : private PlanSteps {
 public:
  PlanOperations(const MscclppPlan& plan, llvm::StringRef origin) : PlanSteps(plan) {
    programs_.origin = origin.str();
    programs_.collective = plan.collective;
    programs_.in_place = plan.in_place;
    programs_.shares = plan.shares;
    programs_.ranks.resize(plan.gpus.size());
    packets_.resize(plan.gpus.size());
  }

  llvm::Expected<RankPrograms> run() {
    readSizes();
    checkPeers();
    for (rank_ = 0; rank_ < plan_.gpus.size() && !failed(); ++rank_)
      forEachOp([this](const PlanOp& op) { findPackets(op); });
    for (rank_ = 0; rank_ < plan_.gpus.size() && !failed(); ++rank_)
      addRank();
    if (!failed()) placeEvents();
    if (failed()) return makeError(fault_);
    return std::move(programs_);
  }

 private:
  /// Operations of this gpu.
  void forEachOp(llvm::function_ref<void(const PlanOp&)> does) {
    for (block_ = 0; block_ < gpu().blocks.size(); ++block_) {
      for (const PlanOp& op : gpu().blocks[block_].ops) {
        if (!failed()) does(op);
      }
    }
  }

  /// Reads the sizes of buffers, which all gpus share.
  void readSizes() {
    const auto ranks = static_cast<std::int32_t>(plan_.gpus.size());
    std::int64_t all = 0;
    for (std::size_t rank = 0; rank < plan_.gpus.size(); ++rank) {
      const auto [in, out, scratch] = plan_.gpus[rank].chunks;
      std::int64_t chunks = std::max(in, out);
      if (plan_.collective == Collective::kAllgather && out == 0) chunks = std::int64_t{in} * ranks;
      if (plan_.collective == Collective::kReduceScatter && in == 0)
        chunks = std::int64_t{out} * ranks;
      chunks *= plan_.shares;
      if (rank == 0) all = chunks;
      if (chunks != all || chunks < 1 || chunks > kMaxForeignChunks ||
          std::int64_t{scratch} * plan_.shares > kMaxForeignChunks) {
        return refuse(programs_.at() + "gpu " + llvm::Twine(rank) + " has " + llvm::Twine(in) +
                      ", " + llvm::Twine(out) + " and " + llvm::Twine(scratch) +
                      " chunks of input, output and scratch" +
                      (chunks != all ? ", unlike gpu 0"
                       : chunks < 1
                           ? llvm::Twine("")
                           : ", in " + llvm::Twine(plan_.shares) + " shares each; at most " +
                                 llvm::Twine(kMaxForeignChunks) + " are imported"));
      }
      for (std::size_t i = 0; i < 3; ++i)
        programs_.ranks[rank].chunks[i] = plan_.gpus[rank].chunks[i] * plan_.shares;
    }
    programs_.chunks = static_cast<std::int32_t>(all);
  }

  void checkPeers() {
    const std::int32_t ranks = programs_.rankCount();
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const PlanGpu& gpu = plan_.gpus[static_cast<std::size_t>(rank)];
      std::vector<std::int32_t> peers;
      for (const std::vector<PlanGpu::Channel>& channels : gpu.channels) {
        for (const PlanGpu::Channel& channel : channels)
          peers.push_back(channel.peer);
      }
      for (const PlanChunks& buffer : gpu.remote_buffers)
        peers.push_back(buffer.rank);
      for (const std::int32_t peer : peers) {
        if (peer < ranks && peer != rank) continue;
        return refuse(programs_.at() + "gpu " + llvm::Twine(rank) + " has gpu " +
                      llvm::Twine(peer) + " as a peer, of " + llvm::Twine(ranks) + " gpus");
      }
    }
  }

  std::size_t rankOf(const PlanChunks& chunks) const {
    return chunks.rank < 0 ? rank_ : static_cast<std::size_t>(chunks.rank);
  }

  // Packets.

  EventKey packetsAt(const PlanChunks& chunks) const {
    return {EventOf::kPackets, rankOf(chunks), 0, chunks.first, 0};
  }

  void findPackets(const PlanOp& op) {
    if (!op.row->packets_written) return;
    // The first target of a sum is data.
    for (std::size_t i = op.row->isReduction() ? 1 : 0; i < op.targets.size(); ++i) {
      const PlanChunks& chunks = op.targets[i];
      const std::size_t rank = rankOf(chunks);
      if (chunks.buffer != ChunkBuffer::kScratch)
        return refuse(op, "writes packets to a buffer that is not scratch");
      if (chunks.first + chunks.count > programs_.ranks[rank].chunks[2])
        return refuse(op, "writes packets beyond the scratch of gpu " + llvm::Twine(rank));
      const EventId event = eventOf(packetsAt(chunks));
      for (std::int32_t i = 0; i < chunks.count; ++i) {
        if (!packets_[rank].try_emplace(chunks.first + i, event).second) {
          return refuse(op, "writes packets to s[" + llvm::Twine(chunks.first / plan_.shares) +
                                "] of gpu " + llvm::Twine(rank) +
                                ", where others are written: readers could not tell them apart");
        }
      }
    }
  }

  /// Makes the next step wait for the packets in some chunks.
  void waitForPackets(const PlanOp& op, const PlanChunks& chunks) {
    llvm::SmallVector<EventId, 4> events;
    for (std::int32_t i = 0; i < chunks.count; ++i) {
      const auto found = packets_[rank_].find(chunks.first + i);
      if (chunks.buffer != ChunkBuffer::kScratch || found == packets_[rank_].end())
        return refuse(op, "waits for packets that nobody writes");
      if (!llvm::is_contained(events, found->second)) events.push_back(found->second);
    }
    for (const EventId event : events)
      waitFor(event);
  }

  /// Packets take twice the space of data: packets and data chunks have different places.
  void checkScratch(const PlanOp& op) {
    const auto hasData = [&](const std::vector<PlanChunks>& list, bool of_packets) {
      // The first source and target of a sum are data.
      const std::size_t packets = !of_packets ? list.size() : op.row->isReduction() ? 1 : 0;
      return llvm::any_of(llvm::ArrayRef(list).take_front(packets), [](const PlanChunks& chunks) {
        return chunks.buffer == ChunkBuffer::kScratch && chunks.rank < 0;
      });
    };
    // A port transfers packets as they are.
    if (hasData(op.sources, op.row->packets_read || (op.row->packets_written && op.by_port)))
      return refuse(op, "reads data from scratch, which has packets");
    if (hasData(op.targets, op.row->packets_written))
      return refuse(op, "writes data to scratch, which has packets");
  }

  // Operations.

  void addRank() {
    barriers_.clear();
    semaphores_.assign(gpu().semaphores.size(), {});
    forEachOp([this](const PlanOp& op) { countSemaphores(op); });
    for (block_ = 0; block_ < gpu().blocks.size() && !failed(); ++block_) {
      pending_.clear();
      tail_ = {};
      arrivals_.clear();
      const std::vector<PlanOp>& ops = gpu().blocks[block_].ops;
      for (const PlanOp& op : ops)
        if (!failed()) addOp(op);
      // The last dependences must be met, too.
      if (!ops.empty()) endSoFar(ops.back());
    }
    if (!failed()) addBarriers();
  }

  void addOp(const PlanOp& op) {
    if (steps_ > kMaxForeignSteps)
      return refuse(op, "has more than " + llvm::Twine(kMaxForeignSteps) + " steps before it");
    if (!packets_[rank_].empty()) checkScratch(op);
    switch (op.row->kind) {
      case PlanOpKind::kCopy:
      case PlanOpKind::kPut:
        for (std::size_t i = 0; i < op.targets.size(); ++i) {
          const PlanChunks& src = op.sources[i % op.sources.size()];
          if (op.row->packets_read) waitForPackets(op, src);
          addWrite(op, src, i);
        }
        break;
      case PlanOpKind::kReduce:
      case PlanOpKind::kReadReduce:
        return addReduction(op);
      case PlanOpKind::kRead:
        for (std::size_t i = 0; i < op.sources.size(); ++i)
          addRead(op, StepKind::kReceive, op.sources[i], op.targets[i]);
        break;
      case PlanOpKind::kSignal:
      case PlanOpKind::kWait:
      case PlanOpKind::kFlush:
        for (const std::int32_t channel : op.ids)
          addSignal(op, channel, op.row->kind);
        break;
      case PlanOpKind::kBarrier:
        return addArrival(op);
      case PlanOpKind::kAcquire:
      case PlanOpKind::kRelease:
        addSemaphores(op);
        break;
      case PlanOpKind::kNothing:
        break;
    }
  }

  /// Writes chunks to target number `i`: copies them, stores them in the memory of another gpu, or
  /// puts them there through a port.
  void addWrite(const PlanOp& op, const PlanChunks& src, std::size_t target) {
    const PlanChunks& dst = op.targets[target];
    StepOfRank written;
    if (dst.rank < 0) {
      written = add(stepOf(op, StepKind::kCopy, src, dst));
    } else if (!op.by_port) {
      const std::int32_t channel = kStores + static_cast<std::int32_t>(block_);
      RankStep step = stepOf(op, StepKind::kSend, src);
      step.arrives = true;
      add(step, {dst.rank, -1, channel});
      written = addThere(rankOf(dst), channel, stepOf(op, StepKind::kReceive, dst, dst));
    } else {
      const PlanGpu::Channel& port = channelOf(op, op.ids[target]);
      if (port.peer != dst.rank) {
        return refuse(op, "puts to gpu " + llvm::Twine(dst.rank) + " through a port to gpu " +
                              llvm::Twine(port.peer));
      }
      addByProxy(op, op.ids[target], stepOf(op, StepKind::kSend, src));
      written =
          addThere(rankOf(dst), kPorts + port.number, stepOf(op, StepKind::kReceive, dst, dst));
      // The message itself is also the signal.
      if (op.row->signals) happen(signalTo(port), written);
      if (op.row->flushes) addSignal(op, op.ids[target], PlanOpKind::kFlush);
    }
    if (op.row->packets_written) happen(packetsAt(dst), written);
  }

  const PlanGpu::Channel& channelOf(const PlanOp& op, std::int32_t channel) const {
    return gpu().channels[op.by_port ? 1 : 0][static_cast<std::size_t>(channel)];
  }

  /// A port's proxy executes requests in order while the thread block continues; a flush waits for
  /// it.
  void addByProxy(const PlanOp& op, std::int32_t channel, const RankStep& step) {
    const PlanGpu::Channel& port = channelOf(op, channel);
    const std::int32_t proxy = blockFor(rank_, kNoBlock, {port.peer, -1, kPorts + port.number});
    const std::string& served = programs_.ranks[rank_].blocks[static_cast<std::size_t>(proxy)].name;
    if (served != blockName()) {
      return refuse(op, "port " + llvm::Twine(channel) + " serves " + served +
                            ", too: who comes first is not said");
    }
    const StepOfRank asked = push(rank_, proxy, step, endSoFar(op));
    if (step.arrives) pending_.push_back(asked);
  }

  void addRead(const PlanOp& op, StepKind kind, const PlanChunks& src, const PlanChunks& dst) {
    const auto block = static_cast<std::int32_t>(block_);
    add(stepOf(op, StepKind::kSend), {src.rank, -1, kRequests + block});
    RankStep answer = stepOf(op, StepKind::kSend, src);
    answer.after = addThere(rankOf(src), kRequests + block, stepOf(op, StepKind::kReceive));
    addThere(rankOf(src), kAnswers + block, answer);
    add(stepOf(op, kind, dst, dst), {-1, src.rank, kAnswers + block});
  }

  /// The memory of chunks of this gpu, so that aliases get one name.
  std::pair<ChunkBuffer, std::int32_t> memoryOf(const PlanChunks& chunks) const {
    if (!plan_.in_place || chunks.buffer == ChunkBuffer::kScratch)
      return {chunks.buffer, chunks.first};
    const bool is_own =
        plan_.collective == (chunks.buffer == ChunkBuffer::kInput ? Collective::kAllgather
                                                                  : Collective::kReduceScatter);
    const std::int32_t block = programs_.chunks / programs_.rankCount();
    return {ChunkBuffer::kInput,
            chunks.first + (is_own ? static_cast<std::int32_t>(rank_) * block : 0)};
  }

  /// The sum accumulates in the first target; a source there is its first operand.
  void addReduction(const PlanOp& op) {
    const PlanChunks& dst = op.targets[0];
    const auto [buffer, first] = memoryOf(dst);
    const std::size_t local = std::min(op.row->own_sources, op.sources.size());
    std::size_t begins = local;
    for (std::size_t i = 0; i < local; ++i) {
      const auto [other, at] = memoryOf(op.sources[i]);
      if (other != buffer || at >= first + dst.count || first >= at + dst.count) continue;
      if (at != first || begins != local)
        return refuse(op, "its target overlaps its sources, and is not one of them");
      begins = i;
    }
    for (std::size_t i = 1; op.row->packets_read && i < local; ++i)
      waitForPackets(op, op.sources[i]);
    if (begins == local) {
      begins = 0;
      add(stepOf(op, StepKind::kCopy, op.sources[0], dst));
    }
    for (std::size_t i = 0; i < local; ++i) {
      if (i != begins) add(stepOf(op, StepKind::kReduce, op.sources[i], dst));
    }
    for (std::size_t i = local; i < op.sources.size(); ++i)
      addRead(op, StepKind::kReceiveReduce, op.sources[i], dst);
    for (std::size_t i = 1; i < op.targets.size(); ++i)
      addWrite(op, dst, i);
  }

  // Signals.

  void addSignal(const PlanOp& op, std::int32_t channel, PlanOpKind kind) {
    const auto [peer, number] = channelOf(op, channel);
    const auto rank = static_cast<std::size_t>(peer);
    if (!op.by_port) {
      // Stores need no flush.
      if (kind == PlanOpKind::kWait) add(stepOf(op, StepKind::kReceive), {-1, peer, number});
      if (kind == PlanOpKind::kSignal) add(stepOf(op, StepKind::kSend), {peer, -1, number});
      return;
    }
    if (kind == PlanOpKind::kWait) {
      const std::uint32_t turn = waited_[{rank_, rank, number}]++;
      waitFor({EventOf::kPort, rank_, rank, number, turn}, op,
              "waits for signal " + llvm::Twine(turn) + " of gpu " + llvm::Twine(rank) +
                  ", which nobody sends");
      return;
    }
    RankStep signal = stepOf(op, StepKind::kSend);
    signal.arrives = kind == PlanOpKind::kFlush;
    addByProxy(op, channel, signal);
    const StepOfRank arrival = addThere(rank, kPorts + number, stepOf(op, StepKind::kReceive));
    if (kind == PlanOpKind::kSignal) happen(signalTo({peer, number}), arrival);
  }

  /// The next signal through a port.
  EventKey signalTo(const PlanGpu::Channel& port) {
    const auto rank = static_cast<std::size_t>(port.peer);
    return {EventOf::kPort, rank, rank_, port.number, signalled_[{rank_, rank, port.number}]++};
  }

  // Semaphores.

  struct Uses {
    std::uint32_t count = 0, blocks = 0;
    std::size_t last_block = ~std::size_t{0};
  };
  struct Semaphore {
    Uses acquires, releases;                   // in the plan
    std::uint32_t acquired = 0, released = 0;  // so far
  };

  void countSemaphores(const PlanOp& op) {
    const bool acquires = op.row->kind == PlanOpKind::kAcquire;
    if (!acquires && op.row->kind != PlanOpKind::kRelease) return;
    for (const std::int32_t id : op.ids) {
      Semaphore& semaphore = semaphores_[static_cast<std::size_t>(id)];
      Uses& uses = acquires ? semaphore.acquires : semaphore.releases;
      ++uses.count;
      if (std::exchange(uses.last_block, block_) != block_) ++uses.blocks;
      if (acquires && uses.blocks > 1) {
        return refuse(op, "acquires semaphore " + llvm::Twine(id) +
                              ", as another thread block does: who comes first is not said");
      }
    }
  }

  void addSemaphores(const PlanOp& op) {
    for (const std::int32_t id : op.ids) {
      Semaphore& semaphore = semaphores_[static_cast<std::size_t>(id)];
      if (op.row->kind == PlanOpKind::kRelease) {
        happen({EventOf::kSemaphore, rank_, 0, id, semaphore.released++}, endSoFar(op));
        continue;
      }
      const std::uint32_t turn = semaphore.acquired++;
      const auto begin = static_cast<std::uint32_t>(gpu().semaphores[static_cast<std::size_t>(id)]);
      if (turn < begin) continue;
      const Uses& releases = semaphore.releases;
      // With several releasing blocks the releaser is known only after all of them.
      const bool is_known = releases.blocks <= 1;
      if (!is_known && turn - begin + 1 < releases.count) continue;
      for (std::uint32_t i = is_known ? turn - begin : 0; i <= turn - begin; ++i) {
        waitFor({EventOf::kSemaphore, rank_, 0, id, i}, op,
                "deadlock: acquires semaphore " + llvm::Twine(id) + " for the " +
                    llvm::Twine(turn + 1) + ". time, which begins with " + llvm::Twine(begin) +
                    " and is released " + llvm::Twine(releases.count) + " times");
      }
    }
  }

  // Barriers.

  struct Barrier {
    std::int32_t blocks = 0;
    std::vector<StepOfRank> arrivals;
    const PlanOp* op = nullptr;  // the last one
  };

  void addArrival(const PlanOp& op) {
    const std::int32_t id = op.ids[0], blocks = op.ids[1];
    const std::uint32_t turn = arrivals_[id]++;
    Barrier& barrier = barriers_[{id, turn}];
    if (!barrier.arrivals.empty() && barrier.blocks != blocks) {
      return refuse(op, "barrier " + llvm::Twine(id) + " waits for " + llvm::Twine(blocks) +
                            " thread blocks here, for " + llvm::Twine(barrier.blocks) +
                            " elsewhere");
    }
    barrier.blocks = blocks;
    barrier.arrivals.push_back(endSoFar(op));
    barrier.op = &op;
    waitFor({EventOf::kBarrier, rank_, 0, id, turn}, op, "");
  }

  void addBarriers() {
    std::int32_t hub = -1;
    std::int32_t id = -1;
    for (const auto& [key, barrier] : barriers_) {
      const std::string at = programs_.at(barrier.op->line), of = "gpu " + std::to_string(rank_);
      if (barrier.arrivals.size() != static_cast<std::size_t>(barrier.blocks)) {
        return refuse(at + of + ": deadlock: barrier " + llvm::Twine(key.first) + " waits for " +
                      llvm::Twine(barrier.blocks) + " thread blocks, and " +
                      llvm::Twine(barrier.arrivals.size()) + " come to it");
      }
      if (key.first != id) {
        id = key.first;
        hub = static_cast<std::int32_t>(programs_.ranks[rank_].blocks.size());
        ThreadBlock& block = programs_.ranks[rank_].blocks.emplace_back();
        block.line = barrier.op->line;
        block.name = of + " barrier " + std::to_string(id);
      }
      StepOfRank last;
      for (const StepOfRank& arrival : barrier.arrivals) {
        RankStep step = stepOf(*barrier.op, StepKind::kNothing);
        step.number = key.second;
        step.after = arrival;
        last = push(rank_, hub, step);
      }
      happen({EventOf::kBarrier, rank_, 0, id, key.second}, last);
    }
  }

  std::vector<std::unordered_map<std::int32_t, EventId>> packets_;  // of each gpu, by chunk
  std::map<std::tuple<std::size_t, std::size_t, std::int32_t>, std::uint32_t> waited_, signalled_;

  // Of the current gpu and thread block.
  std::map<std::int32_t, std::uint32_t> arrivals_;  // of barriers
  std::map<std::pair<std::int32_t, std::uint32_t>, Barrier> barriers_;
  std::vector<Semaphore> semaphores_;
};

}  // namespace

llvm::Expected<RankPrograms> readMscclpp(llvm::StringRef text, llvm::StringRef origin) {
  llvm::Expected<MscclppPlan> plan = readMscclppPlan(text, origin);
  if (!plan) return plan.takeError();
  return PlanOperations(*plan, origin).run();
}

}  // namespace torc::ir
