// The passes that made a schedule, run again, one by one.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/algorithms/algorithm.h"
#include "compiler/target.h"
#include "compiler/view/page_data.h"
#include "ir/make_error.h"
#include "ir/text/text.h"
#include "passes/manager/pass_manager.h"
#include "passes/registry/pipeline_text.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

// Of a piece of text: deflate finds repetitions within 32 KiB.
constexpr std::size_t kPieceBytes = 8000;

/// The text with operations named by how far they are before the line's own, or the last one before
/// it: `%3 = send ... after %1` is `%0 = send ... after %2`. So the names are the same in the text
/// after a pass that has changed how many operations there are before.
std::string relativeText(llvm::StringRef text) {
  std::string relative;
  std::int64_t own = -1, number = 0;
  bool begins = true;  // a line
  while (!text.empty()) {
    const char letter = text.front();
    text = text.drop_front();
    relative += letter;
    if (letter == '%' && !text.consumeInteger(10, number)) {
      if (begins) ++own;
      relative += std::to_string(own - number);
    }
    begins = letter == '\n' || (begins && letter == ' ');
  }
  return relative;
}

/// The texts, each cut at line ends into equally many pieces: the first pieces of all, the second
/// ones of all, and so on. So the lines that passes have left alone stand near to each other.
Json piecesOf(llvm::ArrayRef<std::string> texts) {
  const std::size_t longest = llvm::max_element(texts, [](const auto& a, const auto& b) {
                                return a.size() < b.size();
                              })->size();
  const std::size_t count = longest / kPieceBytes + 1;
  Json pieces = Json::array();
  std::vector<std::size_t> begin(texts.size());
  for (std::size_t piece = 1; piece <= count; ++piece) {
    Json& row = pieces.emplace_back(Json::array());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::size_t end = texts[i].find('\n', texts[i].size() * piece / count);
      row.push_back(texts[i].substr(begin[i], end - begin[i]));
      begin[i] = std::min(end, texts[i].size());
    }
  }
  return pieces;
}

/// The algorithm and the passes that a producer names: `torc 0.1.0 bucket: assign-colors{...},...`.
struct Recipe {
  const Algorithm* algorithm = nullptr;
  std::vector<std::unique_ptr<passes::Pass>> passes;
};

llvm::Expected<Recipe> readRecipe(llvm::StringRef producer) {
  const auto [made_by, pipeline] = recipeOf(producer).split(": ");
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
  llvm::Expected<ir::Program> lowered = recipe->algorithm->lower(is_led ? networkOf(spec) : spec);
  if (!lowered) return lowered.takeError();
  ir::Program program = std::move(*lowered);
  std::vector<std::string> texts = {relativeText(ir::programText(program))};
  Json data = Json::array();
  data.push_back({{"name", "the plan of " + recipe->algorithm->name.str()},
                  {"changed", true},
                  {"seconds", 0}});
  for (std::unique_ptr<passes::Pass>& next : recipe->passes) {
    const passes::Pass& pass = *next;
    Json entry = {{"name", pass.text()}};
    std::vector<std::unique_ptr<passes::Pass>> alone;
    alone.push_back(std::move(next));
    passes::PassManager manager(std::move(alone), {.verify_each = false});
    const auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = manager.run(program)) return error;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    texts.push_back(relativeText(ir::programText(program)));
    entry["changed"] = texts.back() != texts.rbegin()[1];
    entry["seconds"] = elapsed.count();
    Json& statistics = entry["statistics"] = Json::array();
    for (const passes::PassStatistic* statistic : pass.statistics())
      statistics.push_back({statistic->value(), statistic->description()});
    data.push_back(std::move(entry));
  }
  return Json{{"passes", std::move(data)}, {"pass_texts", piecesOf(texts)}};
}

}  // namespace torc::compiler
