// Writes the JSON form, one record per line. Keys: docs/schemas/schedule.schema.json.
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "ir/json/json.h"
#include "ir/json/topology_json.h"
#include "ir/text/format.h"
#include "schedules/fields.h"

namespace torc::ir {
namespace {

using Json = nlohmann::ordered_json;

/// The JSON of values, by their types.
class ValueWriter {
 public:
  explicit ValueWriter(const ScheduleView& schedule) : schedule_(schedule) {}

  template <typename T>
  Json json(const T& value, const Values& values = {}) const {
    if constexpr (std::is_enum_v<T>) {
      return values.names[static_cast<std::size_t>(value)];
    } else if constexpr (std::is_same_v<T, char>) {
      return std::string(1, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      return value ? 1 : 0;
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
      return value == kNone && !values.none.empty() ? Json(values.none) : Json(value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return value;
    } else {
      Json object = Json::object();
      if constexpr (requires { value.pieces; }) {
        add(object, value, kFields<T>);
        value.pieces == 0 ? add(object, value, kOneBox<T>) : add(object, value, kPieceList<T>);
        add(object, value, kBehindBlocks<T>);
      } else {
        add(object, value, kFields<T>);
      }
      return object;
    }
  }
  /// "ZXY".
  Json json(const std::array<std::uint8_t, kMaxAxes>& order, const Values&) const {
    std::string names;
    for (std::uint32_t i = 0; i < schedule_.topology.axis_count; ++i)
      names += schedule_.topology.axes[order[i]].name;
    return names;
  }
  /// One element per axis.
  template <typename T>
  Json json(const std::array<T, kMaxAxes>& along, const Values& values = {}) const {
    Json array = Json::array();
    for (std::uint32_t i = 0; i < schedule_.topology.axis_count; ++i)
      array.push_back(json(along[i], values));
    return array;
  }
  Json json(const Box& box) const { return json(box.axes); }
  Json json(const Interval& interval, const Values& = {}) const;
  Json json(const Iterations& iterations) const;
  Json json(const Operation& operation) const;

 private:
  template <typename Record, typename Fields>
  void add(Json& object, const Record& record, const Fields& fields) const {
    const auto addOne = [&](const auto& field) {
      const auto& value = record.*field.member;
      if (field.optional && value == Record{}.*field.member) return;
      object.emplace(field.key, json(value, field.values));
    };
    std::apply([&](const auto&... field) { (addOne(field), ...); }, fields);
  }

  const ScheduleView& schedule_;
};

Json ValueWriter::json(const Interval& interval, const Values&) const {
  Json object;
  add(object, interval, kFields<Interval>);
  if (interval.kind == IntervalKind::kAll) return object;
  if (interval.kind == IntervalKind::kForRoots) {
    add(object, interval.rootSpan(), kFields<RootSpan>);
    return object;
  }
  add(object, interval, hasAbsoluteEnd(interval.kind) ? kIntervalEnds : kIntervalStart);
  if (interval.loop != 0) add(object, interval, kIntervalSteps);
  return object;
}

Json ValueWriter::json(const Iterations& iterations) const {
  Json object = {{"loops", Json::array()}};
  for (std::uint32_t level = 0; level < iterations.depth; ++level) {
    object["loops"].push_back(
        json(LoopIteration{iterations.origin[level], iterations.offset[level]}));
  }
  add(object, iterations, kFields<Iterations>);
  return object;
}

Json ValueWriter::json(const Operation& operation) const {
  Json object;
  add(object, operation, kFields<Operation>);
  add(object, operation, operation.hasPeerLoop() ? kPeerLoop : kPeer);
  add(object, operation, kGuard);
  Json& after = object["after"] = Json::array();
  for (const std::uint32_t dependence : schedule_.dependencesOf(operation)) {
    if (iterationsOf(dependence) == 0) {
      after.push_back(dependence);
    } else {
      after.push_back(
          {{"operation", operationOf(dependence)}, {"iterations", iterationsOf(dependence) - 1}});
    }
  }
  return object;
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void member(std::string_view key, const Json& value) {
    open(key);
    append(value);
  }

  /// A list with one line per record.
  template <typename Records>
  void list(std::string_view key, const Records& records, const ValueWriter& values) {
    open(key);
    out_ += '[';
    const char* separator = "\n    ";
    for (const auto& record : records) {
      out_ += separator;
      append(values.json(record));
      separator = ",\n    ";
    }
    out_ += records.empty() ? "]" : "\n  ]";
  }

 private:
  void open(std::string_view key) {
    out_ += out_.empty() ? "{\n  \"" : ",\n  \"";
    out_ += key;
    out_ += "\": ";
  }
  void append(const Json& value) {
    // A valid schedule has ASCII strings; for any other this does not throw.
    out_ += value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string& out_;
};

}  // namespace

Json topologyJson(const Topology& topology) {
  ScheduleView schedule;
  schedule.topology = topology;
  Json json = {{"axes", ValueWriter(schedule).json(topology.axes)},
               {"order", topology.orderString()}};
  const auto nodeJson = [&](const Coordinates& node) {
    return Json(std::vector(node.begin(), node.begin() + topology.dimensions()));
  };
  for (const DeadLink& link : topology.deadLinks()) {
    json["dead_links"].push_back(
        {{"from", nodeJson(link.from)}, {"axis", std::string(1, topology.axes[link.axis].name)}});
  }
  for (const Coordinates& node : topology.deadNodes())
    json["dead_nodes"].push_back(nodeJson(node));
  return json;
}

std::string writeJson(const ScheduleView& schedule) {
  const Topology& topology = schedule.topology;
  Json promises = Json::array();
  for (const PromiseName& promise : kPromises) {
    if (schedule.flags & promise.flag) promises.push_back(promise.name);
  }
  std::string text;
  Writer writer(text);
  writer.member("torc_schedule", kJsonFormVersion);
  writer.member("name", schedule.name);
  writer.member("producer", schedule.producer);
  writer.member("collective", rowOf(schedule.collective).name);
  writer.member("promises", promises);
  if (schedule.flags & kSynchronousSends) writer.member("sends", "synchronous");
  if (schedule.flags & kDropsBroken) writer.member("broken_messages", "dropped");
  Json places = topologyJson(topology);
  const ValueWriter values(schedule);
  for (const GraphLink& link : schedule.links)
    places["links"].push_back(values.json(link));
  writer.member("topology", places);
  const auto write = [&](const auto& field) {
    const auto& value = schedule.*field.member;
    if constexpr (requires { value.size(); }) {
      writer.list(field.key, value, values);
    } else {
      writer.member(field.key, value);
    }
  };
  std::apply([&](const auto&... field) { (write(field), ...); }, kTables<ScheduleView>);
  text += "\n}\n";
  return text;
}

}  // namespace torc::ir
