// Sweep: the measurements, and the file on rank 0.
#include "runtime/dedicated/sweep.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

#include <mpi.h>

#include "runtime/dedicated/choice.h"
#include "runtime/dedicated/nodes.h"
#include "runtime/dedicated/roles.h"
#include "runtime/dedicated/trial.h"
#include "runtime/transport/yielding_wait.h"
#include "schedules/format/file.h"
#include "support/message.h"

namespace torc::runtime::dedicated {
namespace {

constexpr int kWarmups = 20, kCalls = 100;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
using Start = std::function<int(MPI_Request*)>;

/// Mean seconds of start and wait around `work` seconds of computation, of the slowest rank.
double overheadOf(const Start& start, double work, MPI_Comm comm) {
  double spent = 0;
  for (int i = -kWarmups; i < kCalls; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    const double began = PMPI_Wtime();
    const int code = start(&request);
    const double started = PMPI_Wtime();
    double worked = started;
    while (worked < started + work)
      worked = PMPI_Wtime();
    waitYielding(code, &request);
    if (i >= 0) spent += (started - began) + (PMPI_Wtime() - worked);
  }
  spent /= kCalls;
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(PMPI_Iallreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, comm, &request),
               &request);
  return spent;
}

/// Sets what the candidate takes, on all ranks.
Status measure(Candidate& candidate, const DedicatedRanks& wanted,
               const std::vector<int>& node_of_rank) {
  const std::size_t count = std::max<std::size_t>(1, wanted.number / sizeof(double));
  const double work = wanted.microseconds * 1e-6;
  std::vector<double> in(count, 1), out(count);
  if (candidate.ranks.kind == DedicatedRanks::Kind::kNone) {
    const auto elements = static_cast<int>(count);
    const Start start = [&](MPI_Request* request) {
      if (work > 0) {
        return PMPI_Iallreduce(in.data(), out.data(), elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                               request);
      }
      return PMPI_Allreduce(in.data(), out.data(), elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    };
    candidate.seconds = overheadOf(start, work, MPI_COMM_WORLD);
    return {};
  }
  const StatusOr<Roles> roles = assignRoles(candidate.ranks, node_of_rank);
  if (!roles.ok()) return roles.status();
  Status status = tryRoles(*roles, isCrowded(node_of_rank), [&](Client& client, MPI_Comm own) {
    const OffloadedCall call = sumOfDoubles(in, out);
    candidate.seconds = overheadOf(
        [&](MPI_Request* request) { return client.start(client.world(), call, request); }, work,
        own);
  });
  if (!status.ok()) return status;
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(PMPI_Ibcast(&candidate.seconds, 1, MPI_DOUBLE, roles->applications.front(),
                           MPI_COMM_WORLD, &request),
               &request);
  return {};
}

/// What rank 0 found in the file, for all.
struct Found {
  enum Kind : int { kChoice, kNothing, kFault } kind = kNothing;
  std::uint32_t ranks_kind = 0, number = 0, fills_nodes = 0;
};

/// The file opened to be read; none: errno says why not, or is 0 of what is no regular file.
/// Nothing here waits, as for the writer of a pipe.
File openRegular(const std::string& file) {
  File stream(nullptr, &std::fclose);
  const int number = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (number < 0) return stream;
  struct stat facts {};
  const bool is_known = ::fstat(number, &facts) == 0;
  if (is_known && S_ISREG(facts.st_mode)) stream.reset(::fdopen(number, "r"));
  if (stream != nullptr) return stream;
  const int error = is_known && !S_ISREG(facts.st_mode) ? 0 : errno;
  ::close(number);
  errno = error;
  return stream;
}

/// On rank 0. An error is in `fault`.
Found lookInto(const std::string& file, const DedicatedRanks& wanted,
               const std::vector<int>& node_of_rank, std::string& fault) {
  Found found;
  if (file.empty()) return found;
  const File stream = openRegular(file);
  if (stream == nullptr) {
    if (errno == ENOENT) return found;
    fault = errno == 0 ? message(file, " is no regular file")
                       : message("cannot read '", file, "': ", std::strerror(errno));
    found.kind = Found::kFault;
    return found;
  }
  std::string text(1 << 16, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stream.get()));
  StatusOr<DedicatedRanks> choice =
      std::ferror(stream.get()) != 0
          ? StatusOr<DedicatedRanks>(Status(StatusCode::kInvalidArgument,
                                            message("cannot be read: ", std::strerror(errno))))
          : readChoice(text, wanted, node_of_rank);
  if (choice.ok() && choice->kind == DedicatedRanks::Kind::kList) {
    choice = Status(StatusCode::kInvalidArgument, "has a list of ranks, which auto never chooses");
  }
  if (!choice.ok()) {
    fault = message(file, ' ', choice.status().message());
    found.kind = Found::kFault;
    return found;
  }
  found.kind = Found::kChoice;
  found.ranks_kind = static_cast<std::uint32_t>(choice->kind);
  found.number = choice->number;
  found.fills_nodes = choice->fills_nodes ? 1 : 0;
  return found;
}

template <typename Value>
void shareOfRank0(Value& value) {
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(PMPI_Ibcast(&value, sizeof(value), MPI_BYTE, 0, MPI_COMM_WORLD, &request), &request);
}

}  // namespace

StatusOr<Sweep> sweepDedicatedRanks(const DedicatedRanks& wanted, const std::string& file,
                                    const std::vector<int>& node_of_rank) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string fault;
  Found found;
  if (rank == 0) found = lookInto(file, wanted, node_of_rank, fault);
  shareOfRank0(found);
  if (found.kind == Found::kFault) {
    return Status(StatusCode::kInvalidArgument, rank == 0 ? fault : "see rank 0");
  }
  Sweep sweep;
  if (found.kind == Found::kChoice) {
    sweep.chosen.kind = static_cast<DedicatedRanks::Kind>(found.ranks_kind);
    sweep.chosen.number = found.number;
    sweep.chosen.fills_nodes = found.fills_nodes != 0;
    return sweep;
  }
  std::vector<Candidate> candidates = candidatesOf(node_of_rank);
  for (Candidate& candidate : candidates) {
    if (Status status = measure(candidate, wanted, node_of_rank); !status.ok()) return status;
  }
  sweep.is_measured = true;
  sweep.chosen = bestOf(candidates).ranks;
  if (file.empty()) return sweep;
  if (rank == 0) {
    const std::string text = choiceText(wanted, node_of_rank, candidates);
    // Other jobs may write it now, and read it.
    sweep.unwritten = writeFileAtomically(file, std::as_bytes(std::span(text))).message();
  }
  sweep.is_unwritten = !sweep.unwritten.empty();
  shareOfRank0(sweep.is_unwritten);
  return sweep;
}

}  // namespace torc::runtime::dedicated
