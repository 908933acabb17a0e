// The choice for a size, and for every size, as --explain has it.
#include "compiler/view/choice_data.h"

#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "compiler/sizes.h"
#include "model/bounds/bounds.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

Json candidateData(const Candidate& candidate) {
  Json data = {{"name", candidate.description()}, {"algorithm", candidate.algorithm->name}};
  if (!candidate.refusal.empty()) {
    data["refusal"] = candidate.refusal;
    data["tried"] = candidate.tried;
    return data;
  }
  data["predicted_s"] = candidate.predicted_s;
  data["busy_s"] = candidate.busy_s;
  data["steps"] = candidate.steps;
  data["messages"] = candidate.messages;
  data["operations"] = candidate.operations;
  data["how"] = candidate.by_packets ? "by packets" : candidate.per_rank ? "rank by rank" : "";
  data["stand_in"] = candidate.stand_in;
  return data;
}

}  // namespace

Json choiceData(const Choice& choice, const CollectiveSpec& spec, const model::Machine& machine,
                std::uint64_t bytes, const ChoiceLimits& limits) {
  const model::Bound bound =
      model::lowerBound(machine, {rowOf(spec.collective), static_cast<double>(bytes)});
  const bool is_possible = !choice.candidates.empty() && choice.best().refusal.empty();
  Json data = {{"bytes", bytes},
               {"bound_s", bound.bound_s},
               {"reason", is_possible ? Json(choice.reason()) : Json()}};
  Json& candidates = data["candidates"] = Json::array();
  for (const Candidate& candidate : choice.candidates)
    candidates.push_back(candidateData(candidate));
  // What is of several plans is there once.
  Json& left_out = data["left_out"] = Json::array();
  for (const LeftOut& thing : leftOut(choice, spec, machine, limits)) {
    const std::string of = thing.of != nullptr ? " of " + thing.of->name.str() : "";
    Json row = {{"what", thing.what + of}, {"reason", thing.reason}};
    if (llvm::find(left_out, row) == left_out.end()) left_out.push_back(std::move(row));
  }
  return data;
}

llvm::Expected<Json> choicesData(const CollectiveSpec& spec, const model::Machine& machine,
                                 llvm::ArrayRef<std::uint64_t> sizes, Progress& progress) {
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
  }
  return data;
}

}  // namespace torc::compiler
