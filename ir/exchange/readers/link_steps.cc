// Moves of chunks as steps at both ends of links.
#include "ir/exchange/readers/link_steps.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace torc::ir {

StepOf appendStep(RankProgram& program, std::int32_t block, RankStep step,
                  llvm::ArrayRef<StepOf> before) {
  std::vector<RankStep>& steps = program.blocks[static_cast<std::size_t>(block)].steps;
  for (const StepOf& earlier : before) {
    if (earlier.block == -1 || earlier.block == block) continue;
    if (step.after_block != -1) {
      RankStep& nothing = steps.emplace_back();
      nothing.line = step.line;
      nothing.number = step.number;
      nothing.after_block = step.after_block;
      nothing.after = step.after;
    }
    step.after_block = earlier.block;
    step.after = earlier.index;
  }
  steps.push_back(step);
  return {block, static_cast<std::int32_t>(steps.size()) - 1};
}

LinkSteps::Users& LinkSteps::usersOf(std::size_t rank, const ChunkRun& chunk) {
  const auto buffer = static_cast<std::uint32_t>(chunk.buffer);
  return users_[rank][static_cast<std::uint32_t>(chunk.first) * 3 + buffer];
}

void LinkSteps::add(std::size_t rank, Peers peers, RankStep step) {
  RankProgram& program = programs_.ranks[rank];
  const auto [found, is_new] =
      blocks_[rank].try_emplace(peers, static_cast<std::int32_t>(program.blocks.size()));
  const std::int32_t number = found->second;
  if (is_new) {
    ThreadBlock& block = program.blocks.emplace_back();
    std::tie(block.send_peer, block.receive_peer) = peers;
    block.line = step.line;
    const auto own = std::to_string(rank);
    block.name = peers.first >= 0    ? "link " + own + " to " + std::to_string(peers.first)
                 : peers.second >= 0 ? "link " + std::to_string(peers.second) + " to " + own
                                     : "gpu " + own;
  }
  const bool writes = step.kind != StepKind::kSend;
  const bool reads = step.kind != StepKind::kReceive;
  llvm::SmallVector<StepOf, 8> before;
  if (reads) before.push_back(usersOf(rank, step.src).writer);
  if (writes) {
    const Users& users = usersOf(rank, step.dst);
    before.push_back(users.writer);
    before.append(users.readers);
  }
  // Of each block the last one.
  llvm::SmallVector<StepOf, 8> last;
  for (const StepOf& one : before) {
    auto* const same = std::find_if(last.begin(), last.end(),
                                    [&](const StepOf& s) { return s.block == one.block; });
    if (same == last.end()) {
      last.push_back(one);
    } else {
      same->index = std::max(same->index, one.index);
    }
  }
  const std::size_t steps = program.blocks[static_cast<std::size_t>(number)].steps.size();
  const StepOf at = appendStep(program, number, step, last);
  steps_ += static_cast<std::size_t>(at.index) + 1 - steps;
  if (reads) usersOf(rank, step.src).readers.push_back(at);
  if (writes) usersOf(rank, step.dst) = {at, {}};
}

void LinkSteps::move(std::size_t from, const ChunkRun& source, std::size_t to,
                     const ChunkRun& target, bool adds, std::uint32_t line, std::uint32_t number) {
  RankStep step;
  step.line = line;
  step.number = number;
  step.count = 1;
  step.kind = StepKind::kSend;
  step.src = source;
  add(from, {static_cast<std::int32_t>(to), -1}, step);
  step.kind = adds ? StepKind::kReceiveReduce : StepKind::kReceive;
  step.src = step.dst = target;
  add(to, {-1, static_cast<std::int32_t>(from)}, step);
}

void LinkSteps::work(std::size_t rank, const ChunkRun& source, const ChunkRun& target, bool adds,
                     std::uint32_t line, std::uint32_t number) {
  RankStep step;
  step.line = line;
  step.number = number;
  step.count = 1;
  step.kind = adds ? StepKind::kReduce : StepKind::kCopy;
  step.src = source;
  step.dst = target;
  add(rank, {-1, -1}, step);
}

}  // namespace torc::ir
