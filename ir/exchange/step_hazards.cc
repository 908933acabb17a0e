// Hazards, rank by rank: a clock tells what comes before a step, the last users of a cell what
// must.
#include "ir/exchange/step_hazards.h"

#include <algorithm>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/make_error.h"

namespace torc::ir {
namespace {

constexpr std::size_t kMaxClocks = std::size_t{1} << 28;  // numbers, for one rank

/// For every step of a rank and every block: how many steps of that block are complete before.
class Clocks {
 public:
  Clocks(const RankPrograms& programs, const ProgramOrder& order, std::size_t rank)
      : order_(order), first_(order.idOf(rank, 0, 0)), blocks_(programs.ranks[rank].blocks.size()) {
    std::size_t steps = 0;
    for (const ThreadBlock& block : programs.ranks[rank].blocks)
      steps += block.steps.size();
    fits_ = steps * blocks_ <= kMaxClocks;
    if (fits_) rows_.resize(steps * blocks_);
  }

  bool fits() const { return fits_; }
  /// In an order in which steps come behind those that they wait for.
  void add(StepId step) {
    const StepPosition place = order_.placeOf(step);
    std::uint32_t* const row = rowOf(step);
    const auto join = [&](StepId before) {
      const StepPosition other = order_.placeOf(before);
      const std::uint32_t* const from = rowOf(before);
      for (std::size_t b = 0; b < blocks_; ++b)
        row[b] = std::max(row[b], from[b]);
      row[other.block] = std::max(row[other.block], static_cast<std::uint32_t>(other.index + 1));
    };
    if (place.index > 0) join(step - 1);
    if (const StepId named = order_.dependenceOf(step); named != kNoStep) join(named);
  }
  /// Whether an action is over before another begins.
  bool isBefore(ActionId a, ActionId b) const {
    if (a / 2 == b / 2) return a < b;
    const StepPosition place = order_.placeOf(a / 2);
    return rowOf(b / 2)[place.block] > place.index;
  }

 private:
  std::uint32_t* rowOf(StepId step) { return rows_.data() + (step - first_) * blocks_; }
  const std::uint32_t* rowOf(StepId step) const { return rows_.data() + (step - first_) * blocks_; }

  const ProgramOrder& order_;
  StepId first_;
  std::size_t blocks_;
  bool fits_ = false;
  std::vector<std::uint32_t> rows_;
};

/// Who has touched a cell last.
struct Users {
  ActionId writer = kNoStep;
  llvm::SmallVector<ActionId, 2> readers;  // since then
};

}  // namespace

llvm::Error findAccesses(const ProgramOrder& order, const ChunkCells& cells, StepId id,
                         Accesses (&actions)[2]) {
  const RankStep& step = order.step(id);
  actions[0] = actions[1] = {};
  const auto find = [&](const ChunkRun& run, std::uint32_t& cell) -> llvm::Error {
    llvm::Expected<std::uint32_t> found = cells.cellOf(order.rankOf(id), run, step.count);
    if (!found) return makeError(order.at(id) + toString(found.takeError()));
    cell = *found;
    return llvm::Error::success();
  };
  const bool reads =
      step.kind == StepKind::kSend || step.kind == StepKind::kCopy || hasReduction(step.kind);
  const bool writes = step.kind != StepKind::kNothing && step.kind != StepKind::kSend &&
                      step.kind != StepKind::kReceiveReduceSend;
  std::uint32_t src = Accesses::kNone, dst = Accesses::kNone;
  if (reads) {
    if (llvm::Error error = find(step.src, src)) return error;
  }
  if (writes) {
    if (llvm::Error error = find(step.dst, dst)) return error;
  }
  // In place, a copy from the input to the same chunk of the output is no operation.
  if (step.kind == StepKind::kCopy && src == dst) return llvm::Error::success();
  if (step.kind == StepKind::kSend) {
    actions[1].reads = src;
    return llvm::Error::success();
  }
  actions[0].reads = src;
  actions[0].writes = dst;
  if (step.kind == StepKind::kReduce) actions[0].reads_too = dst;
  if (hasSend(step.kind)) actions[1].reads = dst;  // kNone where nothing is stored
  return llvm::Error::success();
}

llvm::Expected<StepHazards> StepHazards::of(const RankPrograms& programs, const ProgramOrder& order,
                                            const ChunkCells& cells) {
  StepHazards hazards;
  hazards.begin_.resize(2 * order.size());
  hazards.count_.resize(2 * order.size());
  std::vector<std::vector<StepId>> steps_of(programs.ranks.size());
  for (const StepId step : order.order())
    steps_of[order.rankOf(step)].push_back(step);
  std::vector<ActionId> before;
  std::vector<std::pair<StepId, std::uint32_t>> unordered;  // by the rank alone; and of which cell
  for (std::size_t rank = 0; rank < programs.ranks.size(); ++rank) {
    if (steps_of[rank].empty()) continue;
    Clocks clocks(programs, order, rank);
    if (!clocks.fits()) {
      return makeError(programs.at() + "gpu " + llvm::Twine(rank) +
                       " has too many steps and thread blocks to order them");
    }
    std::vector<Users> users(cells.count(rank));
    for (const StepId step : steps_of[rank]) {
      clocks.add(step);
      Accesses actions[2];
      if (llvm::Error error = findAccesses(order, cells, step, actions)) return error;
      const auto count = static_cast<std::uint32_t>(order.step(step).count);
      for (std::uint32_t role = 0; role < 2; ++role) {
        const ActionId action = 2 * step + role;
        const Accesses& accesses = actions[role];
        before.clear();
        // What is sent of what nowhere stays.
        if (role == 1 && order.step(step).kind == StepKind::kReceiveReduceSend) {
          before.push_back(action - 1);
        }
        unordered.clear();
        const auto follow = [&](ActionId earlier, std::uint32_t cell) {
          if (earlier == kNoStep || earlier == action) return;
          if (!clocks.isBefore(earlier, action)) unordered.push_back({earlier / 2, cell});
          before.push_back(earlier);
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
        // Messages may put in order what the rank itself does not.
        if (!unordered.empty()) {
          llvm::SmallVector<StepId, 8> steps;
          for (const auto& [other, cell] : unordered)
            steps.push_back(other);
          if (const StepId other = order.notBefore(steps, step); other != kNoStep) {
            const std::uint32_t cell =
                llvm::find_if(unordered, [&](const auto& of) { return of.first == other; })->second;
            return makeError(order.at(step) + "race: it touches " + cells.nameOf(cell) + ", as " +
                             order.name(other) + " does, and neither waits for the other");
          }
        }
        std::ranges::sort(before);
        const auto repeated = std::ranges::unique(before);
        before.erase(repeated.begin(), repeated.end());
        hazards.begin_[action] = hazards.earlier_.size();
        hazards.count_[action] = static_cast<std::uint32_t>(before.size());
        hazards.earlier_.insert(hazards.earlier_.end(), before.begin(), before.end());
      }
    }
  }
  return hazards;
}

}  // namespace torc::ir
