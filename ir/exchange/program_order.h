// The order of a program's steps: matching of messages, precedence of steps, and freedom from
// deadlock.
#ifndef TORC_IR_EXCHANGE_PROGRAM_ORDER_H_
#define TORC_IR_EXCHANGE_PROGRAM_ORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Number of a step, rank by rank, in each block by block.
using StepId = std::uint32_t;
inline constexpr StepId kNoStep = ~StepId{0};

class ProgramOrder {
 public:
  /// Matches messages and orders steps. Refers to `programs`. Throws errors: dependences on missing
  /// steps; two blocks that send, or receive, on one connection; messages with one end only, or
  /// with different lengths; a cycle of steps that wait for each other, which are named.
  explicit ProgramOrder(const RankPrograms& programs);

  StepId idOf(std::size_t rank, std::size_t block, std::size_t index) const {
    return blocks_[rank_begin_[rank] + block].begin + static_cast<StepId>(index);
  }
  StepPosition placeOf(StepId id) const {
    const Block& block = blockOf(id);
    return {block.rank, block.index, id - block.begin};
  }
  const RankStep& step(StepId id) const { return block(id).steps[id - blockOf(id).begin]; }
  const ThreadBlock& block(StepId id) const {
    return programs_->ranks[blockOf(id).rank].blocks[blockOf(id).index];
  }
  std::size_t rankOf(StepId id) const { return blockOf(id).rank; }
  /// `x.xml:57: error: gpu 3 tb 1 step 4: `, and `gpu 3 tb 1 step 4 (line 57)`.
  std::string at(StepId id) const { return programs_->at(placeOf(id)); }
  std::string name(StepId id) const;

  std::size_t size() const { return block_of_.size(); }
  /// The sending step of a received message.
  StepId senderOf(StepId id) const { return sender_[id]; }
  /// All steps, each after its dependences.
  const std::vector<StepId>& order() const { return order_; }
  /// The length of the longest chain of steps that leads to a step.
  std::uint32_t levelOf(StepId id) const { return levels_[id]; }
  /// The index in `earlier` of a step that does not precede `later` by any path of steps and
  /// messages; the size of `earlier` if there is none.
  std::size_t notBefore(llvm::ArrayRef<StepId> earlier, StepId later) const;
  /// The explicit dependence of a step, or kNoStep.
  StepId dependenceOf(StepId id) const;
  /// All predecessors of a step: its previous step, its explicit dependence, the receivers of these
  /// two if they are sends complete on arrival, and the send that it receives; kNoStep for missing
  /// ones.
  std::array<StepId, 5> before(StepId id) const;

 private:
  /// A thread block, and its first step.
  struct Block {
    std::size_t rank, index;
    StepId begin;
  };

  const Block& blockOf(StepId id) const { return blocks_[block_of_[id]]; }
  /// The receiver of a message from `id`, if the send is complete on arrival.
  StepId arrivalOf(StepId id) const {
    return id != kNoStep && receiver_[id] != kNoStep && step(id).arrives ? receiver_[id] : kNoStep;
  }
  void number();
  void match();
  void sort();
  [[noreturn]] void circle(const std::vector<std::uint32_t>& missing) const;

  const RankPrograms* programs_;
  std::vector<Block> blocks_;            // of all ranks
  std::vector<std::size_t> rank_begin_;  // of each rank: its first block
  std::vector<std::uint32_t> block_of_;  // of a step
  std::vector<StepId> receiver_, sender_;
  std::vector<StepId> order_;
  std::vector<std::uint32_t> levels_;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_PROGRAM_ORDER_H_
