// The statistics of a job as a line of JSON. Keys: docs/schemas/statistics.schema.json.
#include <type_traits>

#include "runtime/pmpi/statistics/statistics_lines.h"
#include "settings/statistics_output.h"
#include "support/version.h"
#include "trace/trace_file.h"

namespace torc::runtime::pmpi {
namespace {

/// An object, or the elements of an array, on one line.
class Line {
 public:
  template <typename Value>
  Line& add(const char* key, const Value& value) {
    next();
    text_ += '"';
    text_ += key;
    text_ += "\":";
    if constexpr (std::is_same_v<Value, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<Value>) {
      // Whatever the program has made of the locale.
      text_ += numberText(value);
    } else {
      text_ += jsonString(value);
    }
    return *this;
  }

  /// An array with an object for each row, which `fill(row, object)` fills.
  template <typename Row, typename Fill>
  Line& addRows(const char* key, const std::vector<Row>& rows, Fill fill) {
    next();
    text_ += '"';
    text_ += key;
    text_ += "\":[";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Line object;
      fill(rows[i], object);
      text_ += (i == 0 ? "" : ",") + object.text();
    }
    text_ += ']';
    return *this;
  }

  std::string text() const { return text_ + '}'; }

 private:
  void next() {
    if (text_.size() > 1) text_ += ',';
  }

  std::string text_ = "{";
};

void fillCall(const CallRow& row, Line& line) {
  line.add("served", row.service == Service::kServed)
      .add("missing", row.service == Service::kShouldBeServed)
      .add("function", row.isRest() ? "others" : row.function)
      .add("communicator", row.communicator)
      .add("datatype", row.datatype)
      .add("operation", row.operation)
      .add("by", row.by)
      .add("ranks", row.ranks)
      .add("calls", row.calls)
      .add("bytes", row.bytes)
      .add("least_bytes", row.least_bytes)
      .add("most_bytes", row.most_bytes)
      .add("total_s", row.seconds)
      .add("least_s", row.least_seconds)
      .add("most_s", row.most_seconds);
  if (row.measured_mpi_seconds > 0) {
    line.add("measured_s", row.measured_seconds).add("measured_mpi_s", row.measured_mpi_seconds);
  }
}

}  // namespace

std::string statisticsJson(const JobDescription& job, const JobStatistics& statistics) {
  const RankFacts& sum = statistics.sum;
  const RankFacts& most = statistics.most;
  Line line;
  line.add("torc_stats", kStatisticsVersion)
      .add("torc", kVersion)
      .add("job", job.id)
      .add("host", job.host)
      .add("end_s", job.end)
      .add("command", job.command)
      .add("ranks", statistics.ranks)
      .add("off", job.off)
      .add("library", job.library)
      .add("machine", job.machine)
      .add("partition", job.partition)
      .add("schedules", most.schedules)
      .add("schedule_bytes", most.schedule_bytes)
      .add("plans_found", sum.calls_found)
      .add("plans_made", sum.plans_made)
      .add("plan_bytes", most.call_bytes)
      .add("put_bytes", sum.put_bytes)
      .add("ucx_bytes", 0)  // what reads the line expects it
      .add("mpi_bytes", sum.mpi_bytes)
      .add("segment_bytes", sum.segment_bytes)
      .add("setup_s", most.setup_seconds)
      .add("load_s", most.load_seconds)
      .addRows("calls", statistics.calls, fillCall)
      .addRows("communicators", statistics.communicators,
               [](const CommunicatorRow& row, Line& object) {
                 object.add("communicator", row.description)
                     .add("reason", row.reason)
                     .add("used", row.used)
                     .add("served_calls", row.served)
                     .add("mpi_calls", row.handed)
                     .add("total_s", row.seconds);
               })
      .addRows("tuned", statistics.tuned, [](const TunedRow& row, Line& object) {
        object.add("function", row.function)
            .add("communicator", row.communicator)
            .add("by", row.by)
            .add("call_bytes", row.bytes)
            .add("calls", row.calls)
            .add("fastest_s", row.seconds)
            .add("library_s", row.own_seconds)
            .add("mpi_s", row.mpi_seconds);
      });
  return line.text() + '\n';
}

}  // namespace torc::runtime::pmpi
