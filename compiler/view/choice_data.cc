// The choice for a size, and for every size, as --explain has it.
#include <algorithm>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/library/served_range.h"
#include "compiler/report.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "compiler/view/page_data.h"

namespace torc::compiler {
namespace {

Record recordOf(const Candidate& candidate, double bound_s) {
  const std::string name = candidate.description();
  Record record = {{"name", name}, {"algorithm", candidate.algorithm->name}};
  if (!candidate.refusal.empty()) {
    record.push_back({"refusal", candidate.refusal});
    record.push_back({"tried", candidate.tried});
    return record;
  }
  const std::string how = candidate.by_packets ? "by packets"
                          : candidate.per_rank ? "rank by rank"
                                               : "";
  const double ratio = bound_s > 0 ? candidate.predicted_s / bound_s : 1.0;
  record.insert(record.end(),
                {{"predicted_s", candidate.predicted_s, "predicted us", {" %.2f", 1e6}},
                 {"", ratio, "x bound", kBoundRatio},
                 {"busy_s", candidate.busy_s, "busiest link us", kFixedMicros},
                 {"steps", candidate.steps, " steps"},
                 {"messages", candidate.messages, "messages"},
                 {"operations", candidate.operations, "operations"},
                 {"", how.empty() ? name : name + " (" + how + ")", "candidate"},
                 {"how", how},
                 {"stand_in", candidate.stand_in}});
  return record;
}

/// Whether `producer` names the candidate, perhaps with loops rolled since.
bool isMade(const Candidate& candidate, llvm::StringRef producer) {
  const passes::PassPipeline pipeline = pipelineOf(*candidate.algorithm, candidate.options);
  llvm::StringRef recipe = recipeOf(producer).split(' ').second.split(' ').second;
  if (!recipe.consume_front(candidate.algorithm->name)) return false;
  if (!pipeline.empty() && !recipe.consume_front(": " + pipeline.text())) return false;
  return recipe.empty() || recipe.ltrim(",: ").starts_with("roll-loops");
}

bool isPossible(const Choice& choice) {
  return !choice.candidates.empty() && choice.best().refusal.empty();
}

/// Things of one reason in a line, "not tried: weights of bfb, groups: ...", or, where that would
/// be long, in several.
void printLeftOut(llvm::ArrayRef<LeftOut> things, llvm::raw_ostream& out) {
  constexpr std::size_t kLongest = 110;
  llvm::SmallVector<bool> are_told(things.size());
  for (std::size_t i = 0; i < things.size(); ++i) {
    const LeftOut& first = things[i];
    if (are_told[i]) continue;
    const std::string begin = "not tried: " + (first.of != nullptr ? first.what + " of " : "");
    std::string line;
    for (std::size_t j = i; j < things.size(); ++j) {
      const LeftOut& thing = things[j];
      const bool is_alike = thing.reason == first.reason &&
                            (thing.of == nullptr) == (first.of == nullptr) &&
                            (thing.of == nullptr || thing.what == first.what);
      if (!is_alike || are_told[j]) continue;
      const std::string name = thing.of != nullptr ? thing.of->name.str() : thing.what;
      if (line.ends_with(" " + name)) {  // of several plans
        are_told[j] = true;
        continue;
      }
      if (!line.empty() && line.size() + name.size() + first.reason.size() > kLongest) break;
      line += (line.empty() ? begin : ", ") + name;
      are_told[j] = true;
    }
    out << line << ": " << first.reason << '\n';
  }
}

}  // namespace

Json choiceData(const Choice& choice, const CollectiveSpec& spec, const model::Machine& machine,
                std::uint64_t bytes, const ChoiceLimits& limits) {
  Json data = {{"bytes", bytes},
               {"bound_s", boundAt(spec.collective, machine, bytes)},
               {"reason", isPossible(choice) ? Json(choice.reason()) : Json()}};
  std::vector<Record> candidates;
  for (const Candidate& candidate : choice.candidates)
    candidates.push_back(recordOf(candidate, 0));
  data["candidates"] = jsonOf(candidates);
  // A row that several plans have in common is there once.
  Json& left_out = data["left_out"] = Json::array();
  for (const LeftOut& thing : leftOut(choice, spec, machine, limits)) {
    const std::string of = thing.of != nullptr ? " of " + thing.of->name.str() : "";
    Json row = {{"what", thing.what + of}, {"reason", thing.reason}};
    if (llvm::find(left_out, row) == left_out.end()) left_out.push_back(std::move(row));
  }
  return data;
}

llvm::Expected<Json> choicesData(const CollectiveSpec& spec, const model::Machine& machine,
                                 llvm::ArrayRef<std::uint64_t> sizes, llvm::StringRef producer,
                                 Progress& progress) {
  Json data = Json::array();
  CompileCache programs(spec);
  const ChoiceLimits limits;
  for (const std::uint64_t bytes : sizes) {
    progress.begin("choosing for " + sizeText(bytes));
    llvm::Expected<Choice> choice =
        choose(programs, machine, static_cast<double>(bytes), limits, &progress);
    progress.clear();
    if (!choice) return choice.takeError();
    data.push_back(choiceData(*choice, spec, machine, bytes, limits));
    for (std::size_t i = 0; i < choice->candidates.size(); ++i) {
      if (isMade(choice->candidates[i], producer))
        data.back()["candidates"][i]["is_of_file"] = true;
    }
  }
  return data;
}

void printChoice(const Choice& choice, const CollectiveSpec& spec, const model::Machine& machine,
                 std::uint64_t bytes, const ChoiceLimits& limits, llvm::raw_ostream& out) {
  const double bound = boundAt(spec.collective, machine, bytes);
  out << rowOf(spec.collective).name << " of " << bytes << " bytes on " << spec.topology.shape()
      << ", machine " << machine.name
      << formatted("; no algorithm takes less than %.2f us\n", 1e6 * bound);
  // By predicted time; candidates that are not possible, or not worth a try, behind.
  std::vector<const Candidate*> rows;
  for (const Candidate& candidate : choice.candidates) {
    if (candidate.refusal.empty()) rows.push_back(&candidate);
  }
  std::ranges::stable_sort(rows, {}, &Candidate::predicted_s);
  std::vector<Record> records;
  for (const Candidate* row : rows)
    records.push_back(recordOf(*row, bound));
  std::vector<std::string> lines = tableLines(records);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == &choice.best()) lines[i + 1][0] = '*';
  }
  out << llvm::join(lines, "");
  for (const Candidate& candidate : choice.candidates) {
    if (candidate.refusal.empty()) continue;
    out << (candidate.tried ? "not possible: " : "not tried: ") << candidate.description() << ": "
        << candidate.refusal << '\n';
  }
  printLeftOut(leftOut(choice, spec, machine, limits), out);
  if (!isPossible(choice)) return;
  if (!choice.best().stand_in.empty()) {
    out << "simulated on " << choice.best().stand_in
        << ", which has fewer nodes that differ, and scaled by the cost model; steps and messages "
           "are those of that shape\n";
  }
  out << "chosen: " << choice.best().description() << "; " << choice.reason() << '\n';
}

}  // namespace torc::compiler
