// Hazards, rank by rank: clocks record the steps before each step, and the last users of each cell
// are the required ones.
#include "ir/exchange/step_hazards.h"

#include <algorithm>
#include <tuple>

#include <llvm/ADT/SmallVector.h>

#include "ir/thrown.h"

namespace torc::ir {
namespace {

constexpr std::size_t kMaxClocks = std::size_t{1} << 28;  // numbers, for one rank

/// For every step of a rank and every block: the number of steps of that block that are complete
/// before.
class Clocks {
 public:
  Clocks(const ProgramOrder& order, std::size_t rank, std::size_t steps, std::size_t blocks)
      : order_(order), first_(order.idOf(rank, 0, 0)), blocks_(blocks), rows_(steps * blocks) {}

  /// Add steps in an order that respects their dependences.
  void add(StepId step) {
    const auto join = [&](StepId before) {
      const StepPosition other = order_.placeOf(before);
      std::uint32_t* const row = rowOf(step);
      for (std::size_t b = 0; b < blocks_; ++b)
        row[b] = std::max(row[b], rowOf(before)[b]);
      row[other.block] = std::max(row[other.block], static_cast<std::uint32_t>(other.index + 1));
    };
    if (order_.placeOf(step).index > 0) join(step - 1);
    if (const StepId named = order_.dependenceOf(step); named != kNoStep) join(named);
  }
  /// Whether an action is complete before another begins.
  bool isBefore(ActionId a, ActionId b) {
    if (a / 2 == b / 2) return a < b;
    const StepPosition place = order_.placeOf(a / 2);
    return rowOf(b / 2)[place.block] > place.index;
  }

 private:
  std::uint32_t* rowOf(StepId step) { return rows_.data() + (step - first_) * blocks_; }

  const ProgramOrder& order_;
  StepId first_;
  std::size_t blocks_;
  std::vector<std::uint32_t> rows_;
};

/// The last users of a cell.
struct Users {
  ActionId writer = kNoStep;
  llvm::SmallVector<ActionId, 2> readers;  // since then
};

}  // namespace

std::array<Accesses, 2> accessesOf(const ProgramOrder& order, const ChunkCells& cells, StepId id) {
  const RankStep& step = order.step(id);
  std::uint32_t src = Accesses::kNone, dst = Accesses::kNone;
  for (const auto& [touches, run, cell] : {std::tuple(step.row().reads_src, &step.src, &src),
                                           std::tuple(step.row().writes_dst, &step.dst, &dst)}) {
    if (touches) *cell = cells.cellOf(order.placeOf(id), *run, step.count);
  }
  std::array<Accesses, 2> actions;
  // In place, a copy from the input to the same chunk of the output is no operation.
  if (step.kind == StepKind::kCopy && src == dst) return actions;
  if (step.kind == StepKind::kSend) {
    actions[1].reads = src;
    return actions;
  }
  actions[0] = {src, step.kind == StepKind::kReduce ? dst : Accesses::kNone, dst};
  if (step.row().sends) actions[1].reads = dst;  // kNone if nothing is stored
  return actions;
}

StepHazards::StepHazards(const RankPrograms& programs, const ProgramOrder& order,
                         const ChunkCells& cells) {
  begin_.resize(2 * order.size());
  count_.resize(2 * order.size());
  std::vector<std::vector<StepId>> steps_of(programs.ranks.size());
  for (const StepId step : order.order())
    steps_of[order.rankOf(step)].push_back(step);
  std::vector<ActionId> before;
  std::vector<StepId> unordered;  // not ordered by the rank alone
  std::vector<std::uint32_t> unordered_cells;
  for (std::size_t rank = 0; rank < programs.ranks.size(); ++rank) {
    if (steps_of[rank].empty()) continue;
    const std::size_t blocks = programs.ranks[rank].blocks.size();
    if (steps_of[rank].size() * blocks > kMaxClocks) {
      throwError(programs.at() + "gpu " + llvm::Twine(rank) +
                 " has too many steps and thread blocks to order them");
    }
    Clocks clocks(order, rank, steps_of[rank].size(), blocks);
    std::vector<Users> users(cells.count(rank));
    for (const StepId step : steps_of[rank]) {
      clocks.add(step);
      const std::array<Accesses, 2> actions = accessesOf(order, cells, step);
      const auto count = static_cast<std::uint32_t>(order.step(step).count);
      for (std::uint32_t role = 0; role < 2; ++role) {
        const ActionId action = 2 * step + role;
        const Accesses& accesses = actions[role];
        before.clear();
        // A forwarded value that is stored nowhere leaves no access.
        if (role == 1 && order.step(step).kind == StepKind::kReceiveReduceSend) {
          before.push_back(action - 1);
        }
        unordered.clear();
        unordered_cells.clear();
        const auto follow = [&](ActionId earlier, std::uint32_t cell) {
          if (earlier == kNoStep || earlier == action) return;
          before.push_back(earlier);
          if (clocks.isBefore(earlier, action)) return;
          unordered.push_back(earlier / 2);
          unordered_cells.push_back(cell);
        };
        for (const std::uint32_t first : {accesses.reads, accesses.reads_too}) {
          if (first == Accesses::kNone) continue;
          for (std::uint32_t cell = first; cell < first + count; ++cell) {
            follow(users[cell].writer, cell);
            users[cell].readers.push_back(action);
          }
        }
        if (accesses.writes != Accesses::kNone) {
          for (std::uint32_t cell = accesses.writes; cell < accesses.writes + count; ++cell) {
            Users& of = users[cell];
            if (of.readers.empty()) follow(of.writer, cell);
            for (const ActionId reader : of.readers)
              follow(reader, cell);
            of.readers.clear();
            of.writer = action;
          }
        }
        // Messages may order steps that the rank itself does not.
        if (const std::size_t i = order.notBefore(unordered, step); i < unordered.size()) {
          throwError(order.at(step) + "race: it touches " + cells.nameOf(unordered_cells[i]) +
                     ", as " + order.name(unordered[i]) + " does, and neither waits for the other");
        }
        std::ranges::sort(before);
        before.erase(std::unique(before.begin(), before.end()), before.end());
        begin_[action] = earlier_.size();
        count_[action] = static_cast<std::uint32_t>(before.size());
        earlier_.insert(earlier_.end(), before.begin(), before.end());
      }
    }
  }
}

}  // namespace torc::ir
