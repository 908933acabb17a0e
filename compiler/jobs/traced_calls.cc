#include "compiler/jobs/traced_calls.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "compiler/view/trace_data.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace {

/// In seconds, converted from the trace's microseconds.
struct Interval {
  double begin = 0, end = 0;
};

/// A round of a rank, and its call.
struct Round {
  int rank = 0;
  Interval span;  // from the rank's arrival
  std::string function;
  std::uint64_t bytes = 0;
  std::vector<Interval> messages{}, work{};
};

std::string textIn(const nlohmann::json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The time that `intervals` cover between `begin` and `end`.
double covered(std::vector<Interval> intervals, double begin, double end) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  double sum = 0;
  for (const Interval& interval : intervals) {
    const double from = std::max(begin, interval.begin), to = std::min(end, interval.end);
    if (to <= from) continue;
    sum += to - from;
    begin = to;
  }
  return sum;
}

class CallReader {
 public:
  /// Reads one event of the file; false if it is malformed.
  bool read(const nlohmann::json& event) {
    if (!event.is_object()) return false;
    const std::string phase = textIn(event, "ph"), category = textIn(event, "cat");
    const double process = numberIn(event, "pid"), begin_us = numberIn(event, "ts"),
                 length_us = numberIn(event, "dur");
    if (!(process >= 0 && process < 1e9) || !(std::abs(begin_us) < 1e15)) return false;
    if (!(length_us >= 0 && length_us < 1e15)) return false;
    const int rank = static_cast<int>(process) - 1;
    const Interval span{begin_us * 1e-6, (begin_us + length_us) * 1e-6};
    if (phase != "X") return true;
    Rank& own = ranks_[rank];
    const auto found = event.find("args");
    const nlohmann::json args =
        found != event.end() && found->is_object() ? *found : nlohmann::json::object();
    if (category == "call" && textIn(args, "detail") != "continued") {
      own.calls.push_back({span, textIn(event, "name")});
    } else if (category == "collective") {
      const double bytes = numberIn(args, "bytes");
      if (!(bytes >= 0 && bytes < 1e18)) return false;
      if (const std::string call = textIn(args, "call"); !call.empty())
        rounds_of_call_[call].push_back(rounds_.size());
      own.rounds.push_back(rounds_.size());
      rounds_.push_back({rank, span, textIn(event, "name"), static_cast<std::uint64_t>(bytes)});
    } else if (category == "send" || category == "receive" || category == "call") {
      own.messages.push_back(span);  // in predictions also the continued segments
    } else if (category == "reduce" || category == "copy") {
      own.work.push_back(span);
    }
    return true;
  }

  std::size_t ranks() const { return ranks_.size(); }
  bool hasCauses() const {
    return std::ranges::any_of(
        rounds_, [](const Round& round) { return !round.messages.empty() || !round.work.empty(); });
  }

  std::vector<TracedCall> calls() {
    for (auto& [number, rank] : ranks_)
      sortOut(rank);
    std::vector<TracedCall> calls;
    for (const auto& [number, rounds] : rounds_of_call_) {
      if (rounds.size() > 1) calls.push_back(callOf(rounds));
    }
    std::ranges::stable_sort(calls, {}, &TracedCall::begin_s);
    return calls;
  }

 private:
  struct Call {
    Interval span;
    std::string function;
  };
  struct Rank {
    std::vector<Call> calls;
    std::vector<std::size_t> rounds;
    std::vector<Interval> messages, work;
  };

  /// The last round that began before `time`, unless it has ended.
  std::optional<std::size_t> roundAt(const Rank& rank, double time) const {
    const auto later = std::ranges::upper_bound(
        rank.rounds, time, {}, [&](std::size_t i) { return rounds_[i].span.begin; });
    if (later == rank.rounds.begin()) return std::nullopt;
    const std::size_t round = *std::prev(later);
    return rounds_[round].span.end >= time ? std::optional(round) : std::nullopt;
  }

  /// Assigns events to rounds, then sets the time of the call in which they begin: the arrival of
  /// the rank.
  void sortOut(Rank& rank) {
    std::ranges::sort(rank.rounds, {}, [&](std::size_t i) { return rounds_[i].span.begin; });
    for (auto [intervals, field] :
         {std::pair(&rank.messages, &Round::messages), std::pair(&rank.work, &Round::work)}) {
      for (const Interval& interval : *intervals) {
        if (const auto round = roundAt(rank, interval.begin))
          (rounds_[*round].*field).push_back(interval);
      }
    }
    std::ranges::sort(rank.calls, {}, [](const Call& call) { return call.span.begin; });
    for (const std::size_t i : rank.rounds) {
      Round& round = rounds_[i];
      const auto later = std::ranges::upper_bound(rank.calls, round.span.begin, {},
                                                  [](const Call& call) { return call.span.begin; });
      if (later == rank.calls.begin()) continue;
      Call& call = *std::prev(later);
      if (call.function.empty() || call.span.end < round.span.begin) continue;
      round.function = std::exchange(call.function, std::string());  // of its first round
      round.span = {call.span.begin, std::max(round.span.end, call.span.end)};
    }
  }

  TracedCall callOf(const std::vector<std::size_t>& members) const {
    const Round& first = rounds_[members.front()];
    TracedCall call{first.function, first.bytes};
    std::vector<std::pair<double, int>> arrivals;
    for (const std::size_t i : members)
      arrivals.emplace_back(rounds_[i].span.begin, rounds_[i].rank);
    const auto [first_s, last_s] = std::ranges::minmax(arrivals | std::views::keys);
    call.begin_s = first_s;
    call.last = lastOf(std::move(arrivals));
    for (const std::size_t i : members) {
      const auto& [begin, end] = rounds_[i].span;
      const double together = std::clamp(last_s, begin, end);
      const std::vector<Interval>& work = rounds_[i].work;
      std::vector<Interval> all = rounds_[i].messages;
      all.insert(all.end(), work.begin(), work.end());
      CallTime time{.late_s = together - begin, .local_s = covered(work, together, end)};
      const double busy_s = covered(std::move(all), together, end);
      time.wire_s = busy_s - time.local_s;
      time.own_s = end - together - busy_s;
      call.ranks.push_back({rounds_[i].rank, time});
    }
    std::ranges::sort(call.ranks, {}, &TracedCall::Rank::rank);
    return call;
  }

  std::map<int, Rank> ranks_;
  std::vector<Round> rounds_;
  std::map<std::string, std::vector<std::size_t>> rounds_of_call_;  // by the call's number
};

}  // namespace

CallTime& CallTime::operator+=(const CallTime& other) {
  late_s += other.late_s;
  wire_s += other.wire_s;
  local_s += other.local_s;
  own_s += other.own_s;
  return *this;
}

llvm::Expected<TracedJob> readCalls(llvm::StringRef path) {
  llvm::Expected<nlohmann::json> document = readTrace(path);
  if (!document) return document.takeError();
  CallReader reader;
  const nlohmann::json& events = (*document)["traceEvents"];
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!reader.read(events[i]))
      return makeError(path + ": /traceEvents/" + std::to_string(i) + ": is no event of a run");
  }
  TracedJob job;
  job.calls = reader.calls();
  job.ranks = reader.ranks();
  job.has_causes = reader.hasCauses();
  const auto other = document->find("otherData");
  if (other != document->end() && other->is_object())
    job.dropped = static_cast<std::uint64_t>(numberIn(*other, "dropped"));
  if (job.calls.empty())
    return makeError(path + ": has no collective call of torc's that several ranks made");
  return job;
}

}  // namespace torc::compiler
