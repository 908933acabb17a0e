// The statistics of a job in the text format of Prometheus, for node_exporter's textfile collector.
// https://prometheus.io/docs/instrumenting/exposition_formats/
#include <map>

#include "runtime/pmpi/statistics/statistics_lines.h"
#include "support/message.h"
#include "support/version.h"
#include "trace/trace_file.h"

namespace torc::runtime::pmpi {
namespace {

/// The value of a label, in quotes. Such texts escape what JSON does, but know no \u.
std::string label(std::string text) {
  for (char& letter : text) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return jsonString(text);
}

template <typename Number>
void addSample(std::string& text, const std::string& name, const std::string& labels,
               Number value) {
  text += name + '{' + labels + "} " + numberText(value) + '\n';
}

std::string head(const char* name, const char* help) {
  return message("# HELP ", name, ' ', help, "\n# TYPE ", name, " gauge\n");
}

struct Sum {
  std::uint64_t calls = 0, bytes = 0;
  double seconds = 0, won = 0;
  bool knows_won = false;
};

}  // namespace

std::string statisticsPrometheus(const JobDescription& job, const JobStatistics& statistics) {
  const std::string job_label = "job_id=" + label(job.id);
  std::string text = head("torc_job_info", "The last job of this file; off: why torc was.");
  addSample(text, "torc_job_info",
            job_label + ",host=" + label(job.host) + ",version=" + label(std::string(kVersion)) +
                ",machine=" + label(job.machine) + ",partition=" + label(job.partition) +
                ",off=" + label(job.off),
            1);
  const auto single = [&](const char* name, const char* help, auto value) {
    text += head(name, help);
    addSample(text, name, job_label, value);
  };
  single("torc_job_ranks", "Ranks.", statistics.ranks);
  single("torc_job_end_timestamp_seconds", "When it ended.", job.end);
  single("torc_job_setup_seconds", "Set-up of torc, the most on a rank.",
         statistics.most.setup_seconds);
  single("torc_job_load_seconds", "Loading of schedules, the most on a rank.",
         statistics.most.load_seconds);

  std::map<std::string, Sum> sums;
  for (const CallRow& row : statistics.calls) {
    const bool served = row.service == Service::kServed;
    Sum& sum = sums[job_label + ",function=" + label(row.isRest() ? "others" : row.function) +
                    ",communicator=" + label(row.communicator) +
                    ",served_by=" + (served ? "\"torc\"" : "\"mpi\"") +
                    ",reason=" + label(served ? std::string() : row.by)];
    sum.calls += row.calls;
    sum.bytes += row.bytes;
    sum.seconds += row.seconds;
    sum.won += row.secondsWon();
    sum.knows_won = sum.knows_won || row.measured_mpi_seconds > 0;
  }
  const auto each = [&](const char* name, const char* help, auto value) {
    text += head(name, help);
    for (const auto& [labels, sum] : sums)
      addSample(text, name, labels, value(sum));
  };
  each("torc_calls", "Calls over all ranks.", [](const Sum& sum) { return sum.calls; });
  each("torc_call_bytes", "Bytes of their vectors.", [](const Sum& sum) { return sum.bytes; });
  each("torc_call_seconds", "Time from call to completion, over all ranks.",
       [](const Sum& sum) { return sum.seconds; });
  text += head("torc_won_seconds", "Time of ranks won against MPI, where that was measured.");
  for (const auto& [labels, sum] : sums) {
    if (sum.knows_won) addSample(text, "torc_won_seconds", labels, sum.won);
  }
  return text;
}

}  // namespace torc::runtime::pmpi
