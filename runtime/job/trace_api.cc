// The C API for traces.
#include <memory>

#include "runtime/api/api.h"
#include "runtime/job/context.h"
#include "runtime/job/trace_job.h"

using namespace torc::runtime;
using torc::Status;
using torc::StatusCode;

namespace {

constexpr std::uint64_t kDefaultEvents = 100000;

Status open(torc_context* context, MPI_Comm comm, const char* path, std::uint64_t events) {
  if (Status status = checkContext(context); !status.ok()) return status;
  if (comm == MPI_COMM_NULL) {
    return {StatusCode::kInvalidArgument, "the communicator is MPI_COMM_NULL"};
  }
  if (context->trace_job != nullptr) {
    return {StatusCode::kBusy, "the context is traced already"};
  }
  torc::StatusOr<std::unique_ptr<TraceJob>> job = TraceJob::open(
      context, comm, path != nullptr ? path : "", events > 0 ? events : kDefaultEvents);
  if (!job.ok()) return job.status();
  context->trace_job = std::move(*job);
  context->trace = context->trace_job->trace();
  return {};
}

Status close(torc_context* context, std::uint64_t& dropped) {
  if (Status status = checkContext(context); !status.ok()) return status;
  if (context->trace_job == nullptr) {
    return {StatusCode::kInvalidArgument, "the context is not traced"};
  }
  const std::shared_ptr<TraceJob> job = std::move(context->trace_job);
  context->trace.reset();
  return job->close(dropped);
}

}  // namespace

int torc_trace_open(torc_context* context, MPI_Comm comm, const char* path, uint64_t events) {
  return report(
      attempt([&] { return open(context, comm, path, events).annotated("torc_trace_open"); }));
}

int torc_trace_close(torc_context* context, uint64_t* dropped) {
  std::uint64_t count = 0;
  const int code =
      report(attempt([&] { return close(context, count).annotated("torc_trace_close"); }));
  if (dropped != nullptr) *dropped = count;
  return code;
}
