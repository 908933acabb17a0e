// Chunk flow: executes the program step by step on numbers of chunks in its cells.
#include "ir/exchange/chunk_flow.h"

#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "ir/thrown.h"
#include "support/hash.h"

namespace torc::ir {
namespace {

// A frame to be made for the operation.
constexpr FlowPlace kNewFrame{Buffer::kScratch, ~std::uint32_t{0}};
constexpr FlowPlace kIn{Buffer::kIn, 0}, kOut{Buffer::kOut, 0};

// Contributions to a sum are counted by weights: each rank has a weight, and a sum the weight of
// all that was added. It is complete if that is the weight of all ranks, except for a chance of
// 2^-64, on which nothing depends: the verifier checks sums.
std::uint64_t weightOf(std::size_t rank) {
  return hashNumbers(rank, rank + 1) | 1;
}

/// Ranks whose contributions are counted.
struct Contributors {
  std::size_t begin = 0, end = 0;

  bool contains(std::size_t rank) const { return begin <= rank && rank < end; }
  std::uint64_t weight() const {
    std::uint64_t sum = 0;
    for (std::size_t rank = begin; rank < end; ++rank)
      sum += weightOf(rank);
    return sum;
  }
};

class FlowFinder {
 public:
  FlowFinder(const RankPrograms& programs, const ProgramOrder& order, const ChunkCells& cells,
             const Contributors& contributors)
      : contributors_(contributors),
        weight_(contributors.weight()),
        programs_(programs),
        order_(order),
        cells_(cells),
        may_alias_(!programs.in_place && rowOf(programs.collective).inPlaceAliases()),
        ranks_(programs.ranks.size()) {
    flow_.operations.resize(ranks_.size());
  }

  /// Throws the first fault.
  ChunkFlow run() {
    fillInputs();
    if (may_alias_) findLastReads();
    for (; now_ < order_.order().size(); ++now_)
      add(order_.order()[now_]);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      checkResults(rank);
    return std::move(flow_);
  }

  /// A result with a sum of wrong weight.
  struct WrongSum {
    std::size_t rank = 0;
    std::uint32_t cell = 0;
  };
  /// The first one. Call after run.
  const std::optional<WrongSum>& wrongSum() const { return wrong_sum_; }
  std::uint64_t weightIn(const WrongSum& of) const {
    return ranks_[of.rank].values[of.cell].weight;
  }

  /// The fault of a sum without the contribution of a rank: the last step that added to it.
  std::string lackText(const WrongSum& of, std::size_t contributor) const {
    const Value& value = ranks_[of.rank].values[of.cell];
    const std::string lack = " without the contribution of gpu " + std::to_string(contributor);
    const std::string place = cells_.nameOf(of.cell) + " of gpu " + std::to_string(of.rank);
    const std::string sum = cells_.textOf(value.chunk);
    if (value.adder == kNoStep) {
      return (value.writer == kNoStep ? programs_.at() : order_.at(value.writer)) + place +
             " ends with " + sum + lack + ": no step adds to it";
    }
    std::string text =
        order_.at(value.adder) + "is the last to add to " + sum + ", which ends in " + place + lack;
    if (value.writer != value.adder) text += ", written by " + order_.name(value.writer);
    return text;
  }

 private:
  /// Content of a cell.
  struct Value {
    ChunkNumber chunk = kNoChunk;
    FlowPlace place;
    StepId writer = kNoStep;
    StepId adder = kNoStep;    // of a sum, the last step that added to it
    std::uint64_t weight = 0;  // of the contributions
  };

  struct Rank {
    std::vector<Value> values;  // of its cells
    std::uint32_t frames = 0;
    std::unordered_map<ChunkNumber, llvm::SmallVector<ActionId, 2>> readers_of_in;
    // By chunk of the input, the place in the order of the last step that reads it: until then, the
    // same chunk of the output stays in scratch.
    std::unordered_map<ChunkNumber, std::size_t> last_reads;
  };

  void fillInputs() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].values.resize(cells_.count(rank));
      for (std::uint32_t cell = 0; cell < ranks_[rank].values.size(); ++cell) {
        const ChunkNumber chunk = cells_.inputOf(rank, cell);
        if (chunk == kNoChunk) continue;
        ranks_[rank].values[cell] = {.chunk = chunk, .place = kIn};
        if (contributors_.contains(rank)) ranks_[rank].values[cell].weight = weightOf(rank);
      }
    }
  }

  std::array<Accesses, 2> accesses(StepId id) const { return accessesOf(order_, cells_, id); }

  /// Finds the last step that reads each chunk of the input.
  void findLastReads() {
    for (std::size_t now = 0; now < order_.order().size(); ++now) {
      const StepId id = order_.order()[now];
      const std::size_t rank = order_.rankOf(id);
      for (const Accesses& action : accesses(id)) {
        for (const std::uint32_t first : {action.reads, action.reads_too}) {
          if (first == Accesses::kNone) continue;
          for (std::int32_t i = 0; i < order_.step(id).count; ++i)
            ranks_[rank].last_reads[cells_.inputOf(rank, first + static_cast<std::uint32_t>(i))] =
                now;
        }
      }
    }
  }

  void checkReads(StepId id, std::uint32_t first) {
    const std::vector<Value>& values = ranks_[order_.rankOf(id)].values;
    const std::uint32_t end = first + static_cast<std::uint32_t>(order_.step(id).count);
    for (std::uint32_t cell = first; cell < end; ++cell) {
      if (values[cell].chunk == kNoChunk) {
        throwError(order_.at(id) + "reads " + cells_.nameOf(cell) + ", which holds nothing");
      }
    }
  }

  void noteRead(ActionId action, const Value& value) {
    if (may_alias_ && value.place == kIn)
      ranks_[order_.rankOf(action / 2)].readers_of_in[value.chunk].push_back(action);
  }

  void noteWrite(ActionId action, ChunkNumber chunk) {
    auto& readers = ranks_[order_.rankOf(action / 2)].readers_of_in;
    // A later writer waits for the previous one.
    const auto found = readers.find(chunk);
    if (found == readers.end()) return;
    for (const ActionId reader : found->second) {
      if (reader != action) flow_.also_before[action].push_back(reader);
    }
    readers.erase(found);
  }

  /// The place of a chunk that is written to a cell: `out`, if the chunk is the required result
  /// there.
  FlowPlace placeFor(std::size_t rank, std::uint32_t cell, ChunkNumber chunk) const {
    const auto last_read = ranks_[rank].last_reads.find(chunk);
    const bool is_read_later =
        last_read != ranks_[rank].last_reads.end() && last_read->second > now_;
    return cells_.resultOf(rank, cell) == chunk && !is_read_later ? kOut : kNewFrame;
  }

  void add(std::size_t rank, FlowOperation operation, llvm::ArrayRef<Value> values) {
    operation.first_chunk = flow_.chunks.size();
    operation.chunks = static_cast<std::uint32_t>(values.size());
    for (const Value& value : values)
      flow_.chunks.push_back(value.chunk);
    flow_.operations[rank].push_back(std::move(operation));
  }

  void add(StepId id) {
    const RankStep& step = order_.step(id);
    const auto [works, sent] = accesses(id);
    if (step.row().reduces && !rowOf(programs_.collective).reduces()) {
      throwError(order_.at(id) + "reduces, in an " +
                 llvm::StringRef(rowOf(programs_.collective).name));
    }
    if (step.row().receives || works.writes != Accesses::kNone) work(id, works);
    // The send of rrs was recorded with its receive.
    if (!step.row().sends || step.kind == StepKind::kReceiveReduceSend) return;
    checkReads(id, sent.reads);
    sent_[id] = valuesFrom(id, sent.reads);
    for (const Value& value : sent_[id])
      noteRead(2 * id + 1, value);
  }

  std::vector<Value> valuesFrom(StepId id, std::uint32_t cell) const {
    const auto first = ranks_[order_.rankOf(id)].values.begin() + cell;
    return {first, first + order_.step(id).count};
  }

  /// Adds the operations of a step on a message, at both its ends, or on its own chunks: one for
  /// each set of places.
  void work(StepId id, const Accesses& accesses) {
    const RankStep& step = order_.step(id);
    const bool receives = step.row().receives, reduces = step.row().reduces;
    const std::size_t rank = order_.rankOf(id);
    const StepId sender = order_.senderOf(id);
    // The first cell of the sum's own operand.
    const std::uint32_t own = receives ? accesses.reads : accesses.writes;
    if (!receives) checkReads(id, accesses.reads);
    if (reduces) checkReads(id, own);
    std::vector<Value> moved =
        receives ? std::move(sent_.extract(sender).mapped()) : valuesFrom(id, accesses.reads);
    std::vector<Value>& values = ranks_[rank].values;
    std::vector<FlowSites> sites(moved.size());  // of each chunk; equal within an operation
    for (std::uint32_t i = 0; i < moved.size(); ++i) {
      FlowSites& site = sites[i];
      const ChunkNumber chunk = moved[i].chunk;
      if (!receives) (reduces ? site.b : site.a) = moved[i].place;
      site.dst = kNewFrame;
      if (accesses.writes != Accesses::kNone) site.dst = placeFor(rank, accesses.writes + i, chunk);
      // A chunk copied to its place is already there in place.
      const bool is_there = step.kind == StepKind::kCopy && moved[i].place == kIn &&
                            cells_.resultOf(rank, accesses.writes + i) == chunk;
      if (is_there) site.dst = kOut;
      if (!receives && !is_there) noteRead(2 * id, moved[i]);
      if (reduces) {
        const Value& sum = values[own + i];
        if (sum.chunk != chunk) {
          throwError(order_.at(id) + "adds " + cells_.textOf(chunk) +
                     (receives ? ", which " + order_.name(sender) + " sends," : "") + " to " +
                     cells_.textOf(sum.chunk) + " in " + cells_.nameOf(own + i));
        }
        noteRead(2 * id, sum);
        site.a = sum.place;
        if (receives) site.b = kNewFrame;
        // A sum in scratch stays in its frame.
        if (own == accesses.writes && site.dst == kNewFrame &&
            sum.place.buffer == Buffer::kScratch) {
          site.dst = sum.place;
        }
      }
      if (site.dst == kOut && !is_there) noteWrite(2 * id, chunk);
    }
    FlowOperation operation;
    if (receives) operation.channel = order_.block(id).channel;
    for (std::uint32_t begin = 0; begin < moved.size(); ++operation.part) {
      std::uint32_t end = begin + 1;
      while (end < moved.size() && sites[end] == sites[begin] &&
             moved[end].place == moved[begin].place) {
        ++end;
      }
      const llvm::ArrayRef<Value> some = llvm::ArrayRef(moved).slice(begin, end - begin);
      operation.kind = reduces ? OperationKind::kReduce : OperationKind::kCopy;
      if (receives) {
        operation.kind = OperationKind::kSend;
        operation.peer = static_cast<std::int32_t>(rank);
        operation.action = 2 * sender + 1;
        operation.sites = {.dst = {}, .a = some[0].place, .b = {}};
        add(order_.rankOf(sender), operation, some);
        operation.kind = reduces ? OperationKind::kRecvReduce : OperationKind::kRecv;
        operation.peer = static_cast<std::int32_t>(order_.rankOf(sender));
      }
      operation.action = 2 * id;
      operation.sites = sites[begin];
      for (FlowPlace* place : {&operation.sites.dst, &operation.sites.b}) {
        if (*place == kNewFrame) place->frame = ranks_[rank].frames++;
      }
      add(rank, operation, some);
      for (; begin < end; ++begin) {
        if (reduces) {
          moved[begin].adder = id;
          moved[begin].weight += values[own + begin].weight;
        }
        moved[begin].place = operation.sites.dst;
        moved[begin].writer = id;
        if (accesses.writes != Accesses::kNone) values[accesses.writes + begin] = moved[begin];
      }
    }
    if (step.kind == StepKind::kReceiveReduceSend) sent_[id] = std::move(moved);
  }

  /// Checks the output at the end. Results in other places are copied; a copy from the input does
  /// nothing in place.
  void checkResults(std::size_t rank) {
    const std::vector<Value>& values = ranks_[rank].values;
    FlowOperation copy;
    std::vector<Value> copied;
    const auto flush = [&] {
      if (!copied.empty()) add(rank, copy, copied);
      copied.clear();
      copy.after.clear();
    };
    copy.sites.dst = kOut;
    for (std::uint32_t cell = 0; cell < values.size(); ++cell) {
      const ChunkNumber result = cells_.resultOf(rank, cell);
      if (result == kNoChunk) continue;
      const Value& value = values[cell];
      if (value.chunk != result) {
        const std::string where = cells_.nameOf(cell);
        const std::string wanted = "; it must be " + cells_.textOf(result);
        if (value.writer == kNoStep) {
          throwError(programs_.at() + "gpu " + llvm::Twine(rank) + " " + where +
                     " is never written" + wanted);
        }
        throwError(order_.at(value.writer) + "is the last to write " + where +
                   ", which ends with " + cells_.textOf(value.chunk) + wanted);
      }
      if (value.weight != weight_ && !wrong_sum_) wrong_sum_ = {rank, cell};
      if (value.place == kOut) continue;
      if (copy.sites.a != value.place) flush();
      copy.sites.a = value.place;
      copied.push_back(value);
      if (value.place == kIn) continue;
      copy.after.push_back(2 * value.writer);
      if (const auto readers = ranks_[rank].readers_of_in.find(result);
          readers != ranks_[rank].readers_of_in.end()) {
        copy.after.append(readers->second);
      }
    }
    flush();
  }

  const Contributors contributors_;
  const std::uint64_t weight_;  // of a complete sum
  std::optional<WrongSum> wrong_sum_;
  const RankPrograms& programs_;
  const ProgramOrder& order_;
  const ChunkCells& cells_;
  const bool may_alias_;  // `in` and `out` in the schedule, but not in the program
  std::vector<Rank> ranks_;
  std::unordered_map<StepId, std::vector<Value>> sent_;  // messages in flight
  std::size_t now_ = 0;                                  // place of the current step in the order
  ChunkFlow flow_;
};

}  // namespace

ChunkFlow ChunkFlow::of(const RankPrograms& programs, const ProgramOrder& order,
                        const ChunkCells& cells) {
  // Without reductions no contributions are counted.
  Contributors some{0, rowOf(programs.collective).reduces() ? programs.ranks.size() : 0};
  FlowFinder finder(programs, order, cells, some);
  ChunkFlow flow = finder.run();
  if (!finder.wrongSum()) return flow;
  // Bisection: the first half counts, until one rank is left.
  std::uint64_t weight = finder.weightIn(*finder.wrongSum());
  while (some.end - some.begin > 1) {
    const Contributors half{some.begin, std::midpoint(some.begin, some.end)};
    FlowFinder again(programs, order, cells, half);
    again.run();
    const std::uint64_t of_half = again.weightIn(*finder.wrongSum());
    const bool is_in_half = of_half != half.weight();
    weight = is_in_half ? of_half : weight - of_half;
    some = is_in_half ? half : Contributors{half.end, some.end};
  }
  // The verifier names the step of a repeated contribution.
  if (weight != 0) return flow;
  throwError(finder.lackText(*finder.wrongSum(), some.begin));
}

}  // namespace torc::ir
