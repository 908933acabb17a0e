// Operations as steps of thread blocks, and dependences between these.
#include "ir/exchange/writers/msccl_steps.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ir/exchange/writers/msccl_chunks.h"

namespace torc::ir {
namespace {

/// Messages that have a thread block of their own: peer, whether they are sent, stream.
using BlockKey = std::tuple<std::int32_t, bool, std::uint32_t>;

BlockKey keyOf(const FlatOperation& operation) {
  return {operation.peer, sends(operation.kind), operation.stream};
}

/// Sorted, so that both ends of a connection count its streams alike.
std::vector<BlockKey> keysOf(const FlatProgram& program) {
  std::vector<BlockKey> keys;
  for (const FlatOperation& operation : program.operations) {
    if (operation.peer >= 0) keys.push_back(keyOf(operation));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

/// The channel of `keys[index]`, if that of the key before is `before`.
std::uint32_t channelAt(const std::vector<BlockKey>& keys, std::size_t index,
                        std::uint32_t before) {
  const auto& [peer, sending, stream] = keys[index];
  const bool shares =
      index > 0 && std::get<0>(keys[index - 1]) == peer && std::get<1>(keys[index - 1]) == sending;
  return shares ? before + 1 : 0;
}

class BlocksOfRank {
 public:
  BlocksOfRank(const FlatProgram& program, std::uint64_t chunk)
      : program_(program), chunk_(chunk), keys_(keysOf(program)), waited_(keys_.size()) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto& [peer, sending, stream] = keys_[i];
      MscclBlock block;
      (sending ? block.send : block.recv) = peer;
      block.channel = channelAt(keys_, i, i > 0 ? blocks_.back().channel : 0);
      blocks_.push_back(std::move(block));
    }
  }

  /// `other` is nothing of what is no message, and of a message of one chunk.
  void add(const FlatOperation& operation, const OtherEnd& other) {
    Steps before;
    for (const std::uint32_t dependence : program_.dependencesOf(operation)) {
      for (const auto& [block, step] : ends_[dependence]) {
        std::size_t& last = before.try_emplace(block, step).first->second;
        last = std::max(last, step);
      }
    }
    // What waits for a join waits for all that it does: in a thread block of others it would hold
    // these up.
    if (operation.isJoin()) return ends_.push_back(std::move(before));
    block_ =
        operation.peer >= 0
            ? static_cast<std::size_t>(
                  std::lower_bound(keys_.begin(), keys_.end(), keyOf(operation)) - keys_.begin())
            : localBlock(operation, before);
    waitFor(before);
    if (isSignal(operation.kind)) {
      // The format has no message without data: a chunk behind the scratch, whatever it holds.
      const MscclPlace place{
          's', static_cast<std::int64_t>((program_.scratch_elements + chunk_ - 1) / chunk_)};
      step(operation.kind == OperationKind::kNotify ? "s" : "r", place, place, 1);
    } else {
      addSteps(operation, other);
    }
    ends_.push_back({{block_, blocks_[block_].steps.size() - 1}});
  }

  std::vector<MscclBlock> take() { return std::move(blocks_); }

 private:
  using Steps = std::map<std::size_t, std::size_t>;  // the last one by block

  /// Whether what has gone through `block` so far has waited for `step` of `other`.
  bool hasWaited(std::size_t block, std::size_t other, std::size_t step) const {
    const auto known = waited_[block].find(other);
    return block == other || (known != waited_[block].end() && known->second >= step);
  }

  /// A block whose last step the copy or sum waits for in any case, so that its place there delays
  /// nothing without end: of copies and sums or, if it waits for nothing else, of messages. Those
  /// that wait for nothing have one of their own for each stream. Else a new one.
  std::size_t localBlock(const FlatOperation& operation, const Steps& before) {
    for (const bool of_messages : {false, true}) {
      for (const auto& [block, step] : before) {
        if ((block < keys_.size()) != of_messages || step + 1 != blocks_[block].steps.size())
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

  /// Adds `nop`s for all that is waited for but the last, which the next step has.
  void waitFor(const Steps& before) {
    after_ = {};
    for (const auto& [block, step] : before) {
      if (hasWaited(block_, block, step)) continue;
      if (after_.after_block >= 0) this->step("nop", {'i', -1}, {'o', -1}, 0);
      after_.after_block = static_cast<std::int64_t>(block);
      after_.after_step = static_cast<std::int64_t>(step);
      blocks_[block].steps[step].waited_for = true;
      waited_[block_][block] = step;
    }
  }

  void step(llvm::StringRef type, const MscclPlace& src, const MscclPlace& dst,
            std::uint64_t chunks) {
    MscclStep step = after_;
    after_ = {};
    step.type = type;
    step.src = src;
    step.dst = dst;
    step.chunks = chunks;
    std::vector<MscclStep>& steps = blocks_[block_].steps;
    // Readers make one of sums in a row into one place, of the last one's length, unless something
    // waits for the first.
    if (type == "re" && step.after_block < 0 && !steps.empty() && steps.back().type == "re" &&
        steps.back().dst == dst && steps.back().chunks != chunks) {
      steps.back().waited_for = true;
    }
    steps.push_back(step);
  }

  /// A region, and how far it has been gone through.
  struct Side {
    Side(const FlatProgram& program, const FlatRegion& region, std::uint64_t chunk)
        : buffer(region.buffer == Buffer::kIn    ? 'i'
                 : region.buffer == Buffer::kOut ? 'o'
                                                 : 's'),
          runs(runsOf(program, region, chunk)) {}
    char buffer;
    ChunkRuns runs;
  };

  void addSteps(const FlatOperation& operation, const OtherEnd& other) {
    const Side dst(program_, operation.dst, chunk_), a(program_, operation.a, chunk_);
    // What is received into is not needed: the sum takes what arrives.
    const FlatRegion nothing;
    const Side b(program_, operation.kind == OperationKind::kReduce ? operation.b : nothing,
                 chunk_);
    std::vector<ChunkRuns> lists{dst.runs, a.runs, b.runs};
    if (other.program != nullptr) {
      lists.push_back(runsOf(*other.program, other.operation->dst, chunk_));
      lists.push_back(runsOf(*other.program, other.operation->a, chunk_));
    }
    RunWalk at_dst(dst.runs), at_a(a.runs), at_b(b.runs);
    const auto placeOf = [](const Side& side, RunWalk& at, std::uint64_t length) {
      if (side.runs.empty()) return MscclPlace{};
      return MscclPlace{side.buffer, static_cast<std::int64_t>(at.next(length))};
    };
    for (const std::uint64_t length : commonRuns(lists)) {
      const MscclPlace to = placeOf(dst, at_dst, length), from = placeOf(a, at_a, length),
                       other_addend = placeOf(b, at_b, length);
      switch (operation.kind) {
        case OperationKind::kSend:
          step("s", from, from, length);
          break;
        case OperationKind::kRecv:
          step("r", to, to, length);
          break;
        case OperationKind::kRecvReduce:
          if (from != to) step("cpy", from, to, length);
          step("rrc", to, to, length);
          break;
        case OperationKind::kReduce:
          if (other_addend == to) {
            step("re", from, to, length);
          } else {
            if (from != to) step("cpy", from, to, length);
            step("re", other_addend, to, length);
          }
          break;
        default:
          step("cpy", from, to, length);
      }
    }
  }

  const FlatProgram& program_;
  const std::uint64_t chunk_;
  const std::vector<BlockKey> keys_;
  std::vector<MscclBlock> blocks_;  // by key, then those of copies and sums
  std::vector<Steps> waited_;       // by block: what it has waited for
  std::vector<Steps> ends_;         // by operation: complete when these are
  /// By stream: the block of copies and sums that wait for nothing.
  std::map<std::uint32_t, std::size_t> first_blocks_;
  std::size_t block_ = 0;  // of the operation that is added
  MscclStep after_;        // what the next step waits for
};

}  // namespace

std::uint32_t channelsOf(const FlatProgram& program) {
  const std::vector<BlockKey> keys = keysOf(program);
  std::uint32_t channel = 0, most = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    channel = channelAt(keys, i, channel);
    most = std::max(most, channel);
  }
  return most + 1;
}

llvm::Expected<std::vector<MscclBlock>> blocksOf(
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
