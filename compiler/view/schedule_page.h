// Pages of `torc view` and `torc compile --view`: one HTML file with its data, for use without a
// network.
#ifndef TORC_COMPILER_VIEW_SCHEDULE_PAGE_H_
#define TORC_COMPILER_VIEW_SCHEDULE_PAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

#include "compiler/progress_line.h"
#include "compiler/view/page_data.h"
#include "ir/program.h"
#include "model/machines/machine.h"

namespace torc::compiler {

/// Optional data about the origin of a schedule.
struct ViewedOrigin {
  bool passes = false;
  bool choices = false;
};

/// `document` as text; its file names need not be UTF-8.
std::string documentText(const nlohmann::ordered_json& document, int indent = -1);

/// Page data of a schedule and its runs of `sizes` on `machine`. Errors: unknown passes of another
/// torc, or no candidate.
llvm::Expected<nlohmann::ordered_json> pageData(const ViewedSchedule& viewed,
                                                const model::Machine& machine,
                                                llvm::ArrayRef<std::uint64_t> sizes,
                                                ViewedOrigin origin, Progress& progress);

/// The page for the data of schedules. Errors: as of `viewPage`.
llvm::Expected<std::string> schedulesPage(llvm::StringRef title,
                                          std::vector<nlohmann::ordered_json> schedules);

/// The page of one newly compiled program with this `name`, with its passes and candidates. Errors:
/// as of `pageData`, or too many operations.
llvm::Expected<std::string> compiledPage(llvm::StringRef name, ir::Program program,
                                         const model::Machine& machine, std::uint64_t bytes,
                                         Progress& progress);

/// The page of a document (docs/schemas/view.schema.json) with `data` at `key`: viewer/ with the
/// compressed document. `title` is its heading; `text`, cut to a maximal length, is for browsers
/// without scripts. Errors: this build of LLVM cannot compress.
llvm::Expected<std::string> viewPage(llvm::StringRef title, const char* key,
                                     nlohmann::ordered_json data, llvm::StringRef text);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_SCHEDULE_PAGE_H_
