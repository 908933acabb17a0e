// The file: a line that says which program wrote it, and one of JSON for each choice, whose
// candidates are the values of visitFields in their order. Lines are appended whole; one that is
// torn, and what may follow, is left out.
#include "compiler/library/checkpoint.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "schedules/format/file.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

using nlohmann::json;

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

/// Throws what nlohmann throws where the values are not those of a candidate.
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
      .dump();
}

/// The program by its content: another one might choose otherwise.
std::string headOfFile() {
  const StatusOr<std::vector<std::byte>> program = readFile("/proc/self/exe");
  return json({"torc", kVersion, program.ok() ? checksumOf(*program) : 0}).dump() + "\n";
}

bool append(int file, llvm::StringRef text) {
  return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

Checkpoint::Checkpoint(std::string path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) return;
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(std::exchange(file_, -1));
    return;
  }
  const StatusOr<std::vector<std::byte>> bytes = readFile(path_);
  if (bytes.ok()) {
    read({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, headOfFile());
  }
}

Checkpoint::~Checkpoint() {
  if (file_ >= 0) ::close(file_);
}

void Checkpoint::read(const std::string& text, const std::string& head) {
  std::size_t whole = 0;  // bytes of lines that make sense
  if (llvm::StringRef(text).starts_with(head)) {
    whole = head.size();
    try {
      for (std::size_t end; (end = text.find('\n', whole)) != std::string::npos; whole = end + 1) {
        const json line = json::parse(text.begin() + static_cast<std::ptrdiff_t>(whole),
                                      text.begin() + static_cast<std::ptrdiff_t>(end));
        Choice choice;
        for (const json& candidate : line.at("candidates"))
          choice.candidates.push_back(fromJson(candidate));
        choices_[line.at("of").get<std::string>()] = std::move(choice);
      }
    } catch (const json::exception&) {
    }
  }
  found_ = choices_.size();
  if (whole < text.size() && ::ftruncate(file_, static_cast<off_t>(whole)) != 0) {
    ::close(std::exchange(file_, -1));
  } else if (whole == 0) {
    append(file_, head);
  }
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
  json line = {{"of", key}, {"candidates", json::array()}};
  for (const Candidate& candidate : choice->candidates)
    line["candidates"].push_back(toJson(candidate));
  const std::lock_guard lock(mutex_);
  // After a disk that is full the next build finds what there was room for.
  if (file_ >= 0 && !append(file_, line.dump() + "\n")) ::close(std::exchange(file_, -1));
  return choice;
}

void Checkpoint::remove() {
  if (file_ >= 0) ::unlink(path_.c_str());
}

}  // namespace torc::compiler
