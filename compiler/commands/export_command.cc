// torc export FILE: a schedule for one size in another tool's format, rank by rank.
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/Signals.h>

#include "compiler/commands/commands.h"
#include "compiler/sizes.h"
#include "ir/exchange/writers/call_writers.h"
#include "ir/exchange/writers/exported_call.h"
#include "ir/exchange/writers/msccl_writer.h"
#include "ir/make_error.h"
#include "ir/verifier/verifier.h"
#include "model/machines/machine.h"

namespace torc::compiler {
namespace export_command {

using namespace options;

int run();
Command command("export", "write a schedule in the format of another tool", run,
                "torc export a.torc --format msccl -o a.xml");
Text input{command, kFileRow};
Word format{command,
            {kWhat, "format", "goal|chakra|msccl", "LogGOPSim, ASTRA-sim, or XML of MSCCL"}};
Integer root{command, {kWhat, "root", "R", "The rank that is the root", "0"}, 0, kHighestRank};
Text bytes{command,
           {kMachine, "bytes", "N", "Size of the vector (default 1M); msccl: range (all)"}};
Text machine{command,
             {kMachine, "machine", "NAME",
              "Preset or file that times sums and copies; default: none", "", machineWords}};
Text output{command,
            {kOutput, "output,o", "FILE", "File, or - for stdout; chakra: prefix of names"}};
Flag quiet{command, kQuietRow};

constexpr std::uint64_t kElementBytes = 4;  // like torc simulate --per-rank
/// Limit of files with ranks.
constexpr std::int32_t kMostFiles = 1 << 16;

/// Whether the program ignores some terminating signal, as under nohup. LLVM does not check this,
/// and would remove files nevertheless.
bool ignoresSignals() {
  return llvm::any_of(std::initializer_list<int>{SIGHUP, SIGINT, SIGTERM}, [](int signal) {
    struct sigaction now {};
    return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
  });
}

/// A file, or stdout, written piece by piece. A file that has not reached its final place is
/// removed, even if a signal ends the program.
class Output {
 public:
  static Output open(llvm::StringRef path) {
    if (path == "-") return Output(std::nullopt);
    StatusOr<NewFile> file = NewFile::open(path.str());
    orInputFault(toError(file.status()));
    if (!file->temporary().empty() && !ignoresSignals()) {
      llvm::sys::RemoveFileOnSignal(file->temporary());
    }
    return Output(std::move(*file), path);
  }
  Output(Output&&) = default;
  ~Output() {
    endStream();
    forget();
  }

  llvm::raw_fd_ostream& stream() { return own_ ? *own_ : llvm::outs(); }
  /// Ends the command early if writing has failed.
  void check() {
    if (!stream().has_error()) return;
    orInputFault(makeError((own_ ? "cannot write '" + path_ + "': " : "cannot write to stdout: ") +
                           stream().error().message()));
  }
  /// Ends the output; adds its bytes to `written`.
  void close(std::uint64_t& written) {
    stream().flush();
    written += stream().tell();
    check();
    endStream();
    if (file_) orInputFault(toError(file_->close()));
  }
  void replace() {
    forget();
    if (file_) orInputFault(toError(file_->replace()));
  }

 private:
  explicit Output(std::optional<NewFile> file, llvm::StringRef path = {})
      : path_(path), file_(std::move(file)) {
    if (!file_) return;
    own_ = std::make_unique<llvm::raw_fd_ostream>(file_->descriptor(), false);
    own_->SetBufferSize(1 << 16);
  }
  /// A stream with an uncleared error would end the program.
  void endStream() {
    stream().flush();
    stream().clear_error();
    own_.reset();
  }
  void forget() {
    if (file_ && !file_->temporary().empty()) {
      llvm::sys::DontRemoveFileOnSignal(file_->temporary());
    }
  }

  std::string path_;
  std::optional<NewFile> file_;
  std::unique_ptr<llvm::raw_fd_ostream> own_;
};

/// Totals of the export.
struct Totals {
  std::uint64_t operations = 0, messages = 0, bytes = 0;
};

using WriteRank = llvm::function_ref<void(const FlatProgram&)>;

/// The value; an error is printed behind the name of the input.
template <typename Result>
auto ofInput(Result result) {
  if constexpr (std::is_same_v<Result, llvm::Error>) {
    if (result) orInputFault(makeError(input + ": " + llvm::toString(std::move(result))));
  } else {
    ofInput(result.takeError());
    return std::move(*result);
  }
}

/// Makes the program of one rank after another, and passes it to `write`.
void forEachRank(const ir::ExportedCall& call, Totals& totals, WriteRank write) {
  for (std::int32_t rank = 0; rank < call.ranks(); ++rank) {
    const FlatProgram program = orInputFault(call.program(rank));
    write(program);
    totals.operations += program.operations.size();
    totals.messages += static_cast<std::uint64_t>(llvm::count_if(
        program.operations, [](const FlatOperation& operation) { return sends(operation.kind); }));
  }
}

void exportGoal(const ir::ExportedCall& call, const std::string& path, Totals& totals) {
  Output out = Output::open(path);
  ir::writeGoalHeader(call, out.stream());
  forEachRank(call, totals, [&](const FlatProgram& program) {
    ir::writeGoalRank(call, program, out.stream());
    out.check();
  });
  out.close(totals.bytes);
  out.replace();
}

void exportChakra(const ir::ExportedCall& call, const std::string& prefix, Totals& totals) {
  if (call.ranks() > kMostFiles) {
    orInputFault(makeError("too large: a file for each of " + llvm::Twine(call.ranks()) +
                           " ranks, and at most " + llvm::Twine(kMostFiles) + " are written"));
  }
  std::vector<Output> files;  // closed
  forEachRank(call, totals, [&](const FlatProgram& program) {
    Output& out =
        files.emplace_back(Output::open(prefix + '.' + std::to_string(program.rank) + ".et"));
    ir::writeChakraRank(call, program, out.stream());
    out.close(totals.bytes);
  });
  for (Output& file : files)
    file.replace();
}

void exportMsccl(ir::MscclWriter& writer, const ir::MscclSizes& sizes, const std::string& path,
                 Totals& totals) {
  Output out = Output::open(path);
  writer.writeHeader(sizes, out.stream());
  forEachRank(writer.call(), totals, [&](const FlatProgram& program) {
    ofInput(writer.writeRank(program, out.stream()));
    out.check();
  });
  ir::MscclWriter::writeEnd(out.stream());
  out.close(totals.bytes);
  out.replace();
}

/// Notes features of the program that readers of MSCCL programs do not support.
void noteLimits(const ir::MscclWriter& writer) {
  const auto note = [](const char* what, std::uint64_t has, std::uint64_t most,
                       const llvm::Twine& take) {
    if (has > most) llvm::errs() << "torc: note: " << has << ' ' << what << "; " << take << '\n';
  };
  note("steps of a thread block", writer.needs().steps, ir::kStepsOfRccl,
       "msccl-executor-nccl and RCCL take " + llvm::Twine(ir::kStepsOfRccl) + ", microsoft/msccl " +
           llvm::Twine(ir::kStepsOfMsccl));
  for (const auto& [what, has, most] :
       {std::tuple("channels", writer.needs().channels, ir::kChannelsOfReaders),
        std::tuple("chunks", writer.needs().chunks, ir::kChunksOfReaders),
        std::tuple("thread blocks of a rank", writer.needs().blocks, ir::kBlocksOfReaders),
        std::tuple("elements of XML for a rank", writer.needs().elements,
                   ir::kElementsOfReaders)}) {
    note(what, has, most, "readers take " + llvm::Twine(most));
  }
}

/// Bytes and times of a call, from the options.
ir::CallSize callSize(const ScheduleView& schedule, std::uint64_t size, std::int32_t root_rank) {
  ir::CallSize call{.count = ir::countOf(schedule, size / kElementBytes),
                    .element_bytes = kElementBytes,
                    .root = root_rank};
  if (machine.empty()) return call;
  const model::Machine on = orOptionFault(model::findMachine(machine));
  // A sum moves three bytes of memory for each byte of its result, a copy two.
  const double memory_s = on.memory_bandwidth > 0 ? 1 / on.memory_bandwidth : 0;
  call.reduce_s_per_byte = std::max(on.gamma, 3 * memory_s);
  call.copy_s_per_byte = 2 * memory_s;
  return call;
}

int run() {
  const auto start = std::chrono::steady_clock::now();
  if (input.empty()) wrongUsage("export: which file? - is stdin");
  if (format.empty()) wrongUsage("export: which format? --format goal, chakra or msccl");
  const bool chakra = format == "chakra", msccl = format == "msccl";
  if (input == "-" && output.empty()) {
    wrongUsage("export: where to? -o FILE names the file to write");
  }
  if (chakra && output == "-") {
    wrongUsage("export: chakra is a file for each rank: -o PREFIX names PREFIX.0.et, ...");
  }
  if (msccl && !machine.empty()) wrongUsage("export: msccl has no times for --machine");
  const llvm::StringRef size_text = !bytes.empty() || msccl ? llvm::StringRef(bytes) : "1M";
  SizeRange sizes;
  if (!size_text.empty()) {
    sizes = orUsageFault(parseSizeRange(size_text, "--bytes"));
  }
  if (!msccl && sizes.lowest != sizes.highest) {
    wrongUsage("export: " + format + " is of one size: --bytes 1M");
  }
  const auto root_rank = static_cast<std::int32_t>(root);
  const Input read = orInputFault(readSteps(input, "only step operations are exported"));
  const ScheduleView schedule = read.view();
  if (read.kind != InputKind::kFile) {  // files are proved
    const ir::VerifyResult proof = ir::verify(schedule);
    if (!proof.ok()) {
      ofInput(makeError("is not proved: " + ir::name(proof.faults.front().rule) +
                        " (torc verify says where)"));
    }
  }
  const CollectiveRow& row = rowOf(schedule.collective);
  if (root.isGiven() && !row.isRooted()) {
    wrongUsage("--root: " + std::string(row.name) + " has no root");
  }
  if (static_cast<std::uint64_t>(root_rank) >= schedule.topology.ranks()) {
    wrongUsage("--root takes a rank from 0 to " + llvm::Twine(schedule.topology.ranks() - 1) +
               ", not " + llvm::Twine(root_rank));
  }
  const ir::CallSize size = callSize(schedule, sizes.lowest, root_rank);

  Totals totals;
  const std::string path = !output.empty() ? output
                                           : besideInput(input, msccl    ? "xml"
                                                                : chakra ? ""
                                                                         : "goal");
  if (msccl) {
    ir::MscclWriter writer = ofInput(ir::MscclWriter::make(schedule, root_rank));
    exportMsccl(writer, {sizes.lowest, sizes.highest}, path, totals);
    if (!quiet) noteLimits(writer);
  } else {
    const ir::ExportedCall call = ofInput(ir::ExportedCall::make(schedule, size));
    chakra ? exportChakra(call, path, totals) : exportGoal(call, path, totals);
  }
  if (quiet) return kSuccess;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  llvm::errs() << row.name << " on " << schedule.topology.shape() << ": "
               << schedule.topology.ranks() << " ranks, " << totals.operations << " operations, "
               << totals.messages << " messages; " << format << ", " << totals.bytes << " bytes; "
               << llvm::format("%.3f", elapsed.count()) << " s\n";
  return kSuccess;
}

}  // namespace export_command

options::Command& kExportCommand = export_command::command;

}  // namespace torc::compiler
