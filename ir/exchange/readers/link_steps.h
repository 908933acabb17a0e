// Rank programs of moves: formats that only say which chunk goes over which link, in an order in
// which all of them may be executed one by one. Each link has a thread block at either end; what
// steps touch tells which of them wait for each other.
#ifndef TORC_IR_EXCHANGE_READERS_LINK_STEPS_H_
#define TORC_IR_EXCHANGE_READERS_LINK_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// A step of a rank, by its block and its place there, which others wait for; block -1: nothing.
struct StepOf {
  std::int32_t block = -1, index = 0;
};

/// Appends a step that waits for all of `before`: for all but one by steps before it, which do
/// nothing.
StepOf appendStep(RankProgram& program, std::int32_t block, RankStep step,
                  llvm::ArrayRef<StepOf> before);

class LinkSteps {
 public:
  explicit LinkSteps(RankPrograms& programs)
      : programs_(programs), blocks_(programs.ranks.size()), users_(programs.ranks.size()) {}

  /// A chunk of `from` goes to `to`, or is added to what is there.
  void move(std::size_t from, const ChunkRun& source, std::size_t to, const ChunkRun& target,
            bool adds, std::uint32_t line, std::uint32_t number);
  /// The same within a rank.
  void work(std::size_t rank, const ChunkRun& source, const ChunkRun& target, bool adds,
            std::uint32_t line, std::uint32_t number);
  /// Steps so far, of all ranks.
  std::uint64_t steps() const { return steps_; }

 private:
  /// Who has written a chunk last, and who has read it since.
  struct Users {
    StepOf writer;
    llvm::SmallVector<StepOf, 2> readers;
  };
  using Peers = std::pair<std::int32_t, std::int32_t>;  // to send to, to receive from

  void add(std::size_t rank, Peers peers, RankStep step);
  Users& usersOf(std::size_t rank, const ChunkRun& chunk);

  RankPrograms& programs_;
  std::vector<std::map<Peers, std::int32_t>> blocks_;
  std::vector<std::unordered_map<std::uint32_t, Users>> users_;  // by buffer and chunk
  std::uint64_t steps_ = 0;
};

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_LINK_STEPS_H_
