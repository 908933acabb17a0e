// torc model alltoall: what an all-to-all takes on a cluster of multi-core nodes, by the strategies
// of the multi-core paper (model/cluster/alltoall.h).
#include "compiler/commands/model_alltoall.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>
#include <nlohmann/json.hpp>

#include "compiler/progress.h"
#include "compiler/sizes.h"
#include "compiler/tool.h"
#include "model/cluster/alltoall.h"
#include "model/cluster/schedule_program.h"
#include "model/machines/machine.h"

namespace torc::compiler {
namespace {

using namespace llvm::cl;
using Json = nlohmann::ordered_json;

/// Messages of a node that one simulation has at most: a minute of work.
constexpr double kMostMessages = 1e8;
constexpr double kMicro = 1e6;  // microseconds per second

struct Options {
  Options(SubCommand& command, OptionCategory& category)
      : cluster("cluster", value_desc("name"), sub(command), cat(category),
                desc("alltoall: a cluster (infinipath, infinihost, connectx) or a JSON file")),
        nodes("nodes", value_desc("N"), sub(command), cat(category),
              desc("alltoall: nodes; default: the cluster's")),
        cores("cores", value_desc("T"), sub(command), cat(category),
              desc("alltoall: cores of a node; default: the cluster's")),
        strategy("strategy", value_desc("list"), sub(command), cat(category),
                 desc("alltoall: of original, leader, aggregated, distributed; default: all")),
        exchange("exchange", value_desc("name"), sub(command), cat(category),
                 desc("alltoall: bruck, direct or pairwise between nodes; default: as the "
                      "cluster's library is tuned")),
        schedule("schedule", value_desc("file"), sub(command), cat(category),
                 desc("alltoall: a schedule of torc's, which says nodes and cores; with "
                      "--strategy beside these")) {}

  opt<std::string> cluster;
  opt<std::string> nodes, cores, strategy, exchange, schedule;
};

/// Lives as long as the command line.
Options* options = nullptr;

llvm::Error fault(const llvm::Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// What is asked of the cluster, but the size.
struct Question {
  model::Cluster cluster;
  model::ClusterAlltoall alltoall;
  std::vector<model::ClusterStrategy> strategies;
  std::optional<Input> schedule;

  std::size_t columns() const { return strategies.size() + (schedule ? 1 : 0); }
};

llvm::Error readCount(const opt<std::string>& option, unsigned highest, std::uint32_t& count) {
  if (option.getNumOccurrences() == 0) return llvm::Error::success();
  std::uint32_t number = 0;
  if (llvm::StringRef(option).getAsInteger(10, number) || number < 1 || number > highest) {
    return fault("--" + option.ArgStr + ": must be 1 to " + llvm::Twine(highest) + ", not " +
                 option.getValue());
  }
  count = number;
  return llvm::Error::success();
}

llvm::Error readStrategies(std::vector<model::ClusterStrategy>& strategies) {
  if (options->strategy.empty()) {
    if (!options->schedule.empty()) return llvm::Error::success();
    strategies.assign(std::begin(model::kClusterStrategies), std::end(model::kClusterStrategies));
    return llvm::Error::success();
  }
  for (llvm::StringRef name : llvm::split(options->strategy, ',')) {
    const std::optional<model::ClusterStrategy> strategy = model::clusterStrategyNamed(name);
    if (!strategy) {
      return fault("--strategy: unknown strategy '" + name +
                   "'; there are original, leader, aggregated, distributed");
    }
    if (!llvm::is_contained(strategies, *strategy)) strategies.push_back(*strategy);
  }
  return llvm::Error::success();
}

llvm::Error readExchange(std::optional<model::ExchangeKind>& kind) {
  if (options->exchange.empty()) return llvm::Error::success();
  for (const model::ExchangeKind each : {model::ExchangeKind::kBruck, model::ExchangeKind::kDirect,
                                         model::ExchangeKind::kPairwise}) {
    if (options->exchange == model::nameOf(each)) kind = each;
  }
  if (kind) return llvm::Error::success();
  return fault("--exchange: unknown exchange '" + options->exchange +
               "'; there are bruck, direct, pairwise");
}

/// The schedule, with its nodes and cores.
llvm::Error readSchedule(Question& question) {
  if (options->schedule.empty()) return llvm::Error::success();
  for (const opt<std::string>* option : {&options->nodes, &options->cores}) {
    if (option->getNumOccurrences() > 0) {
      return fault("model: --" + option->ArgStr + " goes without --schedule, which has its own");
    }
  }
  llvm::Expected<Input> read = readInput(options->schedule);
  if (!read) return llvm::make_error<model::MachineFault>(toString(read.takeError()));
  if (read->isPlan()) {
    return llvm::make_error<model::MachineFault>(options->schedule +
                                                 ": is a plan; only step operations take time");
  }
  const Topology& topology = read->view().topology;
  question.alltoall.cores = topology.hasCores() ? topology.axes[topology.axis_count - 1].size : 1;
  question.alltoall.nodes = static_cast<std::uint32_t>(topology.ranks() / question.alltoall.cores);
  question.schedule = std::move(*read);
  return llvm::Error::success();
}

llvm::Expected<Question> readQuestion() {
  if (options->cluster.empty()) {
    return fault("model: on which cluster? --cluster " + llvm::join(model::clusterPresets(), ", ") +
                 " or a JSON file");
  }
  llvm::Expected<model::Cluster> cluster = model::findCluster(options->cluster);
  if (!cluster) return cluster.takeError();
  Question question{std::move(*cluster), {}, {}, {}};
  model::ClusterAlltoall& alltoall = question.alltoall;
  alltoall.nodes = question.cluster.nodes;
  alltoall.cores = question.cluster.cores;
  if (llvm::Error error = readCount(options->nodes, model::kMaxClusterNodes, alltoall.nodes))
    return error;
  if (llvm::Error error = readCount(options->cores, model::kMaxClusterCores, alltoall.cores))
    return error;
  if (llvm::Error error = readStrategies(question.strategies)) return error;
  if (llvm::Error error = readExchange(alltoall.kind)) return error;
  if (llvm::Error error = readSchedule(question)) return error;
  return question;
}

struct Row {
  std::uint64_t bytes = 0;
  std::optional<model::ClusterAlltoall> alltoall;  // else the schedule
  model::ClusterRun run;

  const char* name() const { return alltoall ? model::nameOf(alltoall->strategy) : "schedule"; }
};

llvm::Error checkSize(const model::Cluster& cluster, const Row& row) {
  const double messages = row.alltoall ? model::messagesOf(cluster, *row.alltoall) : 0;
  if (messages <= kMostMessages) return llvm::Error::success();
  std::string count;
  llvm::raw_string_ostream(count) << llvm::format("%.3g messages, and at most %g are", messages,
                                                  kMostMessages);
  return fault(llvm::Twine("model: ") + row.name() + " of " + sizeText(row.bytes) +
               ": each node sends " + count + " simulated");
}

/// Simulates a row. Messages and bytes are one node's.
llvm::Error simulateRow(const Question& question, Row& row) {
  if (row.alltoall) {
    row.run = model::simulateAlltoall(question.cluster, *row.alltoall);
  } else {
    llvm::Expected<std::unique_ptr<model::ClusterProgram>> program =
        model::scheduleProgram(question.cluster, question.schedule->view(), row.bytes);
    if (!program) {
      return llvm::make_error<model::MachineFault>(options->schedule + ": " +
                                                   toString(program.takeError()));
    }
    row.run = model::simulateCluster(question.cluster, **program);
    row.run.messages /= question.alltoall.nodes;
    row.run.bytes /= question.alltoall.nodes;
  }
  if (row.run.completed) return llvm::Error::success();
  return fault(llvm::Twine("model: ") + row.name() + ": its cores wait for each other");
}

llvm::Expected<std::vector<Row>> predict(const Question& question,
                                         llvm::ArrayRef<std::uint64_t> sizes) {
  std::vector<Row> rows;
  for (const std::uint64_t size : sizes) {
    for (const model::ClusterStrategy strategy : question.strategies) {
      model::ClusterAlltoall alltoall = question.alltoall;
      alltoall.bytes = static_cast<double>(size);
      alltoall.strategy = strategy;
      rows.push_back({size, alltoall, {}});
    }
    if (question.schedule) rows.push_back({size, std::nullopt, {}});
  }
  for (const Row& row : rows) {
    if (llvm::Error error = checkSize(question.cluster, row)) return error;
  }
  Progress progress(/*quiet=*/false);
  const auto work = [&](const Row& row) {
    return row.alltoall ? 1 + model::messagesOf(question.cluster, *row.alltoall) : 1;
  };
  for (const Row& row : rows)
    progress.expect(1, work(row));
  for (Row& row : rows) {
    progress.begin(row.name() + (" of " + sizeText(row.bytes)));
    if (llvm::Error error = simulateRow(question, row)) return error;
    progress.done(work(row));
  }
  return rows;
}

/// The exchange between nodes; a schedule does not name its own.
const char* exchangeName(const Question& question, const Row& row) {
  return row.alltoall ? model::nameOf(model::exchangeOf(question.cluster, *row.alltoall).kind())
                      : nullptr;
}

void printTable(const Question& question, llvm::ArrayRef<Row> rows, llvm::raw_ostream& out) {
  const std::size_t columns = question.columns();
  out << "alltoall on " << question.cluster.name << ": " << question.alltoall.nodes << " nodes of "
      << question.alltoall.cores << " cores; us, and the exchange between nodes\n     bytes";
  for (const Row& row : rows.take_front(columns))
    out << "  " << llvm::right_justify(row.name(), 20);
  out << (columns > 1 ? "  fastest\n" : "\n");
  for (; !rows.empty(); rows = rows.drop_front(columns)) {
    out << llvm::right_justify(sizeText(rows[0].bytes), 10);
    const Row* fastest = &rows[0];
    for (const Row& row : rows.take_front(columns)) {
      const char* exchange = exchangeName(question, row);
      out << llvm::format("  %11.6g", row.run.seconds * kMicro) << ' '
          << llvm::left_justify(exchange == nullptr ? "-" : exchange, 8);
      if (row.run.seconds < fastest->run.seconds * (1 - 1e-9)) fastest = &row;
    }
    if (columns > 1) out << "  " << fastest->name();
    out << '\n';
  }
}

void printJson(const Question& question, llvm::ArrayRef<Row> rows, llvm::raw_ostream& out) {
  Json documents = Json::array();
  for (const Row& row : rows) {
    const char* exchange = exchangeName(question, row);
    Json document;
    document["collective"] = "alltoall";
    document["cluster"] = question.cluster.name;
    document["nodes"] = question.alltoall.nodes;
    document["cores"] = question.alltoall.cores;
    document["bytes"] = row.bytes;
    document["strategy"] = row.name();
    document["exchange"] = exchange == nullptr ? Json() : Json(exchange);
    document["simulated_s"] = row.run.seconds;
    document["node_messages"] = row.run.messages;
    document["node_bytes"] = static_cast<std::uint64_t>(row.run.bytes);
    documents.push_back(std::move(document));
  }
  out << (documents.size() == 1 ? documents.front() : documents).dump(2) << '\n';
}

}  // namespace

void addClusterOptions(SubCommand& command, OptionCategory& category) {
  static Options all(command, category);
  options = &all;
}

llvm::StringRef clusterOptionGiven() {
  for (const Option* option :
       {static_cast<const Option*>(&options->cluster), static_cast<const Option*>(&options->nodes),
        static_cast<const Option*>(&options->cores), static_cast<const Option*>(&options->strategy),
        static_cast<const Option*>(&options->exchange),
        static_cast<const Option*>(&options->schedule)}) {
    if (option->getNumOccurrences() > 0) return option->ArgStr;
  }
  return {};
}

int modelAlltoall(llvm::ArrayRef<std::uint64_t> sizes, bool json) {
  const std::vector<std::uint64_t> usual = SizeRange{1, 8192}.sizes();
  if (sizes.empty()) sizes = usual;
  llvm::Expected<Question> question = readQuestion();
  if (!question) return optionFault(question.takeError());
  llvm::Expected<std::vector<Row>> rows = predict(*question, sizes);
  if (!rows) return optionFault(rows.takeError());
  std::string text;
  llvm::raw_string_ostream out(text);
  json ? printJson(*question, *rows, out) : printTable(*question, *rows, out);
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  return kSuccess;
}

}  // namespace torc::compiler
