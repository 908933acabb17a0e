// Chooses schedules for sizes, finds the borders between them, and proves their files.
#include "compiler/library/ranges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/make_error.h"
#include "ir/thrown.h"

namespace torc::compiler {
namespace {

// Distance of sizes that are always examined.
constexpr std::uint64_t kCoarse = 4;
// A schedule within this factor of the best is equally good.
constexpr double kGood = 1.02;
// Bytes of all blocks. Every rank allocates them if the rootless form of a scatter or a gather
// serves, although a rank's own data is one block.
constexpr std::uint64_t kMostOfAllBlocks = std::uint64_t{64} << 20;
// A task's share of the work is about its number of nodes, up to this number.
constexpr double kMostWork = 1024;

/// The good schedules of a size, the chosen one first. If that one uses only neighbours, so do all.
std::vector<Candidate> goodOf(const SizedChoice& sized) {
  const Candidate& best = sized.choice.best();
  std::vector<Candidate> good;
  for (const Candidate& candidate : sized.choice.candidates) {
    if (!candidate.refusal.empty()) continue;
    if (candidate.leaves_neighbours && !best.leaves_neighbours) continue;
    if (candidate.cautiousSeconds() <= kGood * best.cautiousSeconds()) good.push_back(candidate);
  }
  return good;
}

/// Leaves out sizes above `most`. The time of a schedule is assumed to be a start-up and a share of
/// the size; if it is known for one size only, a share alone.
void cutAt(std::uint64_t most, std::vector<ScheduleRange>& ranges) {
  while (!ranges.empty() && ranges.back().lowest > most)
    ranges.pop_back();
  if (ranges.empty() || ranges.back().highest <= most) return;
  ScheduleRange& last = ranges.back();
  const std::uint64_t from = last.predicted_to > last.lowest ? last.lowest : 0;
  const double from_s = from > 0 ? last.lowest_s : 0;
  const auto distance = [&](std::uint64_t to) { return static_cast<double>(to - from); };
  last.highest_s = from_s + (last.highest_s - from_s) * distance(most) /
                                std::max(distance(last.predicted_to), 1.0);
  last.highest = last.predicted_to = most;
}

/// The `candidates` with schedules that are also in `others`.
std::vector<Candidate> common(const std::vector<Candidate>& candidates,
                              const std::vector<Candidate>& others) {
  std::vector<Candidate> found;
  for (const Candidate& candidate : candidates) {
    if (llvm::any_of(others,
                     [&](const Candidate& other) { return haveSameSchedule(candidate, other); })) {
      found.push_back(candidate);
    }
  }
  return found;
}

/// The candidate with the schedule of `wanted`, if any.
const Candidate* findIn(const std::vector<Candidate>& candidates, const Candidate& wanted) {
  const auto found = llvm::find_if(candidates, [&](const Candidate& candidate) {
    return candidate.refusal.empty() && haveSameSchedule(candidate, wanted);
  });
  return found == candidates.end() ? nullptr : &*found;
}

/// Of schedules that are good for all `choices`, the least in the order of ties, with its messages
/// summed over the sizes; of equal ones the one with the least loss against the best ones.
Candidate bestForAll(const std::vector<Candidate>& good, llvm::ArrayRef<SizedChoice> choices) {
  const Candidate* best = nullptr;
  std::pair<Candidate::TieOrder, double> least;
  for (const Candidate& candidate : good) {
    Candidate in_all = candidate;
    in_all.messages = 0;
    double loss = 0;
    for (const SizedChoice& sized : choices) {
      const Candidate& here = *findIn(sized.choice.candidates, candidate);
      in_all.messages += here.messages;
      loss += here.cautiousSeconds() / sized.choice.best().cautiousSeconds();
    }
    const auto cost = std::pair(in_all.tieOrder(), loss);
    if (best != nullptr && cost >= least) continue;
    best = &candidate;
    least = cost;
  }
  return *best;
}

/// Rounds `exact` down to five binary digits, so that borders are round; at least `low`.
std::uint64_t roundBorder(double exact, std::uint64_t low) {
  const auto whole = static_cast<std::uint64_t>(exact);
  const int drop = std::max(0, static_cast<int>(std::bit_width(whole)) - 5);
  return std::max(low, whole >> drop << drop);
}

double workOf(const PlannedShape& shape) {
  return std::min(kMostWork, static_cast<double>(shape.topology.ranks()));
}

}  // namespace

bool haveSameSchedule(const Candidate& a, const Candidate& b) {
  return a.algorithm == b.algorithm &&
         pipelineOf(*a.algorithm, a.options) == pipelineOf(*b.algorithm, b.options);
}

std::string libraryFileName(Collective collective, const Topology& topology,
                            std::uint64_t checksum) {
  return std::string(rowOf(collective).name) + "-" + topology.shape() + "-" +
         llvm::utohexstr(checksum, /*LowerCase=*/true, /*Width=*/16) + ".torc";
}

RangeFinder::RangeFinder(const PlannedShape& shape, Collective collective, const SizeRange& sizes,
                         std::uint32_t candidates, const FileSink& sink, WorkQueue& queue,
                         Progress& progress)
    : shape_(shape),
      collective_(collective),
      sizes_(sizes),
      candidates_(candidates),
      least_(leastModelled(collective, shape.topology)),
      sink_(sink),
      queue_(queue),
      progress_(progress) {
  for (std::uint64_t size = sizes.lowest; size < sizes.highest;
       size = std::max<std::uint64_t>(1, size * kCoarse)) {
    if (size == sizes.lowest || size > least_) pending_.push_back(size);
  }
  pending_.push_back(sizes.highest);
  progress_.expect(pending_.size() + 1, workOf(shape_));  // one for the ranges
}

void RangeFinder::start() {
  queue_.add([this] { choosePending(); });
}

void RangeFinder::choosePending() {
  if (!programs_) programs_.emplace(CollectiveSpec{collective_, shape_.topology});
  std::vector<std::uint64_t> sizes;
  {
    const std::lock_guard lock(mutex_);
    sizes.swap(pending_);
    unfinished_ = sizes.size();
  }
  for (const std::uint64_t bytes : sizes)
    add([this, bytes] { chooseOne(bytes); });
}

void RangeFinder::chooseOne(std::uint64_t bytes) {
  begin(" of " + sizeText(bytes));
  Choice choice = orThrow(choose(*programs_, shape_.machine, modelled(bytes), ChoiceLimits{}));
  progress_.done(workOf(shape_));
  {
    const std::lock_guard lock(mutex_);
    choices_[bytes] = {bytes, boundOf(collective_, bytes), std::move(choice)};
  }
  if (endsLast()) refined_ ? finish() : refine();
}

void RangeFinder::refine() {
  refined_ = true;
  for (auto above = std::next(choices_.begin()); above != choices_.end(); ++above) {
    const auto below = std::prev(above);
    if (!common(goodOf(below->second), goodOf(above->second)).empty()) continue;
    const std::uint64_t middle = std::max({std::uint64_t{1}, below->first * 2, least_ * 2});
    if (middle < above->first) pending_.push_back(middle);
  }
  progress_.expect(pending_.size(), workOf(shape_));
  pending_.empty() ? finish() : choosePending();
}

std::vector<ScheduleRange> RangeFinder::rangesFor(Collective called) const {
  std::vector<ScheduleRange> ranges = ranges_;
  if (called == collective_) return ranges;
  if (rowOf(called).counts == CountOf::kBlock) cutAt(kMostOfAllBlocks, ranges);
  for (ScheduleRange& range : ranges) {
    range.lowest_bound_s = boundOf(called, range.lowest);
    range.highest_bound_s = boundOf(called, range.predicted_to);
    range.reason = "as " + std::string(rowOf(collective_).name) + ": " + range.reason;
    for (SizedChoice& sized : range.choices)
      sized.bound_s = boundOf(called, sized.bytes);
  }
  return ranges;
}

void RangeFinder::finish() {
  begin(", the ranges");
  findRanges();
  progress_.done(workOf(shape_));
  findSpares();
}

/// Adds a task for each spare that is not chosen for any range.
void RangeFinder::findSpares() {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].highest == kNoSize) continue;  // tuning measures sizes only
    for (Candidate& wanted : sparesOf(ranges_[i], candidates_ - 1)) {
      const auto known = llvm::find_if(
          spares_, [&](const Spare& spare) { return haveSameSchedule(spare.candidate, wanted); });
      if (known != spares_.end()) {
        known->ranges.push_back(i);
      } else {
        spares_.push_back({.candidate = std::move(wanted), .ranges = {i}, .file = {}});
      }
    }
  }
  std::vector<Spare*> unproved;
  for (Spare& spare : spares_) {
    const auto chosen = llvm::find_if(ranges_, [&](const ScheduleRange& range) {
      return haveSameSchedule(range.chosen, spare.candidate);
    });
    if (chosen != ranges_.end()) {
      spare.file = chosen->file_name;
    } else {
      unproved.push_back(&spare);
    }
  }
  if (unproved.empty()) return end();
  progress_.expect(unproved.size(), workOf(shape_));
  unfinished_ = unproved.size();
  for (Spare* const spare : unproved)
    add([this, spare] { proveSpare(*spare); });
}

void RangeFinder::proveSpare(Spare& spare) {
  begin(", " + spare.candidate.description());
  llvm::Expected<ProvedFile> proved = caught([&] { return prove(spare.candidate); });
  if (proved) {
    spare.file = write(*proved);
  } else {
    consumeError(proved.takeError());  // a spare may fail
  }
  progress_.done(workOf(shape_));
  if (endsLast()) end();
}

void RangeFinder::end() {
  for (const Spare& spare : spares_) {
    for (const std::size_t range : spare.ranges) {
      if (spare.file.empty()) continue;
      ranges_[range].spares.push_back({spare.file, spare.candidate.description()});
    }
  }
  programs_.reset();
}

void RangeFinder::findRanges() {
  // Each range continues while one schedule is good for all its sizes.
  std::vector<std::vector<Candidate>> good;
  for (auto& [bytes, sized] : choices_) {
    std::vector<Candidate> of_size = goodOf(sized);
    std::vector<Candidate> of_both;
    if (!ranges_.empty()) of_both = common(good.back(), of_size);
    if (of_both.empty()) {
      ranges_.emplace_back();
      good.push_back(std::move(of_size));
    } else {
      good.back() = std::move(of_both);
    }
    ranges_.back().choices.push_back(std::move(sized));
  }
  choices_.clear();
  for (std::size_t i = 0; i < ranges_.size(); ++i)
    ranges_[i].chosen = bestForAll(good[i], ranges_[i].choices);

  ranges_.front().lowest = sizes_.lowest;
  ranges_.back().highest = kOpenEnd;
  ranges_.back().predicted_to = sizes_.highest;
  for (std::size_t i = 1; i < ranges_.size(); ++i) {
    ranges_[i].lowest = border(ranges_[i - 1], ranges_[i]);
    ranges_[i - 1].highest = ranges_[i - 1].predicted_to = ranges_[i].lowest - 1;
  }
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    SizedChoice* before = i > 0 ? &ranges_[i - 1].choices.back() : nullptr;
    SizedChoice* behind = i + 1 < ranges_.size() ? &ranges_[i + 1].choices.front() : nullptr;
    complete(ranges_[i], before, behind);
  }
  const bool has_one =
      rowOf(collective_).blocks != BlockSpace::kNode || collective_ == Collective::kAllreduce;
  if (has_one) addWithoutSize();
}

/// Adds the range for calls without a size, if a schedule suits. For pairs and neighbours, this is
/// the best direct schedule of the smallest calls, because direct ones differ in start-up cost. For
/// an allreduce, it is the best schedule of ordered sums at a few KiB, above the sizes where
/// schedules of fewer rounds are the best.
void RangeFinder::addWithoutSize() {
  constexpr std::uint64_t kOrderedBytes = 16384;
  const bool of_pairs = rowOf(collective_).blocks != BlockSpace::kNode;
  const std::uint64_t bytes = of_pairs ? kNoSize : kOrderedBytes;
  Choice choice = orThrow(choose(*programs_, shape_.machine, modelled(bytes), ChoiceLimits{}));
  for (const Candidate& candidate : choice.candidates) {
    if (!candidate.refusal.empty()) continue;
    const auto program = orThrow(programOf(*programs_, candidate));
    const Schedule& schedule = program->schedule;
    if (of_pairs ? !schedule.view().isDirect() : (schedule.flags & kOrderedSums) == 0) continue;
    ScheduleRange range;
    range.lowest = range.highest = range.predicted_to = kNoSize;
    range.chosen = candidate;
    range.choices.push_back({kNoSize, boundOf(collective_, kNoSize), std::move(choice)});
    complete(range, nullptr, nullptr);
    range.reason =
        range.chosen.description() + (of_pairs ? "; for counts that differ from pair to pair"
                                               : "; for operations that do not commute");
    // Sizes continue with 1, whose prediction equals that of 0.
    ScheduleRange& smallest = ranges_.front();
    smallest.lowest = std::max(smallest.lowest, kNoSize + 1);
    smallest.choices.front().bytes = std::max(smallest.choices.front().bytes, smallest.lowest);
    ranges_.insert(ranges_.begin(), std::move(range));
    break;
  }
}

/// The least size from which on the schedule of `above` is faster, by linear interpolation between
/// the neighbouring sizes.
std::uint64_t RangeFinder::border(ScheduleRange& below, ScheduleRange& above) {
  SizedChoice &low = below.choices.back(), &high = above.choices.front();
  double slower[2];  // time of `above` minus time of `below`, seconds
  for (SizedChoice* sized : {&low, &high}) {
    const double is_below = candidateAt(*sized, below.chosen).cautiousSeconds();
    slower[sized == &high] = candidateAt(*sized, above.chosen).cautiousSeconds() - is_below;
  }
  if (slower[1] >= 0) return high.bytes;
  if (slower[0] <= 0) return low.bytes + 1;
  // Times are linear in the modelled sizes.
  const double share = slower[0] / (slower[0] - slower[1]);
  const double distance = modelled(high.bytes) - modelled(low.bytes);
  return roundBorder(modelled(low.bytes) + share * distance, low.bytes + 1);
}

/// The schedule of `wanted` as a candidate of a size, simulated if necessary.
Candidate RangeFinder::candidateAt(SizedChoice& sized, const Candidate& wanted) {
  if (const Candidate* tried = findIn(sized.choice.candidates, wanted)) return *tried;
  if (const Candidate* tried = findIn(sized.of_others, wanted)) return *tried;
  Candidate candidate = wanted;
  candidate.per_rank = false;
  CandidateSimulator simulator(*programs_, shape_.machine, modelled(sized.bytes));
  orThrow(simulator.simulate(candidate));
  sized.of_others.push_back(candidate);
  return candidate;
}

/// Seconds of a schedule for `bytes`, interpolated between two examined sizes.
double RangeFinder::timeBetween(const Candidate& wanted, std::uint64_t bytes, SizedChoice& low,
                                SizedChoice& high) {
  const double low_s = candidateAt(low, wanted).predicted_s;
  if (low.bytes == high.bytes) return low_s;
  const double high_s = candidateAt(high, wanted).predicted_s;
  const double share = (modelled(bytes) - modelled(low.bytes)) /
                       std::max(modelled(high.bytes) - modelled(low.bytes), 1.0);
  return low_s + share * (high_s - low_s);
}

/// Sets file, predictions and reason of a range with borders and choices; `before` and `behind` are
/// the examined sizes next to it, if any.
void RangeFinder::complete(ScheduleRange& range, SizedChoice* before, SizedChoice* behind) {
  const Candidate& chosen = range.chosen;
  // The reason at the size in the middle, or preferably at a size for which this schedule is the
  // best.
  const SizedChoice* shown = &range.choices[range.choices.size() / 2];
  if (!haveSameSchedule(shown->choice.best(), chosen)) {
    const auto is_best = llvm::find_if(range.choices, [&](const SizedChoice& sized) {
      return haveSameSchedule(sized.choice.best(), chosen);
    });
    if (is_best != range.choices.end()) shown = &*is_best;
  }
  range.reason = chosen.description() + "; at " + sizeText(shown->bytes) + " ";
  if (haveSameSchedule(shown->choice.best(), chosen)) {
    range.reason += shown->choice.reason();
  } else {
    range.reason += "as good as " + shown->choice.best().description();
  }
  range.lowest_s =
      timeBetween(chosen, range.lowest, before == nullptr ? range.choices.front() : *before,
                  range.choices.front());
  range.highest_s = timeBetween(chosen, range.predicted_to, range.choices.back(),
                                behind == nullptr ? range.choices.back() : *behind);
  range.lowest_bound_s = boundOf(collective_, range.lowest);
  range.highest_bound_s = boundOf(collective_, range.predicted_to);
  range.file_name = write(prove(chosen));
}

ProvedFile RangeFinder::prove(const Candidate& candidate) {
  const auto program = orThrow(programOf(*programs_, candidate));
  const ir::Program rolled = orThrow(rollLoops(*program, {.verify_each = false}));
  llvm::Expected<ProvedFile> file = provedFile(rolled.schedule.view(), &proved_);
  if (!file) orThrow(makeError(candidate.description() + ": " + toString(file.takeError())));
  return std::move(*file);
}

/// Passes the file to the sink. Returns its name.
std::string RangeFinder::write(const ProvedFile& file) {
  const std::string name = libraryFileName(collective_, shape_.topology, checksumOf(file.bytes));
  orThrow(sink_(name, file.bytes));
  return name;
}

void RangeFinder::begin(llvm::StringRef what) {
  progress_.begin(shape_.topology.shape() + ": " + std::string(rowOf(collective_).name) +
                  what.str());
}

void RangeFinder::add(std::function<void()> task) {
  queue_.addNext([this, task = std::move(task)] {
    try {
      task();
    } catch (Thrown& thrown) {
      const std::lock_guard lock(mutex_);
      if (error_.empty()) {
        error_ = std::string(rowOf(collective_).name) + " on " + shape_.topology.shape() + ": " +
                 toString(std::move(thrown.error));
      }
      queue_.stop();
    }
  });
}

bool RangeFinder::endsLast() {
  const std::lock_guard lock(mutex_);
  return --unfinished_ == 0 && error_.empty();
}

}  // namespace torc::compiler
