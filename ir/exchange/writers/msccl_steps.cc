// Turns operations into steps of thread blocks, and dependences into those between steps.
#include "ir/exchange/writers/msccl_steps.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <llvm/ADT/STLExtras.h>

namespace torc::ir {
namespace {

/// Most chunks of a step: MSCCL_MAX_COUNT of msccl_struct.h is one more.
constexpr std::size_t kMostChunksOfStep = 71;

/// Messages that share a thread block: peer, direction (sent or not), stream.
using BlockKey = std::tuple<std::int32_t, bool, std::uint32_t>;

BlockKey keyOf(const FlatOperation& operation) {
  return {operation.peer, sends(operation.kind), operation.stream};
}

/// The thread blocks of messages, sorted so that both ends of a connection count its streams alike.
std::map<BlockKey, ThreadBlock> messageBlocks(const FlatProgram& program) {
  std::map<BlockKey, ThreadBlock> blocks;
  for (const FlatOperation& operation : program.operations) {
    if (operation.peer >= 0) blocks.try_emplace(keyOf(operation));
  }
  const ThreadBlock* before = nullptr;
  for (auto& [key, block] : blocks) {
    (std::get<bool>(key) ? block.send_peer : block.receive_peer) = std::get<std::int32_t>(key);
    if (before != nullptr && before->send_peer == block.send_peer &&
        before->receive_peer == block.receive_peer) {
      block.channel = before->channel + 1;
    }
    before = &block;
  }
  return blocks;
}

/// The chunks of a region in order; `chunk` elements divide it.
std::vector<std::int32_t> chunksOf(const FlatProgram& program, const FlatRegion& region,
                                   std::uint64_t chunk) {
  std::vector<std::int32_t> chunks;
  for (const Extent& extent : program.extentsOf(region)) {
    for (std::uint64_t i = 0; i < extent.length / chunk; ++i)
      chunks.push_back(static_cast<std::int32_t>(extent.offset / chunk + i));
  }
  return chunks;
}

class BlocksOfRank {
 public:
  BlocksOfRank(const FlatProgram& program, std::uint64_t chunk) : program_(program), chunk_(chunk) {
    for (auto& [key, block] : messageBlocks(program)) {
      message_blocks_.emplace(key, blocks_.size());
      blocks_.push_back(std::move(block));
    }
    waited_.resize(blocks_.size());
  }

  /// `other` is empty for operations without a message, and for messages of one chunk.
  void add(const FlatOperation& operation, const OtherEnd& other) {
    Steps before;
    for (const std::uint32_t dependence : program_.dependencesOf(operation)) {
      for (const auto& [block, step] : ends_[dependence]) {
        std::size_t& last = before.try_emplace(block, step).first->second;
        last = std::max(last, step);
      }
    }
    // Dependants of a join wait for all its dependences: as a step it would delay others in its
    // thread block.
    if (operation.isJoin()) return ends_.push_back(std::move(before));
    block_ =
        operation.peer >= 0 ? message_blocks_.at(keyOf(operation)) : localBlock(operation, before);
    waitFor(before);
    if (isSignal(operation.kind)) {
      // The format has no message without data: a chunk behind the scratch is sent, whatever its
      // content.
      const ChunkRun place{
          ChunkBuffer::kScratch,
          static_cast<std::int32_t>((program_.scratch_elements + chunk_ - 1) / chunk_)};
      step(sends(operation.kind) ? StepKind::kSend : StepKind::kReceive, place, place, 1);
    } else {
      addSteps(operation, other);
    }
    ends_.push_back({{block_, blocks_[block_].steps.size() - 1}});
  }

  std::vector<ThreadBlock> take() { return std::move(blocks_); }

 private:
  using Steps = std::map<std::size_t, std::size_t>;  // by block: the last one

  /// Whether `block` already waits for `step` of `other`.
  bool hasWaited(std::size_t block, std::size_t other, std::size_t step) const {
    const auto known = waited_[block].find(other);
    return block == other || (known != waited_[block].end() && known->second >= step);
  }

  /// A block whose last step is a dependence of the copy or sum in any case, so that its place
  /// there adds no unbounded delay: a block of copies and sums or, if there are no other
  /// dependences, of messages. Copies and sums without dependences have a block for each stream.
  /// Otherwise a new block.
  std::size_t localBlock(const FlatOperation& operation, const Steps& before) {
    for (const bool of_messages : {false, true}) {
      for (const auto& [block, step] : before) {
        if ((block < message_blocks_.size()) != of_messages ||
            step + 1 != blocks_[block].steps.size())
          continue;
        const auto isKnown = [this, at = block](const Steps::value_type& other) {
          return hasWaited(at, other.first, other.second);
        };
        if (of_messages && !std::all_of(before.begin(), before.end(), isKnown)) continue;
        std::erase_if(first_blocks_,
                      [at = block](const auto& first) { return first.second == at; });
        return block;
      }
    }
    if (before.empty()) {
      const auto [first, is_new] = first_blocks_.try_emplace(operation.stream, blocks_.size());
      if (!is_new) return first->second;
    }
    blocks_.emplace_back();
    waited_.emplace_back();
    return blocks_.size() - 1;
  }

  /// Adds empty steps for all dependences but the last, which the next step has.
  void waitFor(const Steps& before) {
    after_ = {};
    for (const auto& [block, step] : before) {
      if (hasWaited(block_, block, step)) continue;
      if (after_.block >= 0) {
        this->step(StepKind::kNothing, {ChunkBuffer::kInput, -1}, {ChunkBuffer::kOutput, -1}, 0);
      }
      after_ = {static_cast<std::int32_t>(block), static_cast<std::int32_t>(step)};
      blocks_[block].steps[step].waited_for = true;
      waited_[block_][block] = step;
    }
  }

  void step(StepKind kind, const ChunkRun& src, const ChunkRun& dst, std::int32_t chunks) {
    const RankStep step{
        .kind = kind, .src = src, .dst = dst, .count = chunks, .after = std::exchange(after_, {})};
    std::vector<RankStep>& steps = blocks_[block_].steps;
    // Readers merge consecutive sums into one place, with the last one's length, unless a step
    // waits for the first.
    if (kind == StepKind::kReduce && step.after.block < 0 && !steps.empty() &&
        steps.back().kind == kind && steps.back().dst == dst && steps.back().count != chunks) {
      steps.back().waited_for = true;
    }
    steps.push_back(step);
  }

  /// Each step moves one run of chunks, contiguous at both ends.
  void addSteps(const FlatOperation& operation, const OtherEnd& other) {
    // The receive buffer is not needed: the sum reads the received message.
    const FlatRegion nothing;
    const FlatRegion* const regions[] = {
        &operation.dst, &operation.a,
        operation.kind == OperationKind::kReduce ? &operation.b : &nothing};
    std::vector<std::int32_t> lists[5];
    for (std::size_t i = 0; i < 3; ++i)
      lists[i] = chunksOf(program_, *regions[i], chunk_);
    if (other.program != nullptr) {
      lists[3] = chunksOf(*other.program, other.operation->dst, chunk_);
      lists[4] = chunksOf(*other.program, other.operation->a, chunk_);
    }
    const std::size_t all = std::max(lists[0].size(), lists[1].size());
    for (std::size_t begin = 0, end = 0; begin < all; begin = end) {
      const auto goesOn = [&](const std::vector<std::int32_t>& list) {
        return list.empty() || list[end] == list[end - 1] + 1;
      };
      end = begin + 1;
      while (end < std::min(all, begin + kMostChunksOfStep) && llvm::all_of(lists, goesOn))
        ++end;
      const auto placeOf = [&](std::size_t i) {
        if (lists[i].empty()) return ChunkRun{ChunkBuffer::kInput, -1};
        return ChunkRun{regions[i]->buffer == Buffer::kIn    ? ChunkBuffer::kInput
                        : regions[i]->buffer == Buffer::kOut ? ChunkBuffer::kOutput
                                                             : ChunkBuffer::kScratch,
                        lists[i][begin]};
      };
      const ChunkRun to = placeOf(0), from = placeOf(1), addend = placeOf(2);
      const auto count = static_cast<std::int32_t>(end - begin);
      switch (operation.kind) {
        case OperationKind::kSend:
          step(StepKind::kSend, from, from, count);
          break;
        case OperationKind::kRecv:
          step(StepKind::kReceive, to, to, count);
          break;
        case OperationKind::kRecvReduce:
          if (from != to) step(StepKind::kCopy, from, to, count);
          step(StepKind::kReceiveReduce, to, to, count);
          break;
        case OperationKind::kReduce: {
          const bool is_there = addend == to;
          if (!is_there && from != to) step(StepKind::kCopy, from, to, count);
          step(StepKind::kReduce, is_there ? from : addend, to, count);
          break;
        }
        default:
          step(StepKind::kCopy, from, to, count);
      }
    }
  }

  const FlatProgram& program_;
  const std::uint64_t chunk_;
  std::map<BlockKey, std::size_t> message_blocks_;
  std::vector<ThreadBlock> blocks_;  // of messages, then of copies and sums
  std::vector<Steps> waited_;        // by block: its dependences so far
  std::vector<Steps> ends_;          // by operation: complete when these are
  /// By stream: the block of copies and sums without dependences.
  std::map<std::uint32_t, std::size_t> first_blocks_;
  std::size_t block_ = 0;  // of the current operation
  StepOfRank after_;       // dependence of the next step
};

}  // namespace

std::uint64_t channelsOf(const FlatProgram& program) {
  std::int32_t most = 0;
  for (const auto& [key, block] : messageBlocks(program))
    most = std::max(most, block.channel);
  return static_cast<std::uint64_t>(most) + 1;
}

llvm::Expected<std::vector<ThreadBlock>> blocksOf(
    const FlatProgram& program, std::uint64_t chunk,
    llvm::function_ref<llvm::Expected<OtherEnd>(const FlatOperation& message)> otherEnd) {
  BlocksOfRank blocks(program, chunk);
  for (const FlatOperation& operation : program.operations) {
    OtherEnd other;
    const FlatRegion& moved = sends(operation.kind) ? operation.a : operation.dst;
    if (operation.peer >= 0 && moved.elements > chunk) {
      llvm::Expected<OtherEnd> found = otherEnd(operation);
      if (!found) return found.takeError();
      other = *found;
    }
    blocks.add(operation, other);
  }
  return blocks.take();
}

}  // namespace torc::ir
