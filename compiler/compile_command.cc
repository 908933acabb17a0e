// torc compile COLLECTIVE --torus SHAPE: from a shape to a proved schedule in a file.
#include <chrono>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>

#include "compiler/commands.h"
#include "compiler/compile.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "ir/json.h"
#include "ir/text.h"
#include "ir/verifier.h"

namespace torc {
namespace {

using namespace llvm::cl;

SubCommand command("compile", "Compile a collective for a torus, prove it, write it");
OptionCategory category("Options of compile");

opt<std::string> collective(Positional, desc("COLLECTIVE"), sub(command), cat(category));
opt<std::string> torus("torus", value_desc("shape"), sub(command), cat(category),
                       desc("Shape, as 8x8x8; 8x8x4m: Z is a mesh; 8x8x8+4: 4 cores a node"));
opt<std::string> order("order", value_desc("axes"), sub(command), cat(category),
                       desc("Order of ranks, fastest axis first (default XYZ...T)"));
opt<std::string> machine("machine", value_desc("name"), sub(command), cat(category),
                         desc("A preset (torc machines) or a JSON file; --torus is a part of it"));
opt<std::string> algorithm_name("algorithm", value_desc("name"), init("bucket"), sub(command),
                                cat(category), desc("bucket (default) or bucket-1d"));
opt<std::string> weights("weights", value_desc("name"), init("equal"), sub(command), cat(category),
                         desc("Shares of the colors: equal (default) or balanced"));
opt<std::string> directions("directions", value_desc("model"), init("bidirectional"), sub(command),
                            cat(category),
                            desc("What a link carries at a time: bidirectional (default: a message "
                                 "each way) or unidirectional"));
opt<std::string> chunks("chunks", value_desc("K"), init("1"), sub(command), cat(category),
                        desc("Chunks of each part that follow each other, 1 (default) to 4096"));
opt<std::string> dependences("dependences", value_desc("kind"), init("region"), sub(command),
                             cat(category),
                             desc("region (default: exact, phases overlap) or phase (barriers)"));
opt<std::string> in_flight(
    "in-flight", value_desc("W"), init("0"), sub(command), cat(category),
    desc("Chunks that share a link at a time, earlier ones first, 1 to 64; 0 "
         "(default): all"));
opt<std::string> emit("emit", value_desc("form"), init("torc"), sub(command), cat(category),
                      desc("torc (default: the file), json, text, or plan (before expand-rings)"));
opt<std::string> output("o", value_desc("file"), sub(command), cat(category),
                        desc("Where to write; - is stdout"));
opt<bool> quiet("quiet", sub(command), cat(category), desc("No summary on stderr"));
PassFlags pass_flags(command, category, /*verify_each=*/false);

/// A fault unless `value` is one of `words`.
llvm::Error checkWord(const opt<std::string>& option, llvm::ArrayRef<llvm::StringRef> words) {
  if (llvm::is_contained(words, option.getValue())) return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "--" + option.ArgStr + " takes " + llvm::join(words, " or ") +
                                     ", not '" + option.getValue() + "'");
}

/// The integer from `low` to `high` that the option's text is.
llvm::Error readInteger(const opt<std::string>& option, std::uint32_t low, std::uint32_t high,
                        std::uint32_t& value) {
  if (!llvm::StringRef(option).getAsInteger(10, value) && low <= value && value <= high) {
    return llvm::Error::success();
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "--" + option.ArgStr + " takes an integer from " +
                                     llvm::Twine(low) + " to " + llvm::Twine(high) + ", not '" +
                                     option.getValue() + "'");
}

/// What is to be done, as far as the command line says.
struct Request {
  CollectiveSpec spec;
  const Algorithm* algorithm = nullptr;
  PipelineOptions pipeline;
};

llvm::Expected<Request> readRequest() {
  auto fault = [](const llvm::Twine& message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  Request request;
  if (collective.empty()) return fault("compile: which collective? torc compile --help");
  llvm::Expected<Collective> parsed = parseCollective(collective);
  if (!parsed) return parsed.takeError();
  request.spec.collective = *parsed;
  llvm::Expected<Target> target = readTarget(torus, order, machine);
  if (!target) return target.takeError();
  request.spec.topology = target->topology;
  llvm::Expected<const Algorithm*> algorithm = findAlgorithm(algorithm_name);
  if (!algorithm) return algorithm.takeError();
  request.algorithm = *algorithm;
  request.pipeline = {weights, directions, 1, dependences};
  PipelineOptions& pipeline = request.pipeline;
  if (llvm::Error error = readInteger(chunks, 1, 4096, pipeline.chunks)) return error;
  if (llvm::Error error = readInteger(in_flight, 0, 64, pipeline.in_flight)) return error;
  if (llvm::Error error = checkWord(weights, {"equal", "balanced"})) return error;
  if (llvm::Error error = checkWord(directions, {"bidirectional", "unidirectional"})) return error;
  if (llvm::Error error = checkWord(dependences, {"region", "phase"})) return error;
  if (llvm::Error error = checkWord(emit, {"torc", "json", "text", "plan"})) return error;
  if (output.empty()) {
    if (emit == "torc") return fault("compile: which file? -o FILE");
    output = "-";
  }
  return request;
}

/// Proves `schedule` and returns its form as `emit` asks for. Of a file it is the bytes themselves
/// that are read back and proved.
llvm::Expected<std::string> proveAndEmit(const Program& program, VerifyResult& proof) {
  const ScheduleView schedule = program.schedule.view();
  const std::vector<std::byte> bytes = writeSchedule(schedule);
  StatusOr<LoadedSchedule> loaded = readSchedule(bytes, "compiled schedule");
  if (!loaded.ok()) return toError(loaded.status());
  proof = verify(loaded->view());
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!proof.ok()) {
    out << "the schedule is not proved, nothing is written\n";
    printFaults(schedule, proof, out);
    return llvm::createStringError(llvm::inconvertibleErrorCode(), llvm::StringRef(text).rtrim());
  }
  if (emit == "json") {
    out << writeJson(loaded->view()) << '\n';
  } else if (emit == "text") {
    printProgram(program, out);
  } else {
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

void printSummary(const ScheduleView& schedule, std::size_t bytes, double seconds) {
  const unsigned phases = schedule.operations.empty() ? 0 : schedule.operations.back().phase + 1u;
  llvm::errs() << traits(schedule.collective).name << " on " << schedule.topology.shape() << ": "
               << schedule.topology.ranks() << " nodes, " << schedule.operations.size()
               << " operations, " << schedule.streams.size() << " streams, " << phases
               << " phases, " << schedule.slot_count << " scratch slots; proved; " << bytes
               << " bytes; " << llvm::format("%.3f", seconds) << " s\n";
}

int run() {
  const auto start = std::chrono::steady_clock::now();
  llvm::Expected<Request> request = readRequest();
  if (!request) return optionFault(request.takeError());

  std::string pipeline = planPipeline(*request->algorithm, request->pipeline);
  if (emit != "plan") pipeline += "," + stepPipeline(request->pipeline);
  llvm::Expected<Program> program =
      compile(request->spec, *request->algorithm, pipeline, pass_flags.options());
  if (!program) return inputFault(program.takeError());

  if (emit == "plan") {
    std::string text;
    llvm::raw_string_ostream out(text);
    printProgram(*program, out);
    if (llvm::Error error = writeOutput(output, text)) return inputFault(std::move(error));
    return kSuccess;
  }
  VerifyResult proof;
  llvm::Expected<std::string> bytes = proveAndEmit(*program, proof);
  if (!bytes) return inputFault(bytes.takeError());
  if (llvm::Error error = writeOutput(output, *bytes)) return inputFault(std::move(error));
  if (!quiet) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    printSummary(program->schedule.view(), bytes->size(), elapsed.count());
  }
  return kSuccess;
}

}  // namespace

Command compileCommand() {
  return {&command, &category, run};
}

}  // namespace torc
