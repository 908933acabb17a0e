// torc compile COLLECTIVE --torus SHAPE: from a shape to a proved schedule in a file.
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/Path.h>

#include "compiler/choice/choice.h"
#include "compiler/commands/commands.h"
#include "compiler/commands/compile_json.h"
#include "compiler/compile.h"
#include "compiler/compile_cache.h"
#include "compiler/program_name.h"
#include "compiler/progress.h"
#include "compiler/proved_file.h"
#include "compiler/sizes.h"
#include "compiler/target.h"
#include "compiler/tool.h"
#include "compiler/view/choice_data.h"
#include "compiler/view/schedule_page.h"
#include "ir/json/json.h"
#include "ir/make_error.h"
#include "ir/text/text.h"

namespace torc::compiler {
namespace compile_command {

using namespace llvm::cl;

SubCommand command("compile", "Compile a collective for a torus, prove it, write it");
OptionCategory category("Options of compile");

opt<std::string> collective(Positional, desc("COLLECTIVE"), sub(command), cat(category));
opt<std::string> torus("torus", value_desc("shape"), sub(command), cat(category),
                       desc("Shape, as 8x8x8; 8x8x4m: Z is a mesh; 8x8x8+4: 4 cores a node"));
opt<std::string> order("order", value_desc("axes"), sub(command), cat(category),
                       desc("Order of ranks, fastest axis first (default XYZ...T)"));
opt<std::string> machine("machine", value_desc("name"), sub(command), cat(category),
                         desc("A preset (torc machines) or a file; --torus is a partition of it"));
opt<std::string> bytes(
    "bytes", value_desc("N"), sub(command), cat(category),
    desc("Size of the whole vector, as 64K: options that are not given are chosen "
         "for it, by simulation on the machine"));
opt<std::string> scratch_limit(
    "scratch-limit", value_desc("size"), sub(command), cat(category),
    desc("With --bytes: the most scratch of a node, as 16M; what needs more is not "
         "chosen, or goes in segments"));
opt<bool> explain("explain", sub(command), cat(category),
                  desc("With --bytes: print what there was to choose from, and why"));
list<std::string> dead_links("dead-link", value_desc("x,y,z:axis"), sub(command), cat(category),
                             desc("A cable that is out of order, from a node one step up an axis, "
                                  "as 0,0,1:Z; may be repeated"));
list<std::string> dead_nodes("dead-node", value_desc("x,y,z"), sub(command), cat(category),
                             desc("A node that is out of order, as 1,2,3; may be repeated"));
opt<std::string> algorithm_name(
    "algorithm", value_desc("name"), sub(command), cat(category),
    desc("One of --list-algorithms; default: the first of them that serves the "
         "collective and suits the torus"));
opt<bool> list_algorithms("list-algorithms", sub(command), cat(category),
                          desc("Name all algorithms and the collectives that they serve"));
opt<std::string> weights(
    "weights", value_desc("name"), init("equal"), sub(command), cat(category),
    desc("Shares of the colors: equal (default), balanced, or overlapped (of an "
         "allreduce both of whose halves are on a line at a time)"));
opt<std::string> directions(
    "directions", value_desc("model"), init("bidirectional"), sub(command), cat(category),
    desc("What a link carries at a time: bidirectional (default: a message "
         "each way), half-latency (the same, whole blocks both ways in half "
         "the steps) or unidirectional"));
opt<std::string> chunks("chunks", value_desc("K"), init("1"), sub(command), cat(category),
                        desc("Chunks of each part that follow each other, 1 (default) to 4096, or "
                             "auto: as many as the cost model takes"));
opt<std::string> dependences("dependences", value_desc("kind"), init("region"), sub(command),
                             cat(category),
                             desc("region (default: exact, phases overlap) or phase (barriers)"));
opt<std::string> in_flight(
    "in-flight", value_desc("W"), init("0"), sub(command), cat(category),
    desc("Chunks that share a link at a time, earlier ones first, 1 to 64; 0 "
         "(default): all; or segments under way at a node, 4 by default"));
opt<std::string> segments(
    "segments", value_desc("S"), init("1"), sub(command), cat(category),
    desc("Of plans of rings: segments of each part, for which the program is run one behind the "
         "other, 1 (default) to 65536: as many chunks in a short file"));
opt<std::string> cuts("cuts", value_desc("form"), init("lines"), sub(command), cat(category),
                      desc("Of rings that dead links cut at one coordinate: lines (default), or "
                           "detours: they stay rings, whose messages go round the dead link"));
opt<std::string> segment_order(
    "segment-order", value_desc("order"), init("chains"), sub(command), cat(category),
    desc("Of segments on a link: chains (default), or phases: a phase goes behind the next one of "
         "the segment before"));
opt<std::string> sends(
    "sends", value_desc("mode"), init("standard"), sub(command), cat(category),
    desc("standard (default), or synchronous: a send that something waits for is complete when its "
         "message is received, so that no two share a link whose order is settled"));
opt<std::string> peers("peers", value_desc("order"), init("shuffled"), sub(command), cat(category),
                       desc("Of an all-to-all's exchanges: in which order a node goes through its "
                            "peers, shuffled (default) or fixed"));
opt<std::string> window(
    "window", value_desc("W"), init("0"), sub(command), cat(category),
    desc("Of an all-to-all's exchanges: messages that a node sends at a time, 1 "
         "to 65535; 0 (default): all"));
opt<bool> leaders(
    "leaders", sub(command), cat(category),
    desc("Where nodes have cores: the first of a node executes the steps for all of "
         "them, so that nodes send the fewest messages; with --bytes, =0: not tried"));
opt<std::string> emit("emit", value_desc("form"), init("torc"), sub(command), cat(category),
                      desc("torc (default: the file), json, text, or plan (before expand-rings)"));
opt<std::string> output("o", value_desc("file"), sub(command), cat(category),
                        desc("Where to write, COLLECTIVE-SHAPE.torc by default; - is stdout"));
opt<std::string> view(
    "view", value_desc("file"), sub(command), cat(category),
    desc("Show it, its passes and what there was to choose from, in this page, too"));
opt<bool> quiet("quiet", sub(command), cat(category), desc("No summary on stderr"));
opt<bool> json(
    "json", sub(command), cat(category),
    desc("Print what was chosen and written, with --explain what else there was, as JSON "
         "in the place of the summary"));
PassFlags pass_flags(command, category, /*verify_each=*/false);

// What --view predicts without --bytes.
constexpr std::uint64_t kViewedBytes = 1 << 20;

/// A fault unless the option is one of `words`.
llvm::Error checkWord(const opt<std::string>& option, llvm::ArrayRef<llvm::StringRef> words) {
  if (llvm::is_contained(words, option.getValue())) return llvm::Error::success();
  return makeError("--" + option.ArgStr + " takes " + llvm::join(words, " or ") + ", not '" +
                   option.getValue() + "'");
}

/// The choice that the option's word is.
template <typename Value>
llvm::Error readChoice(const opt<std::string>& option, Value& value) {
  const std::optional<Value> read = passes::choiceOf<Value>(option.getValue());
  if (!read) return checkWord(option, words(value));
  value = *read;
  return llvm::Error::success();
}

/// The integer from `low` to `high` that the option's text is.
llvm::Error readInteger(const opt<std::string>& option, std::uint32_t low, std::uint32_t high,
                        std::uint32_t& value) {
  if (!llvm::StringRef(option).getAsInteger(10, value) && low <= value && value <= high) {
    return llvm::Error::success();
  }
  return makeError("--" + option.ArgStr + " takes an integer from " + llvm::Twine(low) + " to " +
                   llvm::Twine(high) + ", not '" + option.getValue() + "'");
}

/// What is to be done, as far as the command line says.
struct Request {
  CollectiveSpec spec;
  model::Machine machine;
  std::optional<std::uint64_t> bytes;  // choose for this size
  std::optional<std::uint64_t> scratch_bytes;
  const Algorithm* algorithm = nullptr;
  PipelineOptions pipeline;
};

/// The options that fix the algorithm and its pipeline.
llvm::Error readPipeline(Request& request) {
  request.algorithm = &defaultAlgorithm(request.spec);
  if (!algorithm_name.empty()) {
    llvm::Expected<const Algorithm*> algorithm = findAlgorithm(algorithm_name);
    if (!algorithm) return algorithm.takeError();
    request.algorithm = *algorithm;
  }
  PipelineOptions& pipeline = request.pipeline;
  if (!machine.empty()) pipeline.auto_machine = machine;
  // With an axis of cores every core is a rank of its own.
  if (!request.spec.topology.hasCores())
    pipeline.cores = std::min(request.machine.cores, passes::kMostCores);
  if (request.bytes) pipeline.auto_bytes = *request.bytes;
  const bool in_segments = request.algorithm->inSegments();
  const std::uint32_t most = request.algorithm->cutsIntoSegments() ? passes::kMostSegmentsOfPart
                                                                   : passes::kMostChunksOfPart;
  if (chunks == "auto" && in_segments) {
    pipeline.chunks =
        request.algorithm->pipeline(request.spec.topology)
            .bestSegments(request.machine, static_cast<double>(pipeline.auto_bytes), most);
  } else if (chunks == "auto") {
    pipeline.chunks = 0;
  } else if (llvm::Error error = readInteger(chunks, 1, most, pipeline.chunks)) {
    return error;
  }
  if (llvm::Error error = readInteger(in_flight, 0, passes::kMostInFlight, pipeline.in_flight))
    return error;
  if (llvm::Error error = readInteger(segments, 1, passes::kMostSegmentsOfPart, pipeline.segments))
    return error;
  if (pipeline.segments > 1 && request.algorithm->isSettled())
    return makeError("--segments: " + request.algorithm->name + " is no plan of rings");
  if (llvm::Error error = checkWord(segment_order, {"chains", "phases"})) return error;
  if (segment_order == "phases") pipeline.segment_order = passes::SegmentOrder::kPhases;
  if (llvm::Error error = checkWord(cuts, {"lines", "detours"})) return error;
  if (cuts == "detours") pipeline.cuts = CutRings::kDetours;
  if (llvm::Error error = checkWord(sends, {"standard", "synchronous"})) return error;
  pipeline.synchronous_sends = sends == "synchronous";
  if (llvm::Error error = readChoice(peers, pipeline.peers)) return error;
  if (llvm::Error error = readInteger(window, 0, kMaxWindow, pipeline.window)) return error;
  if (leaders) {
    const CollectiveRow& row = rowOf(request.spec.collective);
    if (!request.spec.topology.hasCores())
      return makeError("--leaders: the nodes have no cores (8x8+4)");
    if (!passes::mayBeLed(row))
      return makeError("--leaders: " + llvm::StringRef(row.name) + " has no such form");
    pipeline.led_cores = coresOf(request.spec.topology);
  }
  if (llvm::Error error = readChoice(weights, pipeline.weights)) return error;
  if (llvm::Error error = readChoice(directions, pipeline.directions)) return error;
  return readChoice(dependences, pipeline.dependences);
}

/// Tells of `option`, which is given, where nothing of the pipeline depends on its field.
template <auto Field>
void warnIfIdle(const Option& option, const Request& request) {
  PipelineOptions others = request.pipeline;
  others.*Field = PipelineOptions().*Field;
  if (option.getNumOccurrences() == 0 || others.*Field == request.pipeline.*Field ||
      pipelineOf(*request.algorithm, others) != pipelineOf(*request.algorithm, request.pipeline)) {
    return;
  }
  llvm::errs() << g_program << ": warning: --" << option.ArgStr << " changes nothing of "
               << request.algorithm->name << '\n';
}

/// Tells of options that are given and change nothing.
void warnOfIdle(const Request& request) {
  warnIfIdle<&PipelineOptions::weights>(weights, request);
  warnIfIdle<&PipelineOptions::directions>(directions, request);
  warnIfIdle<&PipelineOptions::chunks>(chunks, request);
  warnIfIdle<&PipelineOptions::dependences>(dependences, request);
  warnIfIdle<&PipelineOptions::in_flight>(in_flight, request);
  warnIfIdle<&PipelineOptions::segments>(segments, request);
  warnIfIdle<&PipelineOptions::segment_order>(segment_order, request);
  warnIfIdle<&PipelineOptions::peers>(peers, request);
  warnIfIdle<&PipelineOptions::window>(window, request);
  if (request.pipeline.cuts == CutRings::kDetours && request.spec.topology.dead_link_count == 0)
    llvm::errs() << g_program << ": warning: --cuts changes nothing where no link is dead\n";
}

/// Every algorithm with what it does, and whom it serves.
std::string algorithmList() {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Algorithm& algorithm : algorithms()) {
    out << algorithm.name << "\n    " << algorithm.description << "\n    serves ";
    llvm::ListSeparator separator;
    for (const CollectiveRow& row : collectiveRows()) {
      if (algorithm.serves(row)) out << separator << row.name;
    }
    out << '\n';
  }
  return text;
}

/// Whether both name one file, which may not be there yet.
bool isSameFile(llvm::StringRef a, llvm::StringRef b) {
  const auto whole = [](llvm::StringRef path) {
    llvm::SmallString<128> absolute(path);
    static_cast<void>(llvm::sys::fs::make_absolute(absolute));
    llvm::sys::path::remove_dots(absolute, true);
    return absolute;
  };
  return !a.empty() && !b.empty() && (llvm::sys::fs::equivalent(a, b) || whole(a) == whole(b));
}

llvm::Expected<Request> readRequest() {
  Request request;
  if (collective.empty()) return makeError("compile: which collective? torc compile --help");
  llvm::Expected<Collective> parsed = parseCollective(collective);
  if (!parsed) return parsed.takeError();
  request.spec.collective = *parsed;
  llvm::Expected<Target> target = readTarget(torus, order, machine);
  if (!target) return target.takeError();
  if (llvm::Error error = addDamage(*target, dead_links, dead_nodes)) return error;
  request.spec.topology = target->topology;
  request.machine = std::move(target->machine);
  if (!bytes.empty()) {
    llvm::Expected<std::uint64_t> size = parseSize(bytes, "--bytes");
    if (!size) return size.takeError();
    request.bytes = *size;
  } else if (explain) {
    return makeError("compile: --explain needs --bytes, the size to choose for");
  }
  if (!scratch_limit.empty()) {
    if (!request.bytes)
      return makeError("compile: --scratch-limit needs --bytes, the size to choose for");
    llvm::Expected<std::uint64_t> size = parseSize(scratch_limit, "--scratch-limit");
    if (!size) return size.takeError();
    request.scratch_bytes = *size;
  }
  if (llvm::Error error = readPipeline(request)) return error;
  if (llvm::Error error = checkWord(emit, {"torc", "json", "text", "plan"})) return error;
  if (output.empty() && (!explain || !view.empty())) {
    const std::string name =
        (rowOf(*parsed).name + llvm::Twine("-") + request.spec.topology.shape()).str();
    output = emit == "torc" ? name + ".torc" : "-";
  }
  if (!view.empty() && (isSameFile(view, output) || isSameFile(view, machine))) {
    return makeError("compile: --view would overwrite '" +
                     (isSameFile(view, output) ? output : machine) + "'");
  }
  if (!view.empty() && emit == "plan") {
    return makeError("compile: --view shows step operations, which --emit plan has none of");
  }
  if (json && emit == "plan")
    return makeError("compile: --json tells of a schedule, which --emit plan is not");
  if (json && (output == "-" || view == "-"))
    return makeError("compile: --json goes to stdout; what else is written needs a name: -o FILE");
  return request;
}

/// What the options settle.
ChoiceLimits limitsOf(const Request& request) {
  ChoiceLimits limits;
  if (algorithm_name.getNumOccurrences() > 0) limits.algorithm = request.algorithm;
  if (weights.getNumOccurrences() > 0) limits.weights = request.pipeline.weights;
  if (directions.getNumOccurrences() > 0) limits.directions = request.pipeline.directions;
  if (dependences.getNumOccurrences() > 0) limits.dependences = request.pipeline.dependences;
  if (request.pipeline.chunks > 0 && chunks.getNumOccurrences() > 0) {
    limits.chunks = request.pipeline.chunks;
  }
  if (request.scratch_bytes) limits.scratch_bytes = static_cast<double>(*request.scratch_bytes);
  if (in_flight.getNumOccurrences() > 0) limits.in_flight = request.pipeline.in_flight;
  if (segments.getNumOccurrences() > 0) limits.segments = request.pipeline.segments;
  if (segment_order.getNumOccurrences() > 0) limits.segment_order = request.pipeline.segment_order;
  if (cuts.getNumOccurrences() > 0) limits.cuts = request.pipeline.cuts;
  if (sends.getNumOccurrences() > 0) limits.synchronous_sends = request.pipeline.synchronous_sends;
  if (peers.getNumOccurrences() > 0) limits.peers = request.pipeline.peers;
  if (window.getNumOccurrences() > 0) limits.window = request.pipeline.window;
  if (leaders.getNumOccurrences() > 0) limits.leaders = leaders;
  return limits;
}

/// Takes the best of what the options leave open, and prints what there was, if that is asked for:
/// as JSON where nothing more is to come.
llvm::Error chooseFor(std::uint64_t size, Request& request, CompileCache& programs,
                      CompileResult& result, Progress& progress) {
  const ChoiceLimits limits = limitsOf(request);
  const Choice choice =
      consider(programs, request.machine, static_cast<double>(size), limits, &progress);
  progress.clear();
  result.addChoice(choice, request.spec, request.machine, size, limits, explain);
  llvm::Error fault = checkPossible(choice, request.spec);
  if (!fault) {
    request.algorithm = choice.best().algorithm;
    request.pipeline = choice.best().options;
    result.addAlgorithm(*request.algorithm, request.pipeline);
  }
  if (!explain) return fault;
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!json) printChoice(choice, request.spec, request.machine, size, limits, out);
  if (json && (fault || output.empty())) out << result.text();
  if (llvm::Error error = writeOutput("-", text)) {
    consumeError(std::move(fault));
    return error;
  }
  return fault;
}

/// The form of `program`, which is proved in `file`, that `emit` asks for.
std::string formOf(const ir::Program& program, const ProvedFile& file) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (emit == "json") {
    out << ir::writeJson(file.schedule.view()) << '\n';
  } else if (emit == "text") {
    ir::printProgram(program, out);
  } else {
    text.assign(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  }
  return text;
}

/// The program of `pipeline`: the one that was compiled to choose it, unless the passes are to be
/// looked at.
llvm::Expected<std::shared_ptr<const ir::Program>> compileRequested(
    const Request& request, const passes::PassPipeline& pipeline, CompileCache& programs) {
  if (!pass_flags.areGiven()) return programs.get(*request.algorithm, pipeline);
  llvm::Expected<ir::Program> program =
      compile(request.spec, *request.algorithm, pipeline, pass_flags.options());
  if (!program) return program.takeError();
  return std::make_shared<const ir::Program>(std::move(*program));
}

int run() {
  if (list_algorithms) return printOutput(algorithmList());
  const auto start = std::chrono::steady_clock::now();
  llvm::Expected<Request> request = readRequest();
  if (!request) return optionFault(request.takeError());
  if (algorithm_name.empty() && !explain && !isServed(request->spec)) {
    return inputFault(noAlgorithm(request->spec));
  }

  CompileResult result(request->spec, request->machine);
  Progress progress(quiet);
  CompileCache programs(request->spec);
  if (request->bytes && request->algorithm->plan != nullptr) {
    if (llvm::Error error = chooseFor(*request->bytes, *request, programs, result, progress)) {
      return inputFault(std::move(error));
    }
    if (explain && output.empty()) return kSuccess;
  }
  if (!quiet) warnOfIdle(*request);
  const bool only_plan = emit == "plan";
  if (only_plan && request->algorithm->form == PlanForm::kSteps) {
    return wrongUsage(request->algorithm->name.str() + " makes steps, there is no plan to emit");
  }
  const passes::PassPipeline pipeline = only_plan
                                            ? planPipeline(*request->algorithm, request->pipeline)
                                            : pipelineOf(*request->algorithm, request->pipeline);
  progress.begin("compiling " + request->algorithm->name.str());
  llvm::Expected<std::shared_ptr<const ir::Program>> compiled =
      compileRequested(*request, pipeline, programs);
  progress.clear();
  if (!compiled) return inputFault(compiled.takeError());
  if (only_plan) {
    std::string text;
    llvm::raw_string_ostream out(text);
    ir::printProgram(**compiled, out);
    if (llvm::Error error = writeOutput(output, text)) return inputFault(std::move(error));
    return kSuccess;
  }
  progress.begin("rolling loops of " + request->algorithm->name.str());
  llvm::Expected<ir::Program> rolled = rollLoops(**compiled, pass_flags.options());
  progress.clear();
  if (!rolled) return inputFault(rolled.takeError());
  const ir::Program& program = *rolled;
  progress.begin("proving " + request->algorithm->name.str());
  llvm::Expected<ProvedFile> file = provedFile(program.schedule.view());
  progress.clear();
  if (!file) return inputFault(file.takeError());
  const std::string form = formOf(program, *file);
  const bool was_there = llvm::sys::fs::exists(output);
  if (llvm::Error error = writeOutput(output, form)) return inputFault(std::move(error));
  if (json) {
    result.addAlgorithm(*request->algorithm, request->pipeline);
    result.addFile(program.schedule.view(), output, emit, form);
    if (llvm::Error error = writeOutput("-", result.text())) return inputFault(std::move(error));
  } else if (!quiet) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const bool is_named = output.getNumOccurrences() > 0 || output == "-";
    printSummary(program.schedule.view(), form.size(), elapsed.count(),
                 is_named ? "" : output + (was_there ? ", overwritten" : ""));
  }
  if (view.empty()) return kSuccess;
  llvm::Expected<std::string> page = compiledPage(output, std::move(*rolled), request->machine,
                                                  request->bytes.value_or(kViewedBytes), progress);
  if (!page) return inputFault(page.takeError());
  if (llvm::Error error = writeOutput(view, *page)) return inputFault(std::move(error));
  return kSuccess;
}

}  // namespace compile_command

Command compileCommand() {
  return {&compile_command::command, &compile_command::category, compile_command::run};
}

}  // namespace torc::compiler
