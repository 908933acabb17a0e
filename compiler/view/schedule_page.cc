// Puts together the page of a schedule.
#include "compiler/view/schedule_page.h"

#include <utility>
#include <vector>

#include "compiler/view/page_data.h"
#include "ir/make_error.h"

namespace torc::compiler {

using Json = nlohmann::ordered_json;

std::string documentText(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

llvm::Expected<Json> pageData(const ViewedSchedule& viewed, const model::Machine& machine,
                              llvm::ArrayRef<std::uint64_t> sizes, ViewedOrigin origin,
                              Progress& progress) {
  const ScheduleView schedule = viewed.written();
  Json data = scheduleData(viewed);
  data["proof"] = proofData(viewed);
  data["prediction"] = runsData(viewed, machine, sizes);
  // Seen from the nodes of the timeline, where there is one.
  std::vector<std::int32_t> ranks = {0};
  if (const Json& runs = data["prediction"]["runs"]; !runs.empty() && runs[0].contains("events"))
    ranks = runs[0]["events"]["ranks"].get<std::vector<std::int32_t>>();
  data["writes"] = writesData(viewed, ranks);
  if (origin.passes) {
    llvm::Expected<Json> passes = passesData(schedule);
    if (!passes) return makeError(viewed.file + ": --passes: " + toString(passes.takeError()));
    data.update(*passes);
  }
  if (origin.choices) {
    llvm::Expected<Json> choices = choicesData({schedule.collective, schedule.topology}, machine,
                                               sizes, schedule.producer, progress);
    if (!choices) return choices.takeError();
    data["choices"] = std::move(*choices);
  }
  return data;
}

llvm::Expected<std::string> schedulesPage(llvm::StringRef title, std::vector<Json> schedules) {
  std::string text;
  for (const Json& data : schedules)
    text += data["text"].get<std::string>();
  return viewPage(title, "schedules", std::move(schedules), text);
}

llvm::Expected<std::string> compiledPage(llvm::StringRef name, ir::Program program,
                                         const model::Machine& machine, std::uint64_t bytes,
                                         Progress& progress) {
  llvm::Expected<ViewedSchedule> viewed = viewedSchedule(name.str(), std::move(program));
  if (!viewed) return viewed.takeError();
  llvm::Expected<Json> data =
      pageData(*viewed, machine, bytes, {.passes = true, .choices = true}, progress);
  if (!data) return data.takeError();
  return schedulesPage(name, {std::move(*data)});
}

}  // namespace torc::compiler
