// Gives every node cores, of which the first, the leader, alone executes the steps for all
// ("Scaling Alltoall Collective on Multi-core Systems", section 5, applied to the other
// collectives): a node then sends as few messages as one rank would.
//
// Before the steps the leader collects the contributions of the cores: their sum, or their blocks
// side by side. After the steps it sends each core its result. Both take rounds of up to 7 messages
// at a core: in a round of stride s the multiples of s exchange with the first of every 8 of them.
// From then on a node's block of the steps is the blocks of all its cores. Data that the steps read
// in `in`, and an own block that they write in `out`, are then in frames.
#include "passes/cores/lead_cores.h"

#include <algorithm>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "passes/analysis/limits.h"

namespace torc::passes {
namespace {

constexpr std::uint32_t kMostMessages = 7;  // most messages of a core in a round

/// The same header on nodes with cores, the last axis of the ranks and the first in memory.
Schedule headerWithCores(const Schedule& old, std::uint32_t cores) {
  Schedule header = headerOf(old.view());
  Topology& topology = header.topology;
  const std::uint32_t axis = topology.axis_count++;
  topology.axes[axis] = {.size = cores, .kind = AxisKind::kCore, .name = kCoreAxisName};
  topology.order[axis] = static_cast<std::uint8_t>(axis);
  for (Color& color : header.colors)
    color.order[color.axis_count++] = static_cast<std::uint8_t>(axis);
  header.flags &= ~std::uint32_t{kOrderedSums};
  return header;
}

/// Pairs of cores that exchange one message in a round: multiples of a stride, the first of each
/// group of which is the head of the others.
struct CoreRound {
  struct Pair {
    std::uint32_t head = 0, member = 0;
    std::uint32_t span = 1;    // number of cores from the member on that it represents
    std::uint32_t number = 0;  // of the member within its group
  };
  std::vector<Pair> pairs;
};

/// The rounds by which the cores of a node reach the first one.
std::vector<CoreRound> coreRounds(std::uint32_t cores) {
  std::vector<CoreRound> rounds;
  for (std::uint32_t stride = 1; stride < cores; stride *= kMostMessages + 1) {
    const std::uint32_t heads = stride * (kMostMessages + 1);
    CoreRound& round = rounds.emplace_back();
    for (std::uint32_t core = stride; core < cores; core += stride) {
      const std::uint32_t head = core / heads * heads;
      if (core == head) continue;
      round.pairs.push_back(
          {head, core, std::min(stride, cores - core), (core - head) / stride - 1});
    }
  }
  return rounds;
}

class LedSteps {
 public:
  LedSteps(const Schedule& old, std::uint32_t cores)
      : old_(old),
        row_(rowOf(old.collective)),
        parts_(old.view().partCount()),
        has_rows_(llvm::any_of(old.pieces, [](const Piece& piece) { return piece.parts > 1; })),
        axis_(old.topology.axis_count),
        cores_(cores),
        builder_(headerWithCores(old, cores)),
        values_(cores),
        reads_(cores) {}

  Schedule run() {
    for (const Stream& stream : old_.streams)
      builder_.addStream(stream);
    stream_ = builder_.addStream({.part = parts_ == 1 ? 0 : kNone, .core = 0});
    for (const Frame& frame : old_.frames)
      builder_.addFrame(ledPieces(old_.view().piecesOf(frame)), frame.slot);
    slots_ = old_.slot_count;
    if (row_.in_elsewhere != Holds::kNothing) collect();
    const bool spreads = row_.out_elsewhere != Holds::kNothing;
    if (spreads && !row_.outWhole()) spread_ = addFrame(/*whole=*/false);
    lead();
    if (spreads) spread();
    return builder_.take();
  }

 private:
  using Pair = CoreRound::Pair;

  void collect();
  void collectSum(const Pair& pair);
  void collectBlocks(const Pair& pair);
  void lead();
  void spread();
  void spreadTo(const Pair& pair);

  using Pieces = llvm::SmallVector<Piece, 4>;

  /// All parts of the blocks of a box: on the network axes all of them, or the node's own. Each
  /// part is a piece of its own, which can be cut into segments, unless the steps have several in a
  /// piece.
  Pieces pieces(bool whole, const Interval& cores) {
    Box box;
    for (std::uint32_t axis = 0; axis < axis_ && !whole; ++axis)
      box[axis] = Interval::relative(0);
    box[axis_] = cores;
    const std::uint32_t index = builder_.box(box);
    if (has_rows_) return {{0, parts_, index}};
    Pieces pieces;
    for (std::uint32_t part = 0; part < parts_; ++part)
      pieces.push_back({part, 1, index});
    return pieces;
  }
  /// All data of a core in `in` or `out`.
  Region all(Buffer buffer) {
    const bool whole = buffer == Buffer::kIn ? row_.inWhole() : row_.outWhole();
    return builder_.region(buffer, pieces(whole, whole ? Interval::all() : Interval::relative(0)));
  }
  /// In a frame of the blocks of a node, those of `count` cores.
  Region blocksOf(std::uint32_t frame, std::uint32_t core, std::uint32_t count) {
    const Interval cores = Interval::absolute(static_cast<std::int32_t>(core), count);
    return builder_.region(Buffer::kScratch, pieces(/*whole=*/false, cores), frame);
  }
  Region wholeOf(std::uint32_t frame) {
    return wholeFrame(builder_.schedule().frames[frame], frame);
  }
  /// A frame of the whole vector, or of the blocks of a node, in a slot of its own.
  std::uint32_t addFrame(bool whole) {
    return builder_.addFrame(pieces(whole, Interval::all()), slots_++);
  }

  ir::StepPlace at(std::uint32_t core) {
    Box guard;
    guard[axis_] = Interval::absolute(static_cast<std::int32_t>(core));
    return {stream_, builder_.box(guard)};
  }
  Shift moves(std::uint32_t from, std::uint32_t to) const {
    Shift shift{};
    shift[axis_] = static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from);
    return shift;
  }

  Box ledBox(std::uint32_t box, const Interval& cores) const {
    Box led = box == kNone ? Box{} : old_.boxes[box];
    led[axis_] = cores;
    return led;
  }
  Pieces ledPieces(const PieceList& pieces) {
    Pieces led(pieces.begin(), pieces.end());
    for (Piece& piece : led)
      piece.box = builder_.box(ledBox(piece.box, Interval::all()));
    return led;
  }
  Region ledRegion(const Region& region);
  ir::OperationIndices lastWriters() const;

  const Schedule& old_;
  const CollectiveRow& row_;
  const std::uint32_t parts_;
  const bool has_rows_;  // of parts
  const std::uint32_t axis_, cores_;
  ir::StepBuilder builder_;
  std::uint32_t stream_ = 0;  // for messages between cores
  std::uint32_t phases_ = 0;
  std::uint32_t slots_ = 0;
  std::uint32_t collected_ = kNone;     // the frame of the leader's collected data
  std::uint32_t spread_ = kNone;        // the frame of the blocks that the leader distributes
  std::vector<std::uint32_t> staging_;  // frames for members' sums, of one round
  std::vector<ir::OperationIndices>
      values_;  // by core: dependences of its value; empty: it is in `in`
  std::vector<ir::OperationIndices> reads_;  // by core: readers of its `in`
  std::vector<std::uint32_t> led_;           // by operation of the old schedule
};

void LedSteps::collect() {
  collected_ = addFrame(row_.inWhole());
  for (const CoreRound& round : coreRounds(cores_)) {
    builder_.setPhase(phases_++);
    staging_.clear();
    for (const Pair& pair : round.pairs)
      row_.inWhole() ? collectSum(pair) : collectBlocks(pair);
  }
}

void LedSteps::collectSum(const Pair& pair) {
  const auto valueOf = [&](std::uint32_t core) {
    return values_[core].empty() ? all(Buffer::kIn) : wholeOf(collected_);
  };
  while (staging_.size() <= pair.number)
    staging_.push_back(addFrame(/*whole=*/true));
  const Region staging = wholeOf(staging_[pair.number]);
  const Shift way = moves(pair.member, pair.head);
  const std::uint32_t sent =
      builder_.send(at(pair.member), valueOf(pair.member), way, values_[pair.member]);
  if (values_[pair.member].empty()) reads_[pair.member].push_back(sent);
  ir::OperationIndices after = values_[pair.head];
  after.push_back(builder_.receive(at(pair.head), staging, way, {}));
  const std::uint32_t sum =
      builder_.reduce(at(pair.head), wholeOf(collected_), valueOf(pair.head), staging, after);
  if (values_[pair.head].empty()) reads_[pair.head].push_back(sum);
  values_[pair.head] = {sum};
}

void LedSteps::collectBlocks(const Pair& pair) {
  const Shift way = moves(pair.member, pair.head);
  const bool is_in_place = values_[pair.member].empty();
  const Region blocks =
      is_in_place ? all(Buffer::kIn) : blocksOf(collected_, pair.member, pair.span);
  const std::uint32_t sent = builder_.send(at(pair.member), blocks, way, values_[pair.member]);
  if (is_in_place) reads_[pair.member].push_back(sent);
  ir::OperationIndices& value = values_[pair.head];
  if (value.empty()) {
    value.push_back(
        builder_.copy(at(pair.head), blocksOf(collected_, pair.head, 1), all(Buffer::kIn), {}));
    reads_[pair.head] = value;
  }
  value.push_back(
      builder_.receive(at(pair.head), blocksOf(collected_, pair.member, pair.span), way, {}));
}

Region LedSteps::ledRegion(const Region& region) {
  if (!region.present()) return region;
  Buffer buffer = region.buffer;
  std::uint32_t frame = region.frame;
  if (buffer == Buffer::kIn && collected_ != kNone) frame = collected_;
  if (buffer == Buffer::kOut && spread_ != kNone) frame = spread_;
  if (frame != kNone) buffer = Buffer::kScratch;
  return builder_.region(buffer, ledPieces(old_.view().piecesOf(region)), frame);
}

void LedSteps::lead() {
  const ScheduleView old = old_.view();
  const std::uint32_t first_phase = phases_;
  for (const Operation& operation : old_.operations) {
    Operation led = operation;
    led.phase = static_cast<std::uint16_t>(led.phase + first_phase);
    phases_ = std::max<std::uint32_t>(phases_, led.phase + 1u);
    led.guard = builder_.box(ledBox(operation.guard, Interval::absolute(0)));
    if (operation.peer != kNone) led.peer = builder_.peer(old, operation);
    led.dst = ledRegion(operation.dst);
    led.a = ledRegion(operation.a);
    led.b = ledRegion(operation.b);
    ir::OperationIndices after;
    for (const std::uint32_t before : old.dependencesOf(operation))
      after.push_back(led_[before]);
    if (operation.a.buffer == Buffer::kIn || operation.b.buffer == Buffer::kIn)
      after.append(values_[0]);
    led_.push_back(builder_.addOperation(led, after));
  }
}

/// The operations that write `out`, without those that another one waits for, directly or
/// indirectly.
ir::OperationIndices LedSteps::lastWriters() const {
  ir::OperationIndices last;
  std::vector<bool> is_awaited(old_.operations.size());
  for (std::size_t i = old_.operations.size(); i-- > 0;) {
    const Operation& operation = old_.operations[i];
    const bool is_last = !is_awaited[i] && operation.dst.buffer == Buffer::kOut;
    if (is_last) last.push_back(led_[i]);
    if (!is_last && !is_awaited[i]) continue;
    for (const std::uint32_t before : old_.view().dependencesOf(operation))
      is_awaited[before] = true;
  }
  return last;
}

void LedSteps::spread() {
  for (ir::OperationIndices& value : values_)
    value.clear();
  values_[0] = lastWriters();
  std::vector<CoreRound> rounds = coreRounds(cores_);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    builder_.setPhase(phases_++);
    for (const Pair& pair : round->pairs)
      spreadTo(pair);
  }
  if (spread_ == kNone) return;
  // Copies the own block from the frame.
  builder_.setPhase(phases_);
  for (std::uint32_t core = 0; core < cores_; core += kMostMessages + 1) {
    if (core > 0 && core + 1 == cores_) continue;  // its frame has only its own block
    ir::OperationIndices after = values_[core];
    after.append(reads_[core]);
    builder_.copy(at(core), all(Buffer::kOut), blocksOf(spread_, core, 1), after);
  }
}

void LedSteps::spreadTo(const Pair& pair) {
  const Shift way = moves(pair.head, pair.member);
  const Region out = all(Buffer::kOut);
  const bool whole = spread_ == kNone;
  const Region given = whole ? out : blocksOf(spread_, pair.member, pair.span);
  const bool ends_here = whole || pair.span == 1;
  builder_.send(at(pair.head), given, way, values_[pair.head]);
  // In place, `out` is the memory that was sent before.
  const ir::OperationIndices after = ends_here ? reads_[pair.member] : ir::OperationIndices();
  values_[pair.member] = {builder_.receive(at(pair.member), ends_here ? out : given, way, after)};
}

class LeadCores final : public Pass {
 public:
  explicit LeadCores(const LeadCoresPass& options)
      : Pass("lead-cores", "gives nodes cores, of which the first executes the steps for all",
             PassLevel::kStep),
        cores_(*this, "cores", "cores of a node", 2, kMostCores, options.cores) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    const Schedule& schedule = program.schedule;
    const CollectiveRow& row = rowOf(schedule.collective);
    if (!mayBeLed(row)) return makeError(llvm::StringRef(row.name) + " has no form with leaders");
    if (schedule.topology.hasCores()) return makeError("the nodes have cores already");
    if (!schedule.links.empty()) return makeError("a graph has no form with leaders");
    if (schedule.colors.empty()) return makeError("the program has no colors");
    if (!schedule.peer_loops.empty())
      return makeError("loops over peers have no form with leaders");
    Schedule led = LedSteps(schedule, *cores_).run();
    if (llvm::Error error = checkLimits(led.operations.size(), led.dependences.size()))
      return error;
    program.schedule = std::move(led);
    return PassResult::kWithChange;
  }

 private:
  IntegerOption cores_;
};

}  // namespace

bool mayBeLed(const CollectiveRow& row) {
  return row.blocks == BlockSpace::kNode && !row.isPrefix();
}

std::unique_ptr<Pass> makePass(const LeadCoresPass& options) {
  return std::make_unique<LeadCores>(options);
}

}  // namespace torc::passes
