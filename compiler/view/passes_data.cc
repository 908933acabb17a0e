// The passes that made a schedule, run again, one by one.
#include <chrono>

#include <llvm/Support/raw_ostream.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/view/choice_data.h"
#include "ir/make_error.h"
#include "ir/text/text.h"
#include "passes/manager/pass_manager.h"
#include "passes/registry/pipeline_text.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

std::string textOf(const ir::Program& program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::printProgram(program, out);
  return text;
}

/// The algorithm and the passes that a producer names: `torc 0.1.0 bucket: assign-colors{...},...`.
struct Recipe {
  const Algorithm* algorithm = nullptr;
  std::vector<std::unique_ptr<passes::Pass>> passes;
};

llvm::Expected<Recipe> readRecipe(llvm::StringRef producer) {
  const auto [made_by, pipeline] = producer.split(": ");
  const auto [program, rest] = made_by.split(' ');
  const llvm::StringRef name = rest.split(' ').second;
  if (program != "torc" || name.empty()) return makeError("its producer names no algorithm");
  llvm::Expected<const Algorithm*> algorithm = findAlgorithm(name);
  if (!algorithm) return algorithm.takeError();
  auto passes = passes::parsePipeline(pipeline);
  if (!passes) return passes.takeError();
  return Recipe{*algorithm, std::move(*passes)};
}

}  // namespace

llvm::Expected<Json> passesData(const ScheduleView& schedule) {
  llvm::Expected<Recipe> recipe = readRecipe(schedule.producer);
  if (!recipe) return recipe.takeError();
  const CollectiveSpec spec{schedule.collective, schedule.topology};
  const bool is_led =
      llvm::any_of(recipe->passes, [](const auto& pass) { return pass->name() == "lead-cores"; });
  llvm::Expected<ir::Program> planned = recipe->algorithm->plan(is_led ? networkOf(spec) : spec);
  if (!planned) return planned.takeError();
  ir::Program program = std::move(*planned);
  std::string before = textOf(program);
  Json data = Json::array();
  data.push_back({{"name", "the plan of " + recipe->algorithm->name.str()},
                  {"changed", true},
                  {"seconds", 0},
                  {"text", before}});
  for (std::unique_ptr<passes::Pass>& next : recipe->passes) {
    const passes::Pass& pass = *next;
    Json entry = {{"name", pass.text()}};
    std::vector<std::unique_ptr<passes::Pass>> alone;
    alone.push_back(std::move(next));
    passes::PassManagerOptions options;
    options.verify_each = false;
    passes::PassManager manager(std::move(alone), options);
    const auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = manager.run(program)) return error;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    std::string text = textOf(program);
    entry["changed"] = text != before;
    entry["seconds"] = elapsed.count();
    Json& statistics = entry["statistics"] = Json::array();
    for (const passes::PassStatistic* statistic : pass.statistics())
      statistics.push_back({statistic->value(), statistic->description()});
    entry["text"] = text;
    before = std::move(text);
    data.push_back(std::move(entry));
  }
  return data;
}

}  // namespace torc::compiler
