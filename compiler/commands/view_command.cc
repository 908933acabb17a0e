// torc view FILE...: schedules as pictures, in one page for a browser.
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <nlohmann/json.hpp>

#include "compiler/commands/commands.h"
#include "compiler/progress_line.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "compiler/view/page_data.h"
#include "compiler/view/picture.h"
#include "compiler/view/schedule_page.h"
#include "compiler/view/trace_data.h"
#include "ir/make_error.h"
#include "schedules/expansion/expand.h"
#include "schedules/library/index.h"

namespace torc::compiler {
namespace view_command {

using namespace options;
using Json = nlohmann::ordered_json;

int run();
Command command("view", "make a page that shows schedules, libraries or choices", run,
                "torc view a.torc -o a.html");
List inputs{command, kFilesRow};
Flag with_passes{command, {kWhat, "passes", "", "Show the plan after each pass, too"}};
Flag with_choices{command, {kWhat, "choices", "", "Show the candidates of compile --bytes, too"}};
Text trace{command, {kWhat, "trace", "FILE", "Show this trace of a run beside the prediction"}};
Text rank{command, {kWhat, "rank", "R[,R]", "Show the elements that these ranks use, too"}};
Integer count{command, kCountRow, 0, kHighestCount};
Text bytes{command, kBytesRow};
Text machine{command, kMachineRow};
Text output{command,
            {kOutput, "output,o", "FILE", "Page, or - for stdout; default: FILE as .html"}};
Flag with_schedules{command,
                    {kOutput, "schedules", "", "Write a page of each schedule of a library, too"}};
Text png{command, {kOutput, "png", "FILE", "Write a picture of the page, too, by chromium"}};

/// The programs of the ranks that --rank names.
Json ranksData(const ScheduleView& schedule) {
  Json data = Json::array();
  llvm::SmallVector<llvm::StringRef> numbers;
  llvm::StringRef(rank).split(numbers, ',');
  for (const llvm::StringRef text : numbers) {
    std::int32_t number = 0;
    if (text.getAsInteger(10, number))
      wrongUsage("--rank takes numbers, as 0,5, not '" + rank + "'");
    StatusOr<FlatProgram> program = expand(schedule, number, {count, {}, {}});
    orUsageFault(toError(program.status()));
    data.push_back({{"count", std::uint64_t(count)}, {"program", rankData(*program)}});
  }
  return data;
}

/// All page data of a schedule on the machine `on`, but for ranks.
Json dataOf(const ViewedSchedule& viewed, const model::Machine& on, const SizeRange& range,
            Progress& progress) {
  std::vector<std::uint64_t> sizes = range.sizes();
  Json run;
  if (!trace.empty()) {
    run = orInputFault(traceData(viewed, trace));
    if (!bytes.isGiven()) sizes = {run["bytes"].get<std::uint64_t>()};
  }
  Json data = orInputFault(
      pageData(viewed, on, sizes, {.passes = with_passes, .choices = with_choices}, progress));
  if (!run.is_null()) data["trace"] = std::move(run);
  return data;
}

/// Where the page goes.
std::string pagePath() {
  if (!output.empty()) return output;
  const llvm::StringRef first = llvm::StringRef(inputs.front()).rtrim('/');
  return first == "-" ? "-" : besideInput(first, "html");
}

/// The file that the page is made from and `written` would take the place of; empty: none.
std::string overwrittenFile(const std::string& written) {
  if (written.empty() || written == "-") return {};
  std::vector<std::string> files(inputs.begin(), inputs.end());
  files.insert(files.end(), {trace, machine});
  const auto found = llvm::find_if(
      files, [&](const std::string& file) { return llvm::sys::fs::equivalent(file, written); });
  return found == files.end() ? "" : *found;
}

/// Whether the file would be in a library's folder, which has no files but its own.
bool isInLibrary(const std::string& written) {
  namespace path = llvm::sys::path;
  if (written.empty() || written == "-") return false;
  const llvm::StringRef parent = path::parent_path(written);
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::real_path(parent.empty() ? "." : parent, folder)) return false;
  if (path::filename(folder) == llvm::StringRef(kLibraryFilesFolder)) path::remove_filename(folder);
  return llvm::sys::fs::exists(indexPath(folder.str().str()));
}

/// Writes the page, and with --png its picture. Returns the exit code.
int writeView(llvm::Expected<std::string> page) {
  orInputFault(writeOutput(pagePath(), orInputFault(std::move(page))));
  if (png.empty()) return kSuccess;
  orInputFault(writeOutput(png, orInputFault(pictureOf(pagePath(), orInputFault(findChromium())))));
  return kSuccess;
}

/// Writes the page of a schedule of a library.
void writeSchedulePage(const std::string& file, const std::string& page) {
  Input read = orInputFault(readSteps(file, "a page shows step operations"));
  const ViewedSchedule viewed = orInputFault(viewedSchedule(file, read.takeProgram()));
  const model::Machine on = orInputFault(machineOf(viewed.written().topology, machine));
  const SizeRange range = orInputFault(parseSizeRange(bytes, "--bytes"));
  Progress progress(/*quiet=*/true);
  const Json data = orInputFault(pageData(viewed, on, range.sizes(), {}, progress));
  const llvm::StringRef title = llvm::sys::path::filename(file);
  orInputFault(writeOutput(page, orInputFault(schedulesPage(title, {data}))));
}

/// With --schedules also the pages of its schedules, in a folder beside the page.
Json readLibrary() {
  const Library library = orInputFault(loadLibrary(inputs.front()));
  Json data = libraryData(library);
  if (!with_schedules) return data;
  const std::string folder = besideInput(pagePath(), "schedules");
  if (const std::error_code error = llvm::sys::fs::create_directories(folder))
    orInputFault(makeError("cannot make '" + folder + "': " + error.message()));
  for (const LibraryFile& file : library.index.files) {
    const std::string name = llvm::sys::path::stem(file.name).str() + ".html";
    writeSchedulePage(libraryFilePath(library.path, file.name), folder + "/" + name);
  }
  data["pages"] = llvm::sys::path::filename(folder);
  return data;
}

/// Writes the page of a library or a table. Returns the exit code.
int viewOther(const char* key, const Json& data) {
  return writeView(viewPage(inputs.front(), key, data, documentText(data, 2)));
}

int run() {
  if (inputs.empty()) wrongUsage("view: which file? - is stdin");
  SizeRange range = orUsageFault(parseSizeRange(bytes, "--bytes"));
  if (!trace.empty() && inputs.size() > 1) wrongUsage("view: --trace is of one FILE");
  if (count.isGiven() && rank.empty()) wrongUsage("view: --count is for --rank");
  if (const std::string file = overwrittenFile(pagePath()); !file.empty())
    wrongUsage("view: the page would overwrite '" + file + "': -o another file");
  if (const std::string file = overwrittenFile(png); !file.empty() || png == pagePath())
    wrongUsage("view: --png would overwrite '" + (file.empty() ? pagePath() : file) + "'");
  for (const std::string& written : {pagePath(), std::string(png)}) {
    if (isInLibrary(written))
      wrongUsage("view: '" + written + "' would be in a library: -o another file");
  }
  if (!png.empty()) {
    if (pagePath() == "-") wrongUsage("view: --png is of a page in a file: -o FILE");
    orInputFault(findChromium());
  }
  const llvm::StringRef first = inputs.front();
  const bool is_library = llvm::sys::fs::is_directory(first);
  if (with_schedules && (!is_library || pagePath() == "-"))
    wrongUsage("view: --schedules is of a library, with a page in a file");
  if (is_library || first.ends_with(".csv")) {
    if (inputs.size() > 1) wrongUsage("view: a library or a table is shown alone");
    if (bytes.isGiven() || !machine.empty() || with_passes || with_choices || !trace.empty() ||
        !rank.empty()) {
      wrongUsage("view: a library or a table takes no option but -o, --png, --schedules");
    }
    return is_library ? viewOther("library", readLibrary())
                      : viewOther("table", orInputFault(tableData(first)));
  }
  std::vector<Json> schedules;
  std::string title;
  for (const std::string& input : inputs) {
    Input read = orInputFault(readSteps(input, "a page shows step operations"));
    if (read.view().isOnGraph())
      return inputFault(makeError(input + ": is on a graph; a page shows tori"));
    const ViewedSchedule viewed =
        orInputFault(viewedSchedule(input, read.takeProgram(), std::move(read.text)));
    const ScheduleView schedule = viewed.written();
    if (&input == &inputs.front()) takeChosenFor(schedule.producer, bytes, range, machine);
    const model::Machine on = orOptionFault(machineOf(schedule.topology, machine));
    Progress progress(/*quiet=*/false);
    Json data = dataOf(viewed, on, range, progress);
    if (!rank.empty()) data["programs"] = ranksData(schedule);
    title += (title.empty() ? "" : ", ") + llvm::sys::path::filename(input).str();
    schedules.push_back(std::move(data));
  }
  return writeView(schedulesPage(title, std::move(schedules)));
}

}  // namespace view_command

options::Command& kViewCommand = view_command::command;

}  // namespace torc::compiler
