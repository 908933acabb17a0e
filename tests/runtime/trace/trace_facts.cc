#include "tests/runtime/trace/trace_facts.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "support/message.h"

namespace torc::runtime {
namespace {

using Json = nlohmann::json;
using Thread = std::pair<int, int>;  // of a process

/// Times in the file are microseconds with three digits.
std::int64_t nanoseconds(const Json& event, const char* field) {
  return std::llround(1000 * event.at(field).get<double>());
}

struct Slice {
  std::int64_t begin, end;
  const Json* event;
};

struct End {
  const Json* event = nullptr;  // of the flow
  const Json* slice = nullptr;  // that it stands on
  std::int64_t begin = 0, end = 0;
};

class Reader {
 public:
  explicit Reader(TraceFacts& facts) : facts_(facts) {}

  void read(const Json& trace) {
    for (const Json& event : trace.at("traceEvents")) {
      const std::string phase = event.at("ph");
      if (phase == "M") {
        readMetadata(event);
      } else if (phase == "X") {
        const std::int64_t begin = nanoseconds(event, "ts");
        threads_[threadOf(event)].push_back({begin, begin + nanoseconds(event, "dur"), &event});
        ++facts_.events[event.at("name")];
      } else if (phase == "s" || phase == "f") {
        flows_.push_back(&event);
      } else {
        fault("unknown phase ", phase);
      }
    }
    const Json& other = trace.at("otherData");
    facts_.dropped = other.at("dropped");
    checkThreads();
    checkFlows();
    std::uint64_t events = 0;
    for (const auto& [name, count] : facts_.events)
      events += count;
    if (events != other.at("events")) fault("otherData counts ", other.at("events"), " events");
    if (facts_.ranks.size() != other.at("ranks")) fault("otherData counts ", other.at("ranks"));
  }

 private:
  template <typename... Words>
  void fault(const Words&... words) {
    facts_.faults.push_back(message(words...));
  }

  static Thread threadOf(const Json& event) { return {event.at("pid"), event.at("tid")}; }

  void readMetadata(const Json& event) {
    const std::string name = event.at("name");
    const Json& arguments = event.at("args");
    const int process = event.at("pid");
    if (name == "process_name") {
      const std::string title = arguments.at("name");
      if (!facts_.ranks.emplace(process - 1, title).second) fault("two titles of ", process);
      if (!title.starts_with(message("rank ", process - 1))) fault("title '", title, "'");
    } else if (name == "process_sort_index") {
      if (arguments.at("sort_index") != process - 1) fault("order of process ", process);
    } else if (name == "thread_name") {
      if (!names_.emplace(threadOf(event), arguments.at("name")).second) fault("two names");
      ++facts_.rows[arguments.at("name")];
    } else if (name != "thread_sort_index" && name != "process_labels") {
      fault("unknown metadata ", name);
    }
  }

  void checkThreads() {
    for (auto& [thread, slices] : threads_) {
      if (!names_.contains(thread)) fault("thread ", thread.second, " has no name");
      if (!facts_.ranks.contains(thread.first - 1)) fault("process without a title");
      std::sort(slices.begin(), slices.end(),
                [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
      std::int64_t end = 0;
      for (const Slice& slice : slices) {
        if (slice.begin < end) fault("overlap or negative time: ", slice.event->dump());
        if (slice.end <= slice.begin) fault("no duration: ", slice.event->dump());
        end = slice.end;
      }
    }
  }

  End endOf(const Json& flow) {
    End end;
    end.event = &flow;
    const std::int64_t time = nanoseconds(flow, "ts");
    const std::vector<Slice>& slices = threads_[threadOf(flow)];
    auto after = std::upper_bound(slices.begin(), slices.end(), time,
                                  [](std::int64_t t, const Slice& s) { return t < s.begin; });
    if (after == slices.begin() || time >= (after - 1)->end) {
      fault("flow on no event: ", flow.dump());
      return end;
    }
    --after;
    end.slice = after->event;
    end.begin = after->begin;
    end.end = after->end;
    return end;
  }

  void checkFlows() {
    std::map<std::string, std::pair<std::vector<End>, std::vector<End>>> by_id;
    for (const Json* flow : flows_) {
      auto& [starts, finishes] = by_id[flow->at("id")];
      (flow->at("ph") == "s" ? starts : finishes).push_back(endOf(*flow));
    }
    facts_.flows = by_id.size();
    for (const auto& [id, ends] : by_id) {
      const auto& [starts, finishes] = ends;
      if (starts.size() != 1 || finishes.size() != 1) {
        fault("flow ", id, " has ", starts.size(), " starts, ", finishes.size(), " finishes");
        continue;
      }
      const End &send = starts[0], &receive = finishes[0];
      if (send.slice == nullptr || receive.slice == nullptr) continue;
      const Json &from = *send.slice, &to = *receive.slice;
      const auto facts = [](const Json& slice) {
        const Json& args = slice.at("args");
        return std::tuple<int, std::uint64_t>(args.at("tag"), args.at("bytes"));
      };
      if (from.at("name") != "send" || to.at("name") != "receive" || facts(from) != facts(to) ||
          from.at("args").at("peer").get<int>() + 1 != to.at("pid") ||
          to.at("args").at("peer").get<int>() + 1 != from.at("pid")) {
        fault("ends of flow ", id, ": ", from.dump(), " ", to.dump());
      }
      if (send.begin >= receive.end) fault("flow ", id, " goes back in time");
    }
  }

  TraceFacts& facts_;
  std::map<Thread, std::string> names_;
  std::map<Thread, std::vector<Slice>> threads_;
  std::vector<const Json*> flows_;
};

}  // namespace

TraceFacts readTrace(const std::string& text) {
  TraceFacts facts;
  try {
    const Json trace = Json::parse(text);
    Reader(facts).read(trace);
  } catch (const Json::exception& error) {
    facts.faults.push_back(error.what());
  }
  return facts;
}

}  // namespace torc::runtime
