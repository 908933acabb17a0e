// Recording of calls, and the merge of all ranks up a binomial tree, so that no rank holds the rows
// of all.
#include "runtime/pmpi/statistics/statistics.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>

#include "runtime/job/contenders.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/reductions/mpi_reduction.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/which_mpi.h"
#include "support/columns.h"
#include "support/hash.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

constexpr int kTag = 0;

Status send(const JobStatistics& statistics, int to, MPI_Comm comm) {
  const std::string bytes = statistics.bytes();
  // Rows are few: kMostCallRows of them take less than a megabyte.
  return mpiStatus(
      PMPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, kTag, comm),
      "sending statistics");
}

StatusOr<JobStatistics> receive(int from, MPI_Comm comm) {
  MPI_Status status;
  int length = 0;
  int code = PMPI_Probe(from, kTag, comm, &status);
  if (code == MPI_SUCCESS) code = PMPI_Get_count(&status, MPI_BYTE, &length);
  std::string bytes(static_cast<std::size_t>(length), '\0');
  if (code == MPI_SUCCESS) {
    code = PMPI_Recv(bytes.data(), length, MPI_BYTE, from, kTag, comm, MPI_STATUS_IGNORE);
  }
  if (code != MPI_SUCCESS) return mpiStatus(code, "receiving statistics");
  return JobStatistics::fromBytes(bytes);
}

std::string typeName(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Type_get_name(type, name, &length);
  return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : "unnamed";
}

}  // namespace

std::string secondsText(double seconds) {
  if (seconds < 1e-3) return formatted("%.3g us", seconds * 1e6);
  return seconds < 1 ? formatted("%.3g ms", seconds * 1e3) : formatted("%.3g s", seconds);
}

std::size_t Statistics::KeyHash::operator()(const Key& key) const {
  return hashNumbers(
      std::bit_cast<std::uint64_t>(key.function), std::bit_cast<std::uint64_t>(key.by),
      std::uint64_t{key.shape} << 16 | key.size_class << 2 | key.derived << 1 | key.users_op,
      std::hash<MPI_Datatype>()(key.type), std::hash<MPI_Op>()(key.op));
}

std::uint32_t Statistics::communicator(std::string_view description, std::string_view reason,
                                       int rank) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(communicators_, [&](const CommunicatorRow& row) {
    return row.description == description && row.reason == reason;
  });
  auto number = static_cast<std::size_t>(found - communicators_.begin());
  if (number > kMostCommunicatorRows) {
    number = kMostCommunicatorRows;  // the row for all others
  } else if (found == communicators_.end()) {
    CommunicatorRow row;
    row.description = number < kMostCommunicatorRows ? description : "others";
    row.reason = number < kMostCommunicatorRows ? reason : "too many kinds to list";
    communicators_.push_back(std::move(row));
    const auto shape = std::ranges::find(communicators_, communicators_.back().description,
                                         &CommunicatorRow::description);
    shapes_.push_back(static_cast<std::uint32_t>(shape - communicators_.begin() + 1));
  }
  if (rank == 0) ++communicators_[number].used;
  ++communicators_[number].members;
  return static_cast<std::uint32_t>(number + 1);
}

void Statistics::record(const CallRecord& call) {
  const MutexLock lock(mutex_);
  std::uint32_t shape = 0;
  if (call.communicator != 0) {
    const std::uint32_t number = call.communicator - 1;
    shape = shapes_[number];
    CommunicatorRow& communicator = communicators_[number];
    ++(call.service == Service::kServed ? communicator.served : communicator.handed);
    communicator.seconds += call.seconds;
  }
  CallRow& row = rowOf(call, shape);
  ++row.calls;
  row.bytes += call.bytes;
  row.least_bytes = std::min(row.least_bytes, call.bytes);
  row.most_bytes = std::max(row.most_bytes, call.bytes);
  row.seconds += call.seconds;
  row.least_seconds = std::min(row.least_seconds, call.seconds);
  row.most_seconds = std::max(row.most_seconds, call.seconds);
}

void Statistics::announce(const CallRecord& call) {
  if (!explain_) return;
  const MutexLock lock(mutex_);
  rowOf(call, call.communicator == 0 ? 0 : shapes_[call.communicator - 1]);
}

/// The row of a signature, created if it is new; the common row if there are too many.
CallRow& Statistics::rowOf(const CallRecord& call, std::uint32_t shape) {
  // Derived types come and go, and MPI reuses their handles.
  const bool type_known = isPredefinedType(call.type) || call.type == MPI_DATATYPE_NULL;
  const bool op_known = isPredefinedOp(call.op) || call.op == MPI_OP_NULL;
  const Key key{.function = call.function,
                .by = call.by,
                .shape = shape,
                .type = type_known ? call.type : MPI_DATATYPE_NULL,
                .op = op_known ? call.op : MPI_OP_NULL,
                .size_class = static_cast<std::uint8_t>(std::bit_width(call.bytes)),
                .derived = !type_known,
                .users_op = !op_known};
  if (const auto found = row_numbers_.find(key); found != row_numbers_.end())
    return rows_[found->second];
  CallRow row;
  row.service = call.service;
  row.ranks = 1;
  if (row_numbers_.size() >= kMostCallRows) {
    const Key rest{.size_class = static_cast<std::uint8_t>(call.service)};
    const auto [entry, is_new] = row_numbers_.try_emplace(rest, rows_.size());
    if (is_new) rows_.push_back(std::move(row));
    return rows_[entry->second];
  }
  row.function = call.function;
  row.communicator = key.shape == 0 ? "not known" : communicators_[key.shape - 1].description;
  if (key.derived) {
    row.datatype = "derived";
  } else if (call.type != MPI_DATATYPE_NULL) {
    row.datatype = typeName(call.type);
  }
  if (call.op != MPI_OP_NULL)
    row.operation = isPredefinedOp(call.op) ? describeOp(call.op) : "user's";
  row.by = call.by;
  row.size_class = key.size_class;
  if (explain_ && call.communicator_rank == 0 && !call.is_on_trial) explain(call, row);
  row_numbers_.emplace(key, rows_.size());
  return rows_.emplace_back(std::move(row));
}

void Statistics::explain(const CallRecord& call, const CallRow& row) const {
  std::string text = message(row.function, " on ", row.communicator);
  if (!row.datatype.empty()) text += message(", ", call.bytes, " bytes of ", row.datatype);
  if (!row.operation.empty()) text += ", " + row.operation;
  if (call.entry != nullptr) {
    text += message(": ", row.by);
    if (call.entry->highest != kNoSize && call.entry->lowest_s > 0) {
      text += message(", predicted ", secondsText(predictedSeconds(*call.entry, call.bytes)));
    }
    if (!call.entry->reason.empty()) text += ": " + call.entry->reason;
  } else {
    text += message(": handed to MPI: ", row.by);
  }
  say(text);
}

void Statistics::trialBegins() {
  const MutexLock lock(mutex_);
  ++trials_;
}

void Statistics::trialEnds(TunedRow row) {
  const MutexLock lock(mutex_);
  ++trials_ended_;
  if (tuned_.size() < kMostTunedRows) tuned_.push_back(std::move(row));
}

JobStatistics Statistics::snapshot(const RankFacts& facts) const {
  const MutexLock lock(mutex_);
  JobStatistics statistics;
  // Rows of calls that were announced, but ended otherwise, are empty.
  std::ranges::copy_if(rows_, std::back_inserter(statistics.calls),
                       [](const CallRow& row) { return row.calls > 0; });
  statistics.communicators = communicators_;
  statistics.tuned = tuned_;
  statistics.trials = trials_;
  statistics.ended = trials_ended_;
  statistics.facts = facts;
  return statistics;
}

StatusOr<JobStatistics> mergeStatistics(const JobStatistics& mine, MPI_Comm comm) {
  const int rank = commRank(comm), size = commSize(comm);
  JobStatistics merged = mine;
  for (CallRow& row : merged.calls) {
    row.least_mean_seconds = row.seconds / static_cast<double>(row.calls);
    row.late_rank = static_cast<std::uint64_t>(rank);
  }
  for (int step = 1; step < size; step *= 2) {
    if ((rank & step) != 0) {
      if (Status status = send(merged, rank - step, comm); !status.ok()) return status;
      break;
    }
    if (rank + step >= size) continue;
    StatusOr<JobStatistics> others = receive(rank + step, comm);
    if (!others.ok()) return others.status();
    merged.merge(*others);
    if (step > std::numeric_limits<int>::max() / 2) break;
  }
  return merged;
}

}  // namespace torc::runtime::pmpi
