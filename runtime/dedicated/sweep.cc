// Sweep: the measurements, and the file on rank 0.
#include "runtime/dedicated/sweep.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

#include <mpi.h>

#include "runtime/dedicated/choice.h"
#include "runtime/dedicated/nodes.h"
#include "runtime/dedicated/roles.h"
#include "runtime/dedicated/trial.h"
#include "runtime/transport/yielding_wait.h"
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

std::string describeError(const char* what, const std::string& file, int error) {
  return message("cannot ", what, ' ', file, ": ", std::strerror(error));
}

/// On rank 0. An error is in `fault`.
Found lookInto(const std::string& file, const DedicatedRanks& wanted,
               const std::vector<int>& node_of_rank, std::string& fault) {
  Found found;
  if (file.empty()) return found;
  const File stream(std::fopen(file.c_str(), "r"), &std::fclose);
  if (stream == nullptr) {
    if (errno == ENOENT) return found;
    fault = describeError("read", file, errno);
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

/// Under another name first, so that no job reads half of it. Empty: it is written.
std::string write(const std::string& file, const std::string& text) {
  const std::string part = file + ".part";
  File stream(std::fopen(part.c_str(), "w"), &std::fclose);
  if (stream == nullptr) return describeError("write", file, errno);
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), stream.get()) == text.size();
  if (std::fclose(stream.release()) != 0 || !is_whole ||
      std::rename(part.c_str(), file.c_str()) != 0) {
    const int error = errno;
    std::remove(part.c_str());
    return describeError("write", file, error);
  }
  return {};
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
  if (rank == 0) sweep.unwritten = write(file, choiceText(wanted, node_of_rank, candidates));
  sweep.is_unwritten = !sweep.unwritten.empty();
  shareOfRank0(sweep.is_unwritten);
  return sweep;
}

}  // namespace torc::runtime::dedicated
