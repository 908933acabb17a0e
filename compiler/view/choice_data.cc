// The choice for every size, as --explain has it.
#include "compiler/view/choice_data.h"

#include "compiler/choice/choice.h"
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
  return data;
}

}  // namespace

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
    const model::Bound bound =
        model::lowerBound(machine, {rowOf(spec.collective), static_cast<double>(bytes)});
    Json entry = {{"bytes", bytes}, {"bound_s", bound.bound_s}, {"reason", choice->reason()}};
    for (const Candidate& candidate : choice->candidates)
      entry["candidates"].push_back(candidateData(candidate));
    Json& left_out = entry["left_out"] = Json::array();
    for (const LeftOut& thing : leftOut(*choice, spec, machine, limits)) {
      const std::string of = thing.of != nullptr ? " of " + thing.of->name.str() : "";
      left_out.push_back({{"what", thing.what + of}, {"reason", thing.reason}});
    }
    data.push_back(std::move(entry));
  }
  return data;
}

}  // namespace torc::compiler
