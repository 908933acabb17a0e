// The file: a line that says which program wrote it, and one of JSON for each choice, behind its
// checksum. Candidates are the values of visitFields in their order. Lines are appended whole; one
// that is torn, and what may follow, is left out. A file that does not begin as a checkpoint is
// somebody else's, and stays as it is.
#include "compiler/library/checkpoint.h"

#include <cmath>
#include <fcntl.h>
#include <span>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <llvm/ADT/StringExtras.h>
#include <nlohmann/json.hpp>

#include "schedules/format/file.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

using nlohmann::json;

// A field more is one more to visit.
static_assert(sizeof(Candidate) == 264 && sizeof(PipelineOptions) == 96);

/// Calls visit with each field of a candidate but the algorithm.
template <typename AnyCandidate, typename Visit>
void visitFields(AnyCandidate& candidate, Visit visit) {
  auto& options = candidate.options;
  visit(options.cuts);
  visit(options.weights);
  visit(options.directions);
  visit(options.chunks);
  visit(options.auto_bytes);
  visit(options.auto_machine);
  visit(options.dependences);
  visit(options.in_flight);
  visit(options.segments);
  visit(options.segment_order);
  visit(options.cores);
  visit(options.scratch_depth);
  visit(options.peers);
  visit(options.window);
  visit(options.led_cores);
  visit(options.synchronous_sends);
  visit(candidate.per_rank);
  visit(candidate.by_packets);
  visit(candidate.unseen);
  visit(candidate.stand_in);
  visit(candidate.refusal);
  visit(candidate.tried);
  visit(candidate.predicted_s);
  visit(candidate.busy_s);
  visit(candidate.load_bytes);
  visit(candidate.scratch_bytes);
  visit(candidate.buffers);
  visit(candidate.leaves_neighbours);
  visit(candidate.steps);
  visit(candidate.messages);
  visit(candidate.operations);
  visit(candidate.work);
}

json toJson(const Candidate& candidate) {
  json values = json::array({candidate.algorithm->name.str()});
  visitFields(candidate, [&](const auto& field) { values.push_back(field); });
  return values;
}

/// What toJson was given. Throws what nlohmann throws where the values are not those of a
/// candidate.
Candidate fromJson(const json& values) {
  Candidate candidate;
  candidate.algorithm = cantFail(findAlgorithm(values.at(0).get<std::string>()));
  std::size_t next = 1;
  visitFields(candidate, [&](auto& field) { values.at(next++).get_to(field); });
  return candidate;
}

/// What a choice depends on.
std::string keyOf(const CollectiveSpec& spec, const model::Machine& machine, double bytes) {
  return json({rowOf(spec.collective).name, spec.topology.shape(), spec.topology.orderString(),
               model::machineJson(machine), bytes})
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

constexpr llvm::StringRef kMark = "[\"torc choices\",";

/// The program by its content: another one might choose otherwise.
std::string headOfFile() {
  const StatusOr<std::vector<std::byte>> program = readFile("/proc/self/exe");
  return json({"torc choices", kVersion, program.ok() ? checksumOf(*program) : 0}).dump() + "\n";
}

/// "0123456789abcdef", of a line behind it.
std::string checksumText(llvm::StringRef line) {
  return llvm::utohexstr(checksumOf(std::as_bytes(std::span(line.data(), line.size()))), true, 16);
}

bool append(int file, llvm::StringRef text) {
  return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Whether an open file is a regular one, and what has this name.
bool isFileAt(int file, const std::string& path) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(file, &opened) == 0 && S_ISREG(opened.st_mode) &&
         ::lstat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

}  // namespace

Checkpoint::Checkpoint(std::string path) : path_(std::move(path)) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  file_ = ::open(path_.c_str(), kFlags, 0666);
  if (file_ < 0) return;
  StatusOr<std::vector<std::byte>> bytes = Status(StatusCode::kBusy, "");
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0 && isFileAt(file_, path_)) bytes = readFile(path_);
  if (!bytes.ok() ||
      !read({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, headOfFile())) {
    ::close(std::exchange(file_, -1));
  }
}

Checkpoint::~Checkpoint() {
  if (file_ >= 0) ::close(file_);
}

bool Checkpoint::read(const std::string& text, const std::string& head) {
  if (!text.empty() && !llvm::StringRef(text).starts_with(kMark)) return false;
  if (!llvm::StringRef(text).starts_with(head))  // of another program, or none
    return ::ftruncate(file_, 0) == 0 && append(file_, head);
  std::size_t whole = head.size();  // bytes of lines that make sense
  for (std::size_t end; (end = text.find('\n', whole)) != std::string::npos; whole = end + 1) {
    llvm::StringRef line(text.data() + whole, end - whole);
    const llvm::StringRef checksum = line.take_front(16);
    line = line.drop_front(checksum.size());
    if (checksum != checksumText(line)) break;
    const json choice = json::parse(line.begin(), line.end());
    Choice known;
    for (const json& candidate : choice.at("candidates"))
      known.candidates.push_back(fromJson(candidate));
    choices_[choice.at("of").get<std::string>()] = std::move(known);
  }
  found_ = choices_.size();
  return whole == text.size() || ::ftruncate(file_, static_cast<off_t>(whole)) == 0;
}

llvm::Expected<Choice> Checkpoint::choose(CompileCache& programs, const model::Machine& machine,
                                          double bytes) {
  if (file_ < 0) return compiler::choose(programs, machine, bytes, ChoiceLimits{});
  const std::string key = keyOf(programs.spec(), machine, bytes);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = choices_.find(key); known != choices_.end()) return known->second;
  }
  llvm::Expected<Choice> choice = compiler::choose(programs, machine, bytes, ChoiceLimits{});
  if (!choice) return choice;
  json kept = {{"of", key}, {"candidates", json::array()}};
  for (const Candidate& candidate : choice->candidates) {
    // JSON has no infinity.
    if (!std::isfinite(candidate.predicted_s + candidate.work + candidate.scratch_bytes +
                       candidate.unseen + candidate.busy_s + candidate.load_bytes)) {
      return choice;
    }
    kept["candidates"].push_back(toJson(candidate));
  }
  const std::string line = kept.dump(-1, ' ', false, json::error_handler_t::replace);
  const std::lock_guard lock(mutex_);
  // After a disk that is full the next build finds what there was room for.
  if (is_kept_) is_kept_ = append(file_, checksumText(line) + line + "\n");
  return choice;
}

void Checkpoint::remove() {
  if (file_ >= 0 && isFileAt(file_, path_)) ::unlink(path_.c_str());
}

}  // namespace torc::compiler
