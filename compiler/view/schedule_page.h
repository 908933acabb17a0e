// Pages of schedules, as `torc view` and `torc compile --view` write them.
#ifndef TORC_COMPILER_VIEW_SCHEDULE_PAGE_H_
#define TORC_COMPILER_VIEW_SCHEDULE_PAGE_H_

#include <cstdint>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <nlohmann/json.hpp>

#include "compiler/progress_line.h"
#include "compiler/view/schedule_data.h"
#include "ir/program.h"
#include "model/machines/machine.h"

namespace torc::compiler {

/// What a page may show of how a schedule came about.
struct ViewedOrigin {
  bool passes = false;
  bool choices = false;
};

/// A page's document (docs/schemas/view.schema.json) without anything to show.
nlohmann::ordered_json emptyDocument();

/// `document` as text; file names in it need not be UTF-8.
std::string documentText(const nlohmann::ordered_json& document, int indent = -1);

/// What the page shows of a schedule and its runs of `sizes` on `machine`. Errors: passes that this
/// torc does not know, nothing to choose from.
llvm::Expected<nlohmann::ordered_json> pageData(const ViewedSchedule& viewed,
                                                const model::Machine& machine,
                                                llvm::ArrayRef<std::uint64_t> sizes,
                                                ViewedOrigin origin, Progress& progress);

/// The page of one program that has just been compiled and is called `name`, with its passes and
/// what there was to choose from. Errors: as of `pageData`, or too many operations.
llvm::Expected<std::string> compiledPage(llvm::StringRef name, ir::Program program,
                                         const model::Machine& machine, std::uint64_t bytes,
                                         Progress& progress);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_VIEW_SCHEDULE_PAGE_H_
