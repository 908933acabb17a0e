// torc-model alltoall: predicts an all-to-all on a cluster of multi-core nodes, by the strategies
// of the multi-core paper (studies/cluster/alltoall.h).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/command_line.h"
#include "compiler/progress_line.h"
#include "compiler/report.h"
#include "compiler/sizes.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "model/machines/machine.h"
#include "studies/cluster/alltoall.h"
#include "studies/cluster/schedule_program.h"
#include "studies/commands/model_commands.h"

namespace torc::studies {
namespace alltoall_command {

using namespace options;
using compiler::Json, compiler::kSize, compiler::Record;

/// Most messages of a node in one simulation: a minute of work.
constexpr double kMostMessages = 1e8;

int run();
Command command("alltoall", "predict an all-to-all on a cluster of multi-core nodes", run,
                "torc-model alltoall --cluster infinipath --bytes 64,512,2K");
Text strategy_list{
    command,
    {kWhat, "strategy", "LIST", "Of original, leader, aggregated, distributed; default: all"}};
Word exchange{
    command,
    {kWhat, "exchange", "bruck|direct|pairwise", "Exchange between nodes; default: the cluster's"}};
Integer calls{command,
              {kWhat, "calls", "K", "Calls in sequence, of which the mean is printed", "1"},
              1,
              1000};
Integer leaders{command,
                {kWhat, "leaders", "L", "Leaders of a node, a divisor of its cores", "1"},
                1,
                kMaxClusterCores};
Flag one_switch{command,
                {kWhat, "one-switch", "", "One switch joins all nodes, without contention"}};
Text schedule{command,
              {kWhat, "schedule", "FILE", "A schedule of torc, which has nodes and cores"}};
Text cluster_name{command,
                  {kMachine, "cluster", "NAME", "infinipath, infinihost, connectx or a JSON file"}};
Integer nodes{
    command, {kMachine, "nodes", "N", "Nodes; default: the cluster's"}, 1, kMaxClusterNodes};
Integer cores{command,
              {kMachine, "cores", "T", "Cores of a node; default: the cluster's"},
              1,
              kMaxClusterCores};
Text bytes{command,
           {kMachine, "bytes", "N[:N],...", "Sizes of a pair's block, ranges of them", "1:8K"}};
Flag json{command, compiler::kJsonRow};
Flag csv{command, compiler::kCsvRow};

/// The parameters of a query, except the size.
struct Question {
  Cluster cluster;
  ClusterAlltoall alltoall;
  std::vector<ClusterStrategy> strategies;
  std::optional<compiler::Input> schedule;

  std::size_t columns() const { return strategies.size() + (schedule ? 1 : 0); }
};

llvm::Error readStrategies(std::vector<ClusterStrategy>& strategies) {
  if (strategy_list.empty()) {
    if (!schedule.empty()) return llvm::Error::success();
    strategies.assign(std::begin(kClusterStrategies), std::end(kClusterStrategies));
    return llvm::Error::success();
  }
  for (llvm::StringRef name : llvm::split(strategy_list, ',')) {
    const std::optional<ClusterStrategy> strategy = clusterStrategyNamed(name);
    if (!strategy) {
      return makeError("unknown strategy '" + name +
                       "'; there are original, leader, aggregated, distributed");
    }
    if (!llvm::is_contained(strategies, *strategy)) strategies.push_back(*strategy);
  }
  return llvm::Error::success();
}

/// The schedule, with its nodes and cores.
llvm::Error readSchedule(Question& question) {
  if (schedule.empty()) return llvm::Error::success();
  for (const Integer* option : {&nodes, &cores}) {
    if (option->isGiven()) {
      return makeError("alltoall: " + option->shownName() +
                       " goes without --schedule, which has its own");
    }
  }
  llvm::Expected<compiler::Input> read = compiler::readInput(schedule);
  if (!read) return llvm::make_error<model::MachineFault>(toString(read.takeError()));
  if (read->isPlan()) {
    return llvm::make_error<model::MachineFault>(schedule +
                                                 ": is a plan; only step operations take time");
  }
  const Topology& topology = read->view().topology;
  question.alltoall.cores = topology.hasCores() ? topology.axes[topology.axis_count - 1].size : 1;
  question.alltoall.nodes = static_cast<std::uint32_t>(topology.ranks() / question.alltoall.cores);
  question.schedule = std::move(*read);
  return llvm::Error::success();
}

llvm::Expected<Question> readQuestion() {
  if (cluster_name.empty()) {
    return makeError("alltoall: on which cluster? --cluster " + llvm::join(clusterPresets(), ", ") +
                     " or a file");
  }
  llvm::Expected<Cluster> cluster = findCluster(cluster_name);
  if (!cluster) return cluster.takeError();
  Question question{std::move(*cluster), {}, {}, {}};
  ClusterAlltoall& alltoall = question.alltoall;
  alltoall.nodes = question.cluster.nodes;
  alltoall.cores = question.cluster.cores;
  if (nodes.isGiven()) alltoall.nodes = static_cast<std::uint32_t>(nodes);
  if (cores.isGiven()) alltoall.cores = static_cast<std::uint32_t>(cores);
  if (llvm::Error error = readStrategies(question.strategies)) return error;
  if (exchange.isGiven()) alltoall.kind = static_cast<ExchangeKind>(exchange.index());
  if (llvm::Error error = readSchedule(question)) return error;
  alltoall.calls = static_cast<std::uint32_t>(calls);
  alltoall.leaders = static_cast<std::uint32_t>(leaders);
  if (alltoall.cores % alltoall.leaders != 0) {
    return makeError("--leaders: " + llvm::Twine(alltoall.leaders) + " do not share " +
                     llvm::Twine(alltoall.cores) + " cores evenly");
  }
  alltoall.one_switch = one_switch;
  if (one_switch) question.cluster.leaf_nodes = kMaxClusterNodes;  // for a schedule, too
  return question;
}

struct Row {
  std::uint64_t bytes = 0;
  std::optional<ClusterAlltoall> alltoall;  // else the schedule
  ClusterRun run;

  const char* name() const { return alltoall ? nameOf(alltoall->strategy) : "schedule"; }
};

llvm::Error checkSize(const Cluster& cluster, const Row& row) {
  const double messages = row.alltoall ? messagesOf(cluster, *row.alltoall) : 0;
  if (messages <= kMostMessages) return llvm::Error::success();
  std::string count;
  llvm::raw_string_ostream(count) << llvm::format("%.3g messages, and at most %g are", messages,
                                                  kMostMessages);
  return makeError(llvm::Twine(row.name()) + " of " + compiler::sizeText(row.bytes) + ": " + count +
                   " simulated");
}

/// Simulates a row. Messages and bytes are one node's.
llvm::Error simulateRow(const Question& question, Row& row) {
  if (row.alltoall) {
    row.run = simulateAlltoall(question.cluster, *row.alltoall);
  } else {
    llvm::Expected<std::unique_ptr<ClusterProgram>> program =
        scheduleProgram(question.cluster, question.schedule->view(), row.bytes);
    if (!program) {
      return llvm::make_error<model::MachineFault>(schedule + ": " + toString(program.takeError()));
    }
    row.run = simulateCluster(question.cluster, **program);
    row.run.messages /= question.alltoall.nodes;
    row.run.bytes /= question.alltoall.nodes;
    row.run.searched /= question.alltoall.nodes;
  }
  if (row.run.completed) return llvm::Error::success();
  return makeError(llvm::Twine(row.name()) + ": its cores wait for each other");
}

llvm::Expected<std::vector<Row>> predict(const Question& question,
                                         llvm::ArrayRef<std::uint64_t> sizes) {
  std::vector<Row> rows;
  for (const std::uint64_t size : sizes) {
    for (const ClusterStrategy strategy : question.strategies) {
      ClusterAlltoall alltoall = question.alltoall;
      alltoall.bytes = static_cast<double>(size);
      alltoall.strategy = strategy;
      rows.push_back({size, alltoall, {}});
    }
    if (question.schedule) rows.push_back({size, std::nullopt, {}});
  }
  for (const Row& row : rows) {
    if (llvm::Error error = checkSize(question.cluster, row)) return error;
  }
  compiler::Progress progress(/*quiet=*/false);
  const auto work = [&](const Row& row) {
    return row.alltoall ? 1 + messagesOf(question.cluster, *row.alltoall) : 1;
  };
  for (const Row& row : rows)
    progress.expect(1, work(row));
  for (Row& row : rows) {
    progress.begin(row.name() + (" of " + compiler::sizeText(row.bytes)));
    if (llvm::Error error = simulateRow(question, row)) return error;
    progress.done(work(row));
  }
  return rows;
}

/// Name of the exchange between nodes; a schedule has none.
const char* exchangeName(const Question& question, const Row& row) {
  return row.alltoall ? nameOf(exchangeOf(question.cluster, *row.alltoall).kind()) : nullptr;
}

Record recordOf(const Question& question, const Row& row) {
  const char* exchange = exchangeName(question, row);
  return {{"collective", "alltoall"},
          {"cluster", question.cluster.name},
          {"nodes", question.alltoall.nodes},
          {"cores", question.alltoall.cores},
          {"bytes", row.bytes},
          {"strategy", row.name()},
          {"exchange", exchange == nullptr ? Json() : Json(exchange)},
          {"simulated_s", row.run.seconds},
          {"node_messages", row.run.messages},
          {"node_bytes", static_cast<std::uint64_t>(row.run.bytes)},
          {"node_searched", row.run.searched}};
}

/// Prints the strategies side by side.
void printTable(const Question& question, llvm::ArrayRef<Row> rows, llvm::raw_ostream& out) {
  const std::size_t columns = question.columns();
  std::vector<Record> table;
  for (; !rows.empty(); rows = rows.drop_front(columns)) {
    Record& record = table.emplace_back(Record{{"", rows[0].bytes, "     bytes", kSize}});
    const Row* fastest = &rows[0];
    for (const Row& row : rows.take_front(columns)) {
      const char* exchange = exchangeName(question, row);
      std::string cell;
      llvm::raw_string_ostream(cell)
          << llvm::format("%.6g %-8s", row.run.seconds * kMicro, exchange ? exchange : "-");
      record.push_back({"", cell, llvm::formatv("{0,20}", row.name())});
      if (row.run.seconds < fastest->run.seconds * (1 - 1e-9)) fastest = &row;
    }
    if (columns > 1) record.push_back({"", fastest->name(), "fastest"});
  }
  out << "alltoall on " << question.cluster.name << ": " << question.alltoall.nodes << " nodes of "
      << question.alltoall.cores << " cores; us, and the exchange between nodes\n"
      << compiler::tableText(table);
}

int run() {
  const std::vector<std::uint64_t> sizes =
      compiler::orOptionFault(compiler::parseSizeList(bytes, "--bytes"));
  const Question question = compiler::orOptionFault(readQuestion());
  const std::vector<Row> rows = compiler::orOptionFault(predict(question, sizes));
  std::vector<Record> records;
  for (const Row& row : rows)
    records.push_back(recordOf(question, row));
  return compiler::printReport(records, {json, csv},
                               [&](llvm::raw_ostream& out) { printTable(question, rows, out); });
}

}  // namespace alltoall_command

options::Command& kAlltoallCommand = alltoall_command::command;

}  // namespace torc::studies
