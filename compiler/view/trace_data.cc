// Reads a trace: time, rank and round of the schedule's operations.
#include "compiler/view/trace_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/tool.h"
#include "compiler/view/columns_data.h"
#include "compiler/view/late_ranks.h"
#include "ir/json/document.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;
using Nanoseconds = std::int64_t;

struct TracedOperation {
  Nanoseconds begin = 0, end = 0;
  std::uint32_t operation = 0;  // of the text; later with unrolled loops
};

struct Round {
  Nanoseconds begin = 0, end = 0;
  std::vector<TracedOperation> operations;
};

struct TracedRank {
  std::vector<Round> rounds;
  std::vector<TracedOperation> operations;  // of all rounds
};

Nanoseconds nanoseconds(double microseconds) {
  return std::llround(microseconds * 1e3);
}

class TraceReader {
 public:
  explicit TraceReader(const ViewedSchedule& viewed) : viewed_(viewed) {
    const ScheduleView schedule = viewed.view();
    runs_of_.resize(viewed.written().operations.size());
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i)
      runs_of_[viewed.sourceOf(i)].push_back(i);
  }

  /// The shape of another torus in the ranks' names; empty if they match the schedule.
  const std::string& otherShape() const { return other_shape_; }

  /// Reads one event of the file; false if it is malformed.
  bool read(const nlohmann::json& event) {
    if (!event.is_object()) return false;
    if (event.value("name", nlohmann::json()) == "process_name") readName(event);
    const auto phase = event.find("ph"), category = event.find("cat"), args = event.find("args");
    if (phase == event.end() || *phase != "X" || category == event.end() || args == event.end() ||
        !args->is_object()) {
      return true;
    }
    const double begin_us = numberIn(event, "ts"), length_us = numberIn(event, "dur");
    if (!(std::abs(begin_us) < 1e12) || !(length_us >= 0 && length_us < 1e12)) return false;
    const Nanoseconds begin = nanoseconds(begin_us);
    const Nanoseconds end = begin + nanoseconds(length_us);
    const double process = numberIn(event, "pid");
    if (!(process >= 0 && process < 1e9)) return false;
    TracedRank& rank = ranks_[static_cast<int>(process) - 1];
    if (*category == "collective") {
      const auto name = args->find("schedule");
      if (name == args->end() || *name != viewed_.program.schedule.name) return true;
      rank.rounds.push_back({begin, end, {}});
      const auto bytes = args->find("bytes");
      if (bytes == args->end() || !bytes->is_number_unsigned()) return false;
      bytes_ = bytes->get<std::uint64_t>();
    } else if (const auto operation = args->find("operation"); operation != args->end()) {
      if (!operation->is_number_unsigned() || *operation >= runs_of_.size()) return false;
      rank.operations.push_back({begin, end, operation->get<std::uint32_t>()});
    }
    return true;
  }

  /// Call after all events: assigns operations to their rounds; false without any.
  bool sort() {
    std::erase_if(ranks_, [](const auto& entry) { return entry.second.rounds.empty(); });
    if (ranks_.empty()) return false;
    rounds_ = ranks_.begin()->second.rounds.size();
    for (auto& [number, rank] : ranks_) {
      std::ranges::sort(rank.rounds, {}, &Round::begin);
      std::ranges::sort(rank.operations, {}, &TracedOperation::begin);
      for (const TracedOperation& operation : rank.operations) {
        auto round = std::ranges::upper_bound(rank.rounds, operation.begin, {}, &Round::begin);
        if (round == rank.rounds.begin()) continue;
        --round;
        if (operation.begin <= round->end) round->operations.push_back(operation);
      }
      for (Round& round : rank.rounds)
        writeOut(round);
      rounds_ = std::min(rounds_, rank.rounds.size());
    }
    return true;
  }

  /// Call after sort.
  bool hasOperations() const {
    return llvm::any_of(ranks_, [](const auto& entry) { return !entry.second.operations.empty(); });
  }

  Json data() const {
    // A full trace drops its oldest events: rounds are counted from the last one.
    std::vector<std::pair<Nanoseconds, std::size_t>> lengths;
    Json rounds = Json::array();
    for (std::size_t round = 0; round < rounds_; ++round) {
      const auto [begin, end] = extentOf(round);
      lengths.emplace_back(end - begin, round);
      rounds.push_back(end - begin);
    }
    std::ranges::sort(lengths);
    const std::size_t shown = lengths[lengths.size() / 2].second;
    const Nanoseconds start = extentOf(shown).first;
    Json data = {{"bytes", bytes_}, {"rounds_ns", rounds}, {"round", shown}};
    data["operations"] = operationsData(shown, start);
    ColumnsData ranks({"rank", "begin_ns", "end_ns"});
    std::vector<std::pair<Nanoseconds, int>> by_end;
    for (const auto& [number, rank] : ranks_) {
      const Round& round = roundOf(rank, shown);
      ranks.add({number, round.begin - start, round.end - start});
      by_end.emplace_back(round.end, number);
    }
    ranks.moveTo(data["ranks"]);
    std::ranges::sort(by_end);
    Json& in_full = data["in_full"] = Json::array();
    if (by_end.size() > 1) {
      const LateRanks late = lateRanks();
      in_full.push_back(rankData(late.latest(), late.text("rounds"), shown, start));
    }
    in_full.push_back(rankData(by_end.front().second, "first to end", shown, start));
    if (by_end.size() > 2)
      in_full.push_back(rankData(by_end[by_end.size() / 2].second, "median", shown, start));
    if (by_end.size() > 1)
      in_full.push_back(rankData(by_end.back().second, "last to end", shown, start));
    return data;
  }

 private:
  /// Reads a name like `rank 3 at (0, 1) of 3x2`.
  void readName(const nlohmann::json& event) {
    const nlohmann::json args = event.value("args", nlohmann::json());
    const auto name = args.is_object() ? args.find("name") : args.end();
    if (name == args.end() || !name->is_string()) return;
    const std::string text = name->get<std::string>();
    const auto [rank, shape] = llvm::StringRef(text).split(" of ");
    if (!shape.empty() && shape != viewed_.written().topology.shape()) other_shape_ = shape.str();
  }

  /// The k-th event of an operation in a loop is its k-th iteration; if there are more events than
  /// iterations, as for loops over peers, several are merged.
  void writeOut(Round& round) const {
    std::map<std::uint32_t, std::vector<TracedOperation>> events;
    for (const TracedOperation& operation : round.operations)
      events[operation.operation].push_back(operation);
    round.operations.clear();
    for (const auto& [source, list] : events) {
      const std::vector<std::uint32_t>& runs = runs_of_[source];
      const std::size_t parts = std::min(runs.size(), list.size());
      for (std::size_t part = 0; part < parts; ++part) {
        TracedOperation one{list[part * list.size() / parts].begin, 0, runs[part]};
        for (std::size_t i = part * list.size() / parts; i < (part + 1) * list.size() / parts; ++i)
          one.end = std::max(one.end, list[i].end);
        round.operations.push_back(one);
      }
    }
    std::ranges::sort(round.operations, {}, &TracedOperation::begin);
  }

  const Round& roundOf(const TracedRank& rank, std::size_t round) const {
    return rank.rounds[rank.rounds.size() - rounds_ + round];
  }
  std::pair<Nanoseconds, Nanoseconds> extentOf(std::size_t round) const {
    std::pair extent{INT64_MAX, INT64_MIN};
    for (const auto& [number, rank] : ranks_) {
      extent.first = std::min(extent.first, roundOf(rank, round).begin);
      extent.second = std::max(extent.second, roundOf(rank, round).end);
    }
    return extent;
  }

  LateRanks lateRanks() const {
    LateRanks late;
    for (std::size_t round = 0; round < rounds_; ++round) {
      std::vector<std::pair<double, int>> arrivals;
      for (const auto& [number, rank] : ranks_)
        arrivals.emplace_back(1e-9 * static_cast<double>(roundOf(rank, round).begin), number);
      late.add(lastOf(std::move(arrivals)));
    }
    return late;
  }

  /// Minimum, quartiles and maximum over ranks.
  static Json quartiles(std::vector<Nanoseconds>& values) {
    std::ranges::sort(values);
    Json data = Json::array();
    for (std::size_t quarter = 0; quarter <= 4; ++quarter)
      data.push_back(values[quarter * (values.size() - 1) / 4]);
    return data;
  }

  Json operationsData(std::size_t shown, Nanoseconds start) const {
    std::map<std::uint32_t, std::pair<std::vector<Nanoseconds>, std::vector<Nanoseconds>>> times;
    for (const auto& [number, rank] : ranks_) {
      for (const TracedOperation& operation : roundOf(rank, shown).operations) {
        times[operation.operation].first.push_back(operation.begin - start);
        times[operation.operation].second.push_back(operation.end - start);
      }
    }
    ColumnsData columns({"operation", "begin_ns", "end_ns"});
    for (auto& [operation, all] : times)
      columns.add({operation, quartiles(all.first), quartiles(all.second)});
    Json data;
    columns.moveTo(data);
    return data;
  }

  Json rankData(int number, const std::string& what, std::size_t shown, Nanoseconds start) const {
    ColumnsData columns({"operation", "begin_ns", "end_ns"});
    for (const TracedOperation& operation : roundOf(ranks_.at(number), shown).operations)
      columns.add({operation.operation, operation.begin - start, operation.end - start});
    Json data = {{"rank", number}, {"what", what}};
    columns.moveTo(data);
    return data;
  }

  const ViewedSchedule& viewed_;
  std::vector<std::vector<std::uint32_t>> runs_of_;  // by operation of the text
  std::map<int, TracedRank> ranks_;
  std::size_t rounds_ = 0;
  std::uint64_t bytes_ = 0;
  std::string other_shape_;
};

}  // namespace

double numberIn(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

llvm::Expected<nlohmann::json> readTrace(llvm::StringRef path) {
  llvm::Expected<std::string> text = readBytes(path);
  if (!text) return text.takeError();
  llvm::Expected<nlohmann::json> document = ir::parseJson(*text, path);
  if (!document) return document.takeError();
  const auto events = document->is_object() ? document->find("traceEvents") : document->end();
  if (events == document->end() || !events->is_array())
    return makeError(path + ": is no trace: it has no list traceEvents");
  return document;
}

llvm::Expected<Json> traceData(const ViewedSchedule& viewed, llvm::StringRef path) {
  llvm::Expected<nlohmann::json> document = readTrace(path);
  if (!document) return document.takeError();
  const nlohmann::json& events = (*document)["traceEvents"];
  TraceReader reader(viewed);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool is_read = reader.read(events[i]);
    if (!reader.otherShape().empty()) {
      return makeError(path + ": is of a run on " + reader.otherShape() + ", and " + viewed.file +
                       " is for " + viewed.written().topology.shape());
    }
    if (!is_read) {
      return makeError(path + ": /traceEvents/" + std::to_string(i) + ": is no event of a run of " +
                       viewed.file);
    }
  }
  if (!reader.sort()) {
    return makeError(path + ": has no round of a schedule '" + viewed.program.schedule.name +
                     "', as " + viewed.file + " is");
  }
  if (!reader.hasOperations())
    return makeError(path + ": has calls only, without operations: torc trace reads it");
  Json data = reader.data();
  data["file"] = path.str();
  return data;
}

}  // namespace torc::compiler
