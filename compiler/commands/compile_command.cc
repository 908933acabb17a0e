// torc compile COLLECTIVE --torus SHAPE: from a shape to a proved schedule in a file.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include "compiler/choice/choice.h"
#include "compiler/commands/commands.h"
#include "compiler/commands/compile_json.h"
#include "compiler/compile.h"
#include "compiler/compile_cache.h"
#include "compiler/program_name.h"
#include "compiler/progress_line.h"
#include "compiler/proved_file.h"
#include "compiler/target.h"
#include "compiler/view/page_data.h"
#include "compiler/view/schedule_page.h"
#include "ir/json/json.h"
#include "ir/make_error.h"
#include "ir/text/text.h"

namespace torc::compiler {
namespace compile_command {

using namespace options;

/// The names of all algorithms.
std::string algorithmWords() {
  std::string words;
  for (const Algorithm& algorithm : algorithms())
    words += (words.empty() ? "" : " ") + algorithm.name.str();
  return words;
}

int run();
Command command("compile", "compile a collective for a torus, prove it, write it", run,
                "torc compile allreduce --torus 8x8x8 --bytes 1M -o a.torc");
Text collective{command, kCollectiveRow};
Text algorithm_name{
    command,
    {kWhat, "algorithm", "NAME", "Algorithm; default: as chosen for --bytes", "", algorithmWords}};
Flag list_algorithms{command,
                     {kWhat, "list-algorithms", "", "List all algorithms and their collectives"}};
Flag explain{command, {kWhat, "explain", "", "Print the candidates of the choice and the reason"}};
Flag leaders{command,
             {kWhat, "leaders", "", "The first core of a node sends for all; =0: not tried"}};
Word directions{command,
                {kWhat, "directions", "bidirectional|half-latency|unidirectional",
                 "Directions of a link that carry data at a time", "bidirectional"}};
Text chunks{command,
            {kWhat, "chunks", "K", "Chunks of each part in sequence, to 4096, or auto", "1"}};
Integer segments{
    command,
    {kWhat, "segments", "S", "Segments of each part of ring plans, in a short file", "1"},
    1,
    passes::kMostSegmentsOfPart};
With with(command);
Text torus{command, kTorusRow};
Text order{command, kOrderRow};
Text machine{command, kMachineRow};
Text bytes{command,
           {kMachine, "bytes", "N", "Size of the vector: choose what is left open; 1M if all is"}};
Text scratch_limit{
    command,
    {kMachine, "scratch-limit", "N", "Choose only what takes no more scratch of a node, as 16M"}};
List dead_links{command, kDeadLinkRow};
List dead_nodes{command, kDeadNodeRow};
Text output{command,
            {kOutput, "output,o", "FILE", "File, or - for stdout; default: COLLECTIVE-SHAPE.torc"}};
Word emit{command,
          {kOutput, "emit", "torc|json|text|plan", "Form of the output; plan: before expand-rings",
           "torc"}};
Text view{command, {kOutput, "view", "FILE", "Write a page of it, its passes and candidates, too"}};
Flag json{command, {kOutput, "json", "", "Print JSON in the place of the summary"}};
Flag quiet{command, kQuietRow};
PassFlags pass_flags(command, /*verify_each=*/false);
Word weights{command,
             {kExperts, "weights", "equal|balanced|overlapped", "Shares of the colors", "equal"}};
Word cuts{command,
          {kExperts, "cuts", "lines|detours", "Rings with a dead link: lines, or detour around it",
           "lines"}};
Word dependences{command,
                 {kExperts, "dependences", "region|phase",
                  "Dependences: exact, or barriers between phases", "region"}};
Integer in_flight{
    command,
    {kExperts, "in-flight", "W", "Chunks on a link, or segments at a node, at a time; 0: all", "0"},
    0,
    passes::kMostInFlight};
Word segment_order{
    command, {kExperts, "segment-order", "chains|phases", "Order of segments on a link", "chains"}};
Word sends{command,
           {kExperts, "sends", "standard|synchronous",
            "Synchronous sends complete when they are received", "standard"}};
Word peers{
    command,
    {kExperts, "peers", "fixed|shuffled", "Order of the peers of an all-to-all", "shuffled"}};
Integer window{
    command,
    {kExperts, "window", "W", "Messages that a node sends at a time in an all-to-all; 0: all", "0"},
    0,
    kMaxWindow};

// For which everything is chosen that --view predicts, if nothing else is said.
constexpr std::uint64_t kDefaultBytes = 1 << 20;
// Work of such a choice: two seconds.
constexpr double kMostDefaultWork = 2e6;

/// Calls `visit` with each option of a pipeline, its field there, and the field that limits a
/// choice.
template <typename Visit>
void visitPipeline(Visit visit) {
  visit(weights, &PipelineOptions::weights, &ChoiceLimits::weights);
  visit(directions, &PipelineOptions::directions, &ChoiceLimits::directions);
  visit(chunks, &PipelineOptions::chunks, &ChoiceLimits::chunks);
  visit(dependences, &PipelineOptions::dependences, &ChoiceLimits::dependences);
  visit(in_flight, &PipelineOptions::in_flight, &ChoiceLimits::in_flight);
  visit(segments, &PipelineOptions::segments, &ChoiceLimits::segments);
  visit(segment_order, &PipelineOptions::segment_order, &ChoiceLimits::segment_order);
  visit(sends, &PipelineOptions::synchronous_sends, &ChoiceLimits::synchronous_sends);
  visit(peers, &PipelineOptions::peers, &ChoiceLimits::peers);
  visit(window, &PipelineOptions::window, &ChoiceLimits::window);
  visit(cuts, &PipelineOptions::cuts, &ChoiceLimits::cuts);
}

/// The choice, or the place among two words, that an option's word is.
template <typename Value>
void read(const Word& option, Value& value) {
  if constexpr (requires { words(value); }) {
    value = *passes::choiceOf<Value>(option.text());
  } else {
    value = static_cast<Value>(option.index());
  }
}
void read(const Integer& option, std::uint32_t& value) {
  value = static_cast<std::uint32_t>(option);
}

/// The settings of a compilation, as far as the command line gives them.
struct Request {
  CollectiveSpec spec;
  model::Machine machine;
  std::optional<std::uint64_t> bytes;  // choose for this size ...
  bool is_default = false;             // ... which nobody gave
  std::optional<std::uint64_t> scratch_bytes;
  const Algorithm* algorithm = nullptr;
  PipelineOptions pipeline;
  std::string chosen_for;      // the producer's text on the choice; empty: there was none
  std::string default_choice;  // the summary's text on a choice by default
};

/// Whether no option says which form is asked for, so that one is chosen.
bool isOpen() {
  bool is_open = algorithm_name.empty() && !leaders.isGiven() && emit != "plan";
  visitPipeline([&](const Option& option, auto, auto) { is_open &= !option.isGiven(); });
  return is_open;
}

/// The options that fix the algorithm and its pipeline.
void readPipeline(Request& request) {
  request.algorithm = algorithm_name.empty() ? &defaultAlgorithm(request.spec)
                                             : orUsageFault(findAlgorithm(algorithm_name));
  PipelineOptions& pipeline = request.pipeline;
  if (!machine.empty()) pipeline.auto_machine = machine;
  // With an axis of cores every core is a rank of its own.
  if (!request.spec.topology.hasCores())
    pipeline.cores = std::min(request.machine.cores, passes::kMostCores);
  if (request.bytes) pipeline.auto_bytes = *request.bytes;
  const bool in_segments = request.algorithm->inSegments();
  const std::uint32_t most = request.algorithm->cutsIntoSegments() ? passes::kMostSegmentsOfPart
                                                                   : passes::kMostChunksOfPart;
  visitPipeline([&](const auto& option, auto field, auto) {
    if constexpr (!std::is_same_v<decltype(option), const Text&>) read(option, pipeline.*field);
  });
  if (chunks == "auto") {
    pipeline.chunks =
        in_segments
            ? request.algorithm->pipeline(request.spec.topology)
                  .bestSegments(request.machine, static_cast<double>(pipeline.auto_bytes), most)
            : 0;
  } else if (llvm::StringRef(chunks).getAsInteger(10, pipeline.chunks) || pipeline.chunks < 1 ||
             pipeline.chunks > most) {
    wrongUsage("--chunks takes an integer from 1 to " + llvm::Twine(most) + ", not '" + chunks +
               "'");
  }
  if (pipeline.segments > 1 && request.algorithm->isSettled())
    wrongUsage("--segments: " + request.algorithm->name + " is no plan of rings");
  if (leaders) {
    const CollectiveRow& row = rowOf(request.spec.collective);
    if (!request.spec.topology.hasCores()) wrongUsage("--leaders: the nodes have no cores (8x8+4)");
    if (!passes::mayBeLed(row))
      wrongUsage("--leaders: " + llvm::StringRef(row.name) + " has no such form");
    pipeline.led_cores = coresOf(request.spec.topology);
  }
}

/// Warns of each given option on whose field no pass of the pipeline depends.
void warnOfIdle(const Request& request) {
  visitPipeline([&](const auto& option, auto field, auto) {
    PipelineOptions others = request.pipeline;
    others.*field = PipelineOptions().*field;
    const bool is_of_cuts = static_cast<const Option*>(&option) == &cuts;
    const bool is_idle = is_of_cuts ? request.spec.topology.dead_link_count == 0
                                    : pipelineOf(*request.algorithm, others) ==
                                          pipelineOf(*request.algorithm, request.pipeline);
    if (!option.isGiven() || others.*field == request.pipeline.*field || !is_idle) return;
    llvm::errs() << g_program << ": warning: " << option.shownName() << " changes nothing "
                 << (is_of_cuts ? "where no link is dead" : "of " + request.algorithm->name.str())
                 << '\n';
  });
}

/// Every algorithm with its description and the collectives that it serves.
void listAlgorithms(llvm::raw_ostream& out) {
  for (const Algorithm& algorithm : algorithms()) {
    out << algorithm.name << "\n    " << algorithm.description << "\n    serves ";
    llvm::ListSeparator separator;
    for (const CollectiveRow& row : collectiveRows()) {
      if (algorithm.serves(row)) out << separator << row.name;
    }
    out << '\n';
  }
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

Request readRequest() {
  Request request;
  if (collective.empty()) wrongUsage("compile: which collective? torc compile --help");
  request.spec.collective = orUsageFault(parseCollective(collective));
  Target target = orOptionFault(readTarget(torus, order, machine));
  orUsageFault(addDamage(target, dead_links, dead_nodes));
  request.spec.topology = target.topology;
  request.machine = std::move(target.machine);
  if (!bytes.empty()) {
    request.bytes = orUsageFault(parseSize(bytes, "--bytes"));
  } else if (isOpen()) {
    request.bytes = kDefaultBytes;
    request.is_default = true;
  } else if (explain) {
    wrongUsage("compile: --explain needs --bytes, the size to choose for");
  }
  if (!scratch_limit.empty()) {
    if (!request.bytes)
      wrongUsage("compile: --scratch-limit needs --bytes, the size to choose for");
    request.scratch_bytes = orUsageFault(parseSize(scratch_limit, "--scratch-limit"));
  }
  readPipeline(request);
  if (output.empty() && (!explain || !view.empty())) {
    const std::string name =
        (rowOf(request.spec.collective).name + llvm::Twine("-") + request.spec.topology.shape())
            .str();
    output = emit == "torc" ? name + ".torc" : "-";
  }
  if (!view.empty() && (isSameFile(view, output) || isSameFile(view, machine))) {
    wrongUsage("compile: --view would overwrite '" + (isSameFile(view, output) ? output : machine) +
               "'");
  }
  if (!view.empty() && emit == "plan") {
    wrongUsage("compile: --view shows step operations, which --emit plan has none of");
  }
  if (json && emit == "plan")
    wrongUsage("compile: --json tells of a schedule, which --emit plan is not");
  if (json && (output == "-" || view == "-"))
    wrongUsage("compile: --json goes to stdout; what else is written needs a name: -o FILE");
  return request;
}

/// The limits that the options set to a choice.
ChoiceLimits limitsOf(const Request& request) {
  ChoiceLimits limits;
  if (algorithm_name.isGiven()) limits.algorithm = request.algorithm;
  visitPipeline([&](const auto& option, auto field, auto limit) {
    if (option.isGiven()) limits.*limit = request.pipeline.*field;
  });
  if (request.pipeline.chunks == 0) limits.chunks.reset();
  if (request.scratch_bytes) limits.scratch_bytes = static_cast<double>(*request.scratch_bytes);
  if (leaders.isGiven()) limits.leaders = leaders;
  if (request.is_default) limits.most_work = kMostDefaultWork;
  return limits;
}

/// "chosen for 1M on generic: rectangular, 21 chunks; predicted 47.21 us".
std::string defaultChoiceText(const Choice& choice, const Request& request) {
  const std::string size = sizeText(kDefaultBytes);
  std::string text;
  if (request.chosen_for.empty()) {
    text = "not chosen for " + size + ", which would take long: " + request.algorithm->name.str() +
           " as it is";
  } else {
    text = "chosen for " + size + " on " + request.machine.name + ": " +
           choice.best().description() +
           formatted("; predicted %.2f us", 1e6 * choice.best().predicted_s);
  }
  return text + (choice.is_cut_short ? "; --bytes " + size + " tries more\n" : "\n");
}

/// Takes the best candidate that the options allow. With --explain, prints the candidates: as JSON
/// where no more output follows.
llvm::Error chooseFor(std::uint64_t size, Request& request, CompileCache& programs, Json& result,
                      Progress& progress) {
  const ChoiceLimits limits = limitsOf(request);
  const Choice choice =
      consider(programs, request.machine, static_cast<double>(size), limits, &progress);
  progress.clear();
  addChoice(result, choice, request.spec, request.machine, size, limits, explain);
  llvm::Error fault = checkPossible(choice, request.spec);
  if (!fault) {
    request.algorithm = choice.best().algorithm;
    request.pipeline = choice.best().options;
    request.chosen_for = chosenForText(size, machine);
    addAlgorithm(result, *request.algorithm, request.pipeline);
  }
  if (request.is_default) request.default_choice = defaultChoiceText(choice, request);
  if (request.is_default && !request.scratch_bytes && !explain)
    consumeError(std::exchange(fault, llvm::Error::success()));
  for (const Candidate& candidate : choice.candidates) {
    if (fault || explain || json || quiet) break;
    if (candidate.refusal.empty() || candidate.predicted_s == 0 ||
        candidate.predicted_s > choice.best().predicted_s)
      continue;
    llvm::errs() << g_program << ": note: not possible, though predicted to be faster: "
                 << candidate.description() << ": " << candidate.refusal << '\n';
  }
  if (!explain) return fault;
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!json) printChoice(choice, request.spec, request.machine, size, limits, out);
  if (json && (fault || output.empty())) out << jsonText(result);
  if (llvm::Error error = writeOutput("-", text)) {
    consumeError(std::move(fault));
    return error;
  }
  return fault;
}

/// The form of `program`, which is proved in `file`, that `emit` asks for.
std::string formOf(const ir::Program& program, const ProvedFile& file) {
  if (emit == "json") return ir::writeJson(file.schedule.view()) + '\n';
  if (emit == "text") return ir::programText(program);
  return file.text().str();
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
  if (list_algorithms) return printReport({}, {}, listAlgorithms);
  Progress progress(quiet);
  Request request = readRequest();
  if (algorithm_name.empty() && !explain && !isServed(request.spec)) {
    return inputFault(noAlgorithm(request.spec));
  }

  Json result = compileResult(request.spec, request.machine);
  CompileCache programs(request.spec);
  if (request.bytes && request.algorithm->lower != nullptr) {
    orInputFault(chooseFor(*request.bytes, request, programs, result, progress));
    if (explain && output.empty()) return kSuccess;
  }
  if (!quiet) warnOfIdle(request);
  const bool only_plan = emit == "plan";
  if (only_plan && request.algorithm->form == PlanForm::kSteps) {
    wrongUsage(request.algorithm->name.str() + " makes steps, there is no plan to emit");
  }
  const passes::PassPipeline pipeline = only_plan
                                            ? planPipeline(*request.algorithm, request.pipeline)
                                            : pipelineOf(*request.algorithm, request.pipeline);
  const auto shown = [&](llvm::StringRef what, auto step) {
    progress.begin((what + " " + request.algorithm->name).str());
    auto made = step();
    progress.clear();
    return orInputFault(std::move(made));
  };
  const auto compiled =
      shown("compiling", [&] { return compileRequested(request, pipeline, programs); });
  if (only_plan) {
    orInputFault(writeOutput(output, ir::programText(*compiled)));
    return kSuccess;
  }
  ir::Program rolled =
      shown("rolling loops of", [&] { return rollLoops(*compiled, pass_flags.options()); });
  rolled.schedule.producer += request.chosen_for;
  const ir::Program& program = rolled;
  const ProvedFile file = shown("proving", [&] { return provedFile(program.schedule.view()); });
  const std::string form = formOf(program, file);
  const bool was_there = llvm::sys::fs::exists(output);
  orInputFault(writeOutput(output, form));
  if (json) {
    addAlgorithm(result, *request.algorithm, request.pipeline);
    addFile(result, program.schedule.view(), output, emit, form);
    orInputFault(writeOutput("-", jsonText(result)));
  } else if (!quiet) {
    const bool is_named = output.isGiven() || output == "-";
    printSummary(program.schedule.view(), form.size(), progress.elapsedSeconds(),
                 is_named ? "" : output + (was_there ? ", overwritten" : ""));
    llvm::errs() << request.default_choice;
  }
  if (view.empty()) return kSuccess;
  const std::string page = orInputFault(compiledPage(
      output, std::move(rolled), request.machine, request.bytes.value_or(kDefaultBytes), progress));
  orInputFault(writeOutput(view, page));
  return kSuccess;
}

}  // namespace compile_command

options::Command& kCompileCommand = compile_command::command;

}  // namespace torc::compiler
