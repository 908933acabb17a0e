// Error messages, input and output of commands.
#include "compiler/tool.h"

#include <span>
#include <system_error>

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/program_name.h"
#include "ir/json/json.h"
#include "ir/make_error.h"
#include "ir/schedule_builder.h"
#include "ir/text/text.h"
#include "model/machines/machine.h"
#include "schedules/loops/loop_nest.h"

namespace torc::compiler {
namespace {

/// The name of an input in messages.
std::string originOf(llvm::StringRef path) {
  return path == "-" ? "<stdin>" : path.str();
}

std::span<const std::byte> bytesOf(llvm::StringRef text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// Prints a message, with the prefix `torc: error: ` unless it begins with a place in a text.
void printError(llvm::StringRef message) {
  const llvm::StringRef first_line = message.split('\n').first;
  if (!first_line.contains(": error: ")) llvm::errs() << g_program << ": error: ";
  llvm::errs() << message << '\n';
}

}  // namespace

int inputFault(llvm::Error error) {
  printError(toString(std::move(error)));
  return kInputFault;
}

int optionFault(llvm::Error error) {
  const bool in_file = error.isA<model::MachineFault>();
  printError(toString(std::move(error)));
  return in_file ? kInputFault : kWrongUsage;
}

int usageFault(llvm::Error error) {
  printError(toString(std::move(error)));
  return kWrongUsage;
}

void wrongUsage(const llvm::Twine& message) {
  throw CommandEnd{usageFault(makeError(message))};
}

std::string linkName(const Axis& axis, bool up) {
  return {axis.name, up ? '+' : '-'};
}

llvm::Error toError(const Status& status) {
  if (status.ok()) return llvm::Error::success();
  return makeError(status);
}

ir::Program Input::takeProgram() {
  if (!file) return std::move(program);
  const ScheduleView& view = file->view();
  ir::Program taken;
  Schedule& schedule = taken.schedule;
  schedule = headerOf(view);
  schedule.streams.assign(view.streams.begin(), view.streams.end());
  schedule.boxes.assign(view.boxes.begin(), view.boxes.end());
  schedule.pairs.assign(view.pairs.begin(), view.pairs.end());
  schedule.pieces.assign(view.pieces.begin(), view.pieces.end());
  schedule.shifts.assign(view.shifts.begin(), view.shifts.end());
  schedule.peer_loops.assign(view.peer_loops.begin(), view.peer_loops.end());
  schedule.frames.assign(view.frames.begin(), view.frames.end());
  schedule.slot_count = view.slot_count;
  schedule.loops.assign(view.loops.begin(), view.loops.end());
  schedule.iterations.assign(view.iterations.begin(), view.iterations.end());
  schedule.operations.assign(view.operations.begin(), view.operations.end());
  schedule.dependences.assign(view.dependences.begin(), view.dependences.end());
  return taken;
}

namespace {

/// `36 loops (3000 operations in all), `; empty without loops.
std::string loopText(const ScheduleView& schedule) {
  if (schedule.loops.empty()) return {};
  return std::to_string(schedule.loops.size()) + " loops (" +
         std::to_string(operationRuns(schedule)) + " operations in all), ";
}

}  // namespace

void printSummary(const ScheduleView& schedule, std::size_t bytes, double seconds,
                  llvm::StringRef name) {
  const unsigned phases = schedule.operations.empty() ? 0 : schedule.operations.back().phase + 1u;
  llvm::errs() << rowOf(schedule.collective).name << " on " << schedule.topology.shape() << ": "
               << schedule.topology.ranks() << " nodes, ";
  if (schedule.isOnGraph()) llvm::errs() << schedule.links.size() << " links, ";
  llvm::errs() << schedule.operations.size() << " operations, " << loopText(schedule)
               << schedule.streams.size() << " streams, " << phases << " phases, "
               << schedule.slot_count << " scratch slots; proved; " << bytes << " bytes"
               << (name.empty() ? "" : " in ") << name << "; " << llvm::format("%.3f", seconds)
               << " s\n";
}

llvm::Expected<std::string> readBytes(llvm::StringRef path) {
  if (path != "-") {
    StatusOr<std::vector<std::byte>> bytes = readFile(path.str());
    if (!bytes.ok()) return toError(bytes.status());
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getSTDIN();
  if (!buffer) {
    return llvm::createStringError(buffer.getError(), "<stdin>: " + buffer.getError().message());
  }
  return (*buffer)->getBuffer().str();
}

llvm::Expected<Input> readInput(llvm::StringRef path) {
  llvm::Expected<std::string> bytes = readBytes(path);
  if (!bytes) return bytes.takeError();
  const std::string origin = originOf(path);
  Input input;
  if (isScheduleFile(bytesOf(*bytes))) {
    input.kind = InputKind::kFile;
    StatusOr<LoadedSchedule> loaded = readSchedule(bytesOf(*bytes), origin);
    if (!loaded.ok()) return toError(loaded.status());
    input.file.emplace(std::move(*loaded));
    return input;
  }
  if (llvm::StringRef(*bytes).ltrim().starts_with("{")) {
    input.kind = InputKind::kJson;
    llvm::Expected<Schedule> schedule = ir::readJson(*bytes, origin);
    if (!schedule) return schedule.takeError();
    input.program.schedule = std::move(*schedule);
    return input;
  }
  if (llvm::StringRef(*bytes).ltrim().starts_with("<"))
    return makeError(origin + ": is XML: `torc import " + origin + "` makes a schedule file of it");
  llvm::Expected<ir::Program> program = ir::parseProgram(*bytes, origin, &input.operations);
  if (!program) return program.takeError();
  input.program = std::move(*program);
  input.text = std::move(*bytes);
  return input;
}

llvm::Expected<Input> readSteps(llvm::StringRef path, const llvm::Twine& why) {
  llvm::Expected<Input> input = readInput(path);
  if (!input || !input->isPlan()) return input;
  return makeError(path + ": is a plan; " + why +
                   " (torc opt --passes=" + llvm::StringRef(input->program.expander()) + ")");
}

std::string besideInput(llvm::StringRef input, llvm::StringRef extension) {
  llvm::SmallString<128> path(input);
  llvm::sys::path::replace_extension(path, extension);
  return path.str().str();
}

llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef bytes) {
  if (path != "-") return toError(writeFileAtomically(path.str(), bytesOf(bytes)));
  llvm::raw_fd_ostream& out = llvm::outs();
  out << bytes;
  out.flush();
  if (!out.has_error()) return llvm::Error::success();
  const std::error_code code = out.error();
  out.clear_error();
  if (code == std::errc::broken_pipe) return llvm::Error::success();  // its reader has had enough
  return llvm::createStringError(code, "cannot write to stdout: " + code.message());
}

int printOutput(llvm::StringRef text, int code) {
  orInputFault(writeOutput("-", text));
  return code;
}

}  // namespace torc::compiler
