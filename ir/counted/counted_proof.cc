// Runs the programs of all ranks on numbers, under rendezvous, and finds races in each.
#include "ir/counted/counted_proof.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>

#include "schedules/neighbours.h"
#include "support/message.h"

namespace torc::ir {
namespace {

/// The number drawn for an element of a rank (splitmix64).
std::uint64_t drawn(std::uint64_t rank, std::uint64_t element) {
  std::uint64_t z = (rank << 40) + element + 0x9e3779b97f4a7c15ull * (rank + 1);
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
  }
  return z;
}

/// A run of elements of a rank's memory; `in` and `out` are one memory if they overlap.
struct Run {
  std::uint32_t memory = 0;  // 0 in, 1 out, 2 scratch
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Run&) const = default;
};
using Runs = std::vector<Run>;

struct RankState {
  std::array<std::vector<std::uint64_t>, 3> memory;
  std::vector<std::uint32_t> waits;                   // by operation: incomplete dependences
  std::vector<std::vector<std::uint32_t>> followers;  // by operation
  std::uint64_t completed = 0;
};

class CountedProof {
 public:
  CountedProof(Collective collective, const Topology& topology,
               const std::vector<FlatProgram>& programs, std::uint64_t count, bool in_place)
      : row_(rowOf(collective)),
        topology_(topology),
        programs_(programs),
        count_(count),
        in_place_(in_place),
        total_(count * row_.countedBlocks(programs.size(), topology.axis_count)) {}

  CountedResult run() {
    for (std::size_t r = 0; r < programs_.size() && ok(); ++r)
      checkRank(r);
    if (ok()) execute();
    if (ok()) checkResults();
    return std::move(result_);
  }

 private:
  bool ok() const { return result_.fault.empty(); }

  template <typename... Pieces>
  void fail(std::size_t rank, const FlatOperation* operation, const Pieces&... what) {
    if (!ok()) return;
    result_.fault = message(in_place_ ? "in place, " : "", "rank ", rank);
    if (operation != nullptr)
      result_.fault += message(", ", name(operation->kind), " of %", operation->source);
    result_.fault += message(": ", what...);
  }

  std::uint32_t memoryOf(Buffer buffer) const {
    if (buffer == Buffer::kScratch) return 2;
    return buffer == Buffer::kOut || in_place_ ? 1 : 0;
  }
  std::uint64_t elementsOf(const FlatProgram& program, std::uint32_t memory) const {
    if (memory == 2) return program.scratch_elements;
    if (!in_place_) return memory == 0 ? program.in_elements : program.out_elements;
    return memory == 0 ? 0 : std::max(program.in_elements, program.out_elements);
  }
  Runs runsOf(const FlatProgram& program, const FlatRegion& region) const {
    Runs runs;
    if (region.buffer == Buffer::kNone) return runs;
    for (const Extent& extent : program.extentsOf(region))
      runs.push_back({memoryOf(region.buffer), extent.offset, extent.offset + extent.length});
    return runs;
  }

  // Checks of sizes, and of races.

  void checkRank(std::size_t rank) {
    const FlatProgram& program = programs_[rank];
    std::array<std::vector<std::uint64_t>, 3> cuts;
    for (const FlatOperation& operation : program.operations) {
      const std::uint64_t length =
          sends(operation.kind) ? operation.a.elements : operation.dst.elements;
      for (const FlatRegion* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->buffer == Buffer::kNone) continue;
        std::uint64_t sum = 0;
        for (const Run& run : runsOf(program, *region)) {
          sum += run.end - run.begin;
          if (run.begin > run.end || run.end > elementsOf(program, run.memory))
            return fail(rank, &operation, "names elements outside its buffer");
          cuts[run.memory].push_back(run.begin);
          cuts[run.memory].push_back(run.end);
        }
        result_.elements += sum;
        if (sum != length || region->elements != length)
          return fail(rank, &operation, "its regions have different lengths");
      }
      for (std::uint32_t d : program.dependencesOf(operation)) {
        if (d >= static_cast<std::uint32_t>(&operation - program.operations.data()))
          return fail(rank, &operation, "depends on an operation that is not before it");
      }
    }
    for (auto& list : cuts) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    checkRaces(rank, cuts);
  }

  /// The users of the elements between two cuts.
  struct Segment {
    std::uint32_t written_by = kNone;
    std::vector<std::uint32_t> read_by;  // since then
    std::uint32_t seen = kNone;          // operation whose dst it belongs to
  };

  void checkRaces(std::size_t rank, const std::array<std::vector<std::uint64_t>, 3>& cuts) {
    const FlatProgram& program = programs_[rank];
    const std::size_t count = program.operations.size();
    const std::size_t words = (count + 63) / 64;
    std::vector<std::uint64_t> after(count * words, 0);  // bit i of row j: j depends on i
    std::array<std::vector<Segment>, 3> segments;
    for (std::size_t m = 0; m < 3; ++m)
      segments[m].resize(cuts[m].size());
    const auto forEachSegment = [&](const Runs& runs, auto visit) {
      for (const Run& run : runs) {
        const auto& list = cuts[run.memory];
        auto cut = std::lower_bound(list.begin(), list.end(), run.begin);
        for (; cut != list.end() && *cut < run.end; ++cut)
          visit(segments[run.memory][static_cast<std::size_t>(cut - list.begin())]);
      }
    };
    for (std::uint32_t j = 0; j < count && ok(); ++j) {
      const FlatOperation& operation = program.operations[j];
      for (std::uint32_t d : program.dependencesOf(operation)) {
        for (std::size_t w = 0; w < words; ++w)
          after[j * words + w] |= after[d * words + w];
        after[j * words + d / 64] |= std::uint64_t{1} << (d % 64);
      }
      const Runs dst = runsOf(program, operation.dst);
      const Runs a = runsOf(program, operation.a);
      const Runs b = runsOf(program, operation.b);
      if (operation.kind == OperationKind::kCopy && a == dst) continue;  // no effect
      const auto comesAfter = [&](std::uint32_t i) {
        if (i == kNone || i == j || (after[j * words + i / 64] >> (i % 64) & 1) != 0) return;
        fail(rank, &operation, "may touch elements while %", program.operations[i].source,
             ", on which it does not depend, touches them");
      };
      const auto read = [&](const Runs& runs) {
        forEachSegment(runs, [&](Segment& segment) {
          comesAfter(segment.written_by);
          if (segment.read_by.empty() || segment.read_by.back() != j) segment.read_by.push_back(j);
        });
      };
      const auto write = [&](const Runs& runs) {
        forEachSegment(runs, [&](Segment& segment) {
          comesAfter(segment.written_by);
          for (std::uint32_t i : segment.read_by)
            comesAfter(i);
          if (segment.seen == j) fail(rank, &operation, "writes an element twice");
          segment.seen = segment.written_by = j;
          segment.read_by.clear();
        });
      };
      const auto mark = [&](const Runs& runs, std::uint32_t by) {
        forEachSegment(runs, [&](Segment& segment) { segment.seen = by; });
      };
      read(a);
      operation.kind == OperationKind::kRecvReduce ? write(b) : read(b);
      for (const Runs* other : {&a, &b}) {  // identical, or disjoint
        if (*other == dst) continue;
        mark(*other, kNone);
        mark(dst, j);
        forEachSegment(*other, [&](const Segment& segment) {
          if (segment.seen == j)
            fail(rank, &operation, "touches elements of its result at another place too");
        });
      }
      mark(b, kNone);
      mark(dst, kNone);
      write(dst);
    }
  }

  // Execution.

  void execute() {
    ranks_.resize(programs_.size());
    for (std::size_t r = 0; r < programs_.size(); ++r)
      prepare(r);
    for (std::size_t r = 0; r < programs_.size(); ++r) {
      for (std::uint32_t i = 0; i < programs_[r].operations.size(); ++i) {
        if (ranks_[r].waits[i] == 0) ready_.push_back({static_cast<std::uint32_t>(r), i});
      }
    }
    while (!ready_.empty() && ok()) {
      const auto [rank, index] = ready_.front();
      ready_.pop_front();
      start(rank, index);
    }
    for (std::size_t r = 0; r < programs_.size() && ok(); ++r) {
      if (ranks_[r].completed == programs_[r].operations.size()) continue;
      fail(r, nullptr, programs_[r].operations.size() - ranks_[r].completed,
           " operations never complete: a message without its other end, or a deadlock without "
           "buffering");
    }
  }

  void prepare(std::size_t rank) {
    const FlatProgram& program = programs_[rank];
    RankState& state = ranks_[rank];
    for (std::uint32_t m = 0; m < 3; ++m) {
      state.memory[m].resize(elementsOf(program, m));
      for (std::uint64_t e = 0; e < state.memory[m].size(); ++e)  // not yet written
        state.memory[m][e] = drawn(programs_.size() + rank * 3 + m, e);
    }
    const Holds holds = row_.inAt(isRoot(rank));
    const std::uint64_t own = holds == Holds::kOwn ? ownOffset(rank) : 0;  // first element of `in`
    const std::uint64_t length = lengthOf(holds);
    const std::uint64_t place = sharesBlock(rank) ? own : 0;
    std::vector<std::uint64_t>& in = state.memory[memoryOf(Buffer::kIn)];
    for (std::uint64_t e = 0; e < length && place + e < in.size(); ++e)
      in[place + e] = drawn(rank, own + e);
    state.waits.resize(program.operations.size());
    state.followers.resize(program.operations.size());
    for (std::uint32_t i = 0; i < program.operations.size(); ++i) {
      for (std::uint32_t d : program.dependencesOf(program.operations[i])) {
        ++state.waits[i];
        state.followers[d].push_back(i);
      }
    }
  }

  void start(std::uint32_t rank, std::uint32_t index) {
    const FlatOperation& operation = programs_[rank].operations[index];
    if (!sends(operation.kind) && !receives(operation.kind)) {
      combine(rank, operation);
      return complete(rank, index);
    }
    if (operation.peer < 0 || static_cast<std::size_t>(operation.peer) >= programs_.size())
      return fail(rank, &operation, "its peer is no rank");
    const auto peer = static_cast<std::uint32_t>(operation.peer);
    const bool sending = sends(operation.kind);
    Message& message = messages_[{sending ? rank : peer, sending ? peer : rank, operation.tag}];
    std::uint32_t& end = sending ? message.sender : message.receiver;
    if (end != kNone) {
      return fail(rank, &operation, "tag ", operation.tag, " is used twice with rank ", peer);
    }
    end = index;
    if (message.sender == kNone || message.receiver == kNone) return;
    const std::uint32_t from = sending ? rank : peer;
    const std::uint32_t to = sending ? peer : rank;
    const FlatOperation& send = programs_[from].operations[message.sender];
    const FlatOperation& receive = programs_[to].operations[message.receiver];
    if (send.a.elements != receive.dst.elements) {
      return fail(to, &receive, "receives ", receive.dst.elements, " elements, but rank ", from,
                  " sends ", send.a.elements);
    }
    if (isSignal(send.kind) != isSignal(receive.kind)) {
      return fail(to, &receive, "is a ", name(receive.kind), ", but rank ", from, " does a ",
                  name(send.kind));
    }
    ++result_.messages;
    if (!isSignal(send.kind)) {
      const std::vector<std::uint64_t> data = load(from, send.a);
      const bool reduces = receive.kind == OperationKind::kRecvReduce;
      store(to, reduces ? receive.b : receive.dst, data);
      if (reduces) combine(to, receive);
    }
    complete(from, message.sender);
    complete(to, message.receiver);
  }

  /// dst = a + b, or a.
  void combine(std::uint32_t rank, const FlatOperation& operation) {
    std::vector<std::uint64_t> sum = load(rank, operation.a);
    if (operation.b.buffer != Buffer::kNone) {
      const std::vector<std::uint64_t> other = load(rank, operation.b);
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] += other[i];
    }
    store(rank, operation.dst, sum);
  }

  std::vector<std::uint64_t> load(std::uint32_t rank, const FlatRegion& region) const {
    std::vector<std::uint64_t> data;
    for (const Run& run : runsOf(programs_[rank], region)) {
      const auto& memory = ranks_[rank].memory[run.memory];
      data.insert(data.end(), memory.begin() + static_cast<std::ptrdiff_t>(run.begin),
                  memory.begin() + static_cast<std::ptrdiff_t>(run.end));
    }
    return data;
  }
  void store(std::uint32_t rank, const FlatRegion& region, const std::vector<std::uint64_t>& data) {
    auto next = data.begin();
    for (const Run& run : runsOf(programs_[rank], region)) {
      const auto length = static_cast<std::ptrdiff_t>(run.end - run.begin);
      std::copy(next, next + length,
                ranks_[rank].memory[run.memory].begin() + static_cast<std::ptrdiff_t>(run.begin));
      next += length;
    }
  }

  std::uint64_t root() const { return static_cast<std::uint64_t>(programs_.front().root); }
  bool isRoot(std::size_t rank) const { return rank == root(); }
  /// Whether the rank's `in` and `out` are one buffer of all blocks.
  bool sharesBlock(std::size_t rank) const {
    return in_place_ && row_.inPlaceSharesBlock() && row_.mayBeInPlace(isRoot(rank));
  }
  bool ofPairs() const { return row_.blocks == BlockSpace::kPair; }
  /// Offset of the rank's own block in the whole vector; of pairs and of neighbours, the vector is
  /// the rank's own.
  std::uint64_t ownOffset(std::size_t rank) const {
    return row_.blocks == BlockSpace::kNode ? rank * count_ : 0;
  }
  /// Elements of a buffer.
  std::uint64_t lengthOf(Holds holds) const {
    if (holds == Holds::kNothing) return 0;
    return holds == Holds::kOwn && !ofPairs() ? count_ : total_;
  }

  void complete(std::uint32_t rank, std::uint32_t index) {
    RankState& state = ranks_[rank];
    ++state.completed;
    for (std::uint32_t follower : state.followers[index]) {
      if (--state.waits[follower] == 0) ready_.push_back({rank, follower});
    }
  }

  void checkResults() {
    if (row_.isOfNeighbours()) return checkNeighbours();
    std::vector<std::uint64_t> wanted(total_, 0);
    for (std::uint64_t e = 0; e < total_; ++e) {
      if (!row_.reduces()) {
        const bool from_root = row_.isRooted() && row_.inWhole();
        wanted[e] = drawn(from_root ? root() : e / count_, e);
        continue;
      }
      for (std::size_t r = 0; r < programs_.size() && !row_.isPrefix(); ++r)
        wanted[e] += drawn(r, e);
    }
    for (std::size_t r = 0; r < programs_.size() && ok(); ++r) {
      // A prefix grows from rank to rank; the first one of an exscan is empty.
      if (row_.isPrefix() && (row_.includesOwn() || r > 0)) {
        for (std::uint64_t e = 0; e < total_; ++e)
          wanted[e] += drawn(row_.includesOwn() ? r : r - 1, e);
      } else if (row_.isPrefix()) {
        continue;
      }
      const Holds holds = row_.outAt(isRoot(r));
      const std::uint64_t first = holds == Holds::kOwn ? ownOffset(r) : 0;
      const std::uint64_t length = lengthOf(holds);
      const std::uint64_t place = sharesBlock(r) ? first : 0;
      const std::vector<std::uint64_t>& out = ranks_[r].memory[1];
      for (std::uint64_t e = 0; e < length; ++e) {
        // Of pairs: the sender's block for this rank.
        const std::uint64_t demanded =
            ofPairs() ? drawn(e / count_, r * count_ + e % count_) : wanted[first + e];
        if (place + e < out.size() && out[place + e] == demanded) continue;
        return fail(r, nullptr, "element ", e,
                    " of its result has not exactly the contributions demanded");
      }
    }
  }

  /// Expects each neighbour's block for the rank, or its one block for all; without a neighbour,
  /// the initial content.
  void checkNeighbours() {
    for (std::size_t r = 0; r < programs_.size() && ok(); ++r) {
      const Coordinates at = topology_.coordinatesOf(static_cast<std::int32_t>(r));
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        for (const Way way : {Way{axis, -1}, Way{axis, 1}})
          checkNeighbour(r, at, way);
      }
    }
  }
  void checkNeighbour(std::size_t rank, const Coordinates& at, const Way& way) {
    const std::uint64_t first = neighbourPlace(topology_, way) * count_;
    std::uint64_t drawer = programs_.size() + rank * 3 + 1, from = first;  // as in prepare()
    if (hasNeighbour(topology_, at, way)) {
      Shift shift{};
      shift[way.axis] = way.sign;
      drawer = static_cast<std::uint64_t>(topology_.neighbour(at, shift));
      from = row_.in == Holds::kOwn ? 0 : neighbourPlace(topology_, {way.axis, -way.sign}) * count_;
    }
    const std::vector<std::uint64_t>& out = ranks_[rank].memory[1];
    for (std::uint64_t e = 0; e < count_; ++e) {
      if (first + e < out.size() && out[first + e] == drawn(drawer, from + e)) continue;
      return fail(rank, nullptr, "element ", first + e, " of its result is not its neighbour's");
    }
  }

  struct Message {
    std::uint32_t sender = kNone, receiver = kNone;  // operations that have started
  };

  const CollectiveRow& row_;
  const Topology& topology_;
  const std::vector<FlatProgram>& programs_;
  const std::uint64_t count_;
  const bool in_place_;
  const std::uint64_t total_;  // elements of the whole vector
  CountedResult result_;
  std::vector<RankState> ranks_;
  std::deque<std::pair<std::uint32_t, std::uint32_t>> ready_;  // rank, operation
  std::map<std::array<std::uint32_t, 3>, Message> messages_;   // by sender, receiver, tag
};

/// Counts that no memory can hold give large numbers: inexact, but without overflow.
double bytesOf(const FlatProgram& program) {
  const auto count = static_cast<double>(program.operations.size());
  return count * (sizeof(FlatOperation) + 64) +
         static_cast<double>(program.extents.size() * sizeof(Extent)) +
         static_cast<double>(program.dependences.size() * 16) +
         8 * (static_cast<double>(program.in_elements) + static_cast<double>(program.out_elements) +
              static_cast<double>(program.scratch_elements));
}

Status tooLarge(const std::string& amount, const char* of_what, std::uint64_t limit) {
  return Status(StatusCode::kInvalidArgument, message("too large to prove for this count: ", amount,
                                                      of_what, " (limit ", limit, ")"));
}

/// An estimate with its significant digits only.
std::string about(double amount) {
  char text[32];
  std::snprintf(text, sizeof(text), "about %.3g", amount);
  return text;
}

}  // namespace

CountedResult proveCounted(Collective collective, const Topology& topology,
                           const std::vector<FlatProgram>& programs, std::uint64_t count,
                           bool in_place) {
  return CountedProof(collective, topology, programs, count, in_place).run();
}

StatusOr<CountedResult> proveCounted(const ScheduleView& schedule, std::uint64_t count) {
  const CollectiveRow& row = rowOf(schedule.collective);
  const std::uint64_t ranks = schedule.topology.ranks();
  // Some rank holds, or sums up, the whole vector.
  std::uint64_t whole = 0;
  const bool overflows = __builtin_mul_overflow(
      count, std::uint64_t{row.countedBlocks(ranks, schedule.topology.axis_count)}, &whole);
  if (overflows || whole > kMaxCountedElements) {
    return tooLarge(overflows ? message("more than ", UINT64_MAX) : std::to_string(whole),
                    " elements of the vector", kMaxCountedElements);
  }
  CountedResult both;
  for (const bool in_place : {false, true}) {
    if (in_place && !row.inPlaceAliases()) continue;
    std::vector<FlatProgram> programs;
    double bytes = 0;
    // First for one rank, then for several. The expected result is summed up over all ranks.
    double elements = row.reduces() ? static_cast<double>(whole) : 0;
    for (std::uint64_t r = 0; r < ranks; ++r) {
      const Counts counts{.count = count, .per_rank = {}, .displacements = {}};
      StatusOr<FlatProgram> program =
          expand(schedule, static_cast<std::int32_t>(r), counts, in_place);
      if (!program.ok()) return program.status();
      const auto operations = static_cast<double>(program->operations.size());
      bytes += bytesOf(*program);
      for (const FlatOperation& operation : program->operations)
        elements += static_cast<double>(operation.dst.elements) +
                    static_cast<double>(operation.a.elements) +
                    static_cast<double>(operation.b.elements);
      // Estimate for all ranks from the first ones.
      const double more = static_cast<double>(ranks) / static_cast<double>(r + 1);
      const double of_all = bytes * more + operations * operations / 8;
      if (of_all > static_cast<double>(kMaxCountedBytes))
        return tooLarge(about(of_all / (1 << 20)), " MiB", kMaxCountedBytes >> 20);
      if (elements * more > static_cast<double>(kMaxCountedElements)) {
        return tooLarge(about(elements * more), " elements read and written", kMaxCountedElements);
      }
      programs.push_back(std::move(*program));
    }
    const CountedResult result =
        proveCounted(schedule.collective, schedule.topology, programs, count, in_place);
    both.messages += result.messages;
    both.elements += result.elements;
    both.fault = result.fault;
    if (!both.fault.empty()) break;
  }
  return both;
}

}  // namespace torc::ir
