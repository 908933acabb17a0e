// Schedule: collective loading of a file, which one rank reads and all ranks check.
#include "runtime/job/bound_schedule.h"

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/api/api.h"
#include "runtime/job/segment_set_up.h"
#include "runtime/trace/trace.h"
#include "schedules/expansion/expand.h"
#include "support/message.h"

using namespace torc;
using namespace torc::runtime;

namespace {

Status check(torc_geometry& geometry, std::span<const std::byte> bytes, const std::string& origin,
             std::unique_ptr<torc_schedule>& schedule) {
  StatusOr<LoadedSchedule> loaded = readSchedule(bytes, origin);
  if (!loaded.ok()) return loaded.status();
  auto bound =
      torc_schedule::bind(&geometry, std::make_shared<const LoadedSchedule>(std::move(*loaded)));
  if (bound.ok()) schedule = std::move(*bound);
  return bound.status().annotated(origin);
}

/// Loads a schedule on all ranks: rank 0 has `bytes`, or an error in `mine`.
Status loadOnAll(torc_geometry& geometry, const Status& mine, std::vector<std::byte>& bytes,
                 const std::string& origin, torc_schedule** result) {
  TraceCall traced(geometry.context->trace.get(), "load", TraceKind::kLoad);
  traced.setDetail(origin);
  if (Status agreed = geometry.agreement.agree(mine); !agreed.ok()) return agreed;
  const Status received = geometry.agreement.broadcast(bytes);
  traced.setBytes(bytes.size());

  const std::optional<Topology> shape_before = geometry.topology;
  std::unique_ptr<torc_schedule> schedule;
  std::optional<SegmentSetUp> set_up;
  const Status checked = attempt([&] {
    if (!SegmentSetUp::isDone(geometry)) set_up.emplace(geometry);
    return received.ok() ? check(geometry, bytes, origin, schedule) : received;
  });
  if (Status agreed = geometry.agreement.agree(checked); !agreed.ok()) {
    geometry.topology = shape_before;
    return agreed;
  }
  if (set_up) {
    set_up->start();
    geometry.context->progressUntil([&] { return set_up->advance(); });
    if (!set_up->status().ok()) return set_up->status();
  }
  schedule->serial = ++geometry.schedules_loaded;
  *result = schedule.release();
  return {};
}

/// The same for a function of the C API, where rank 0 gets the bytes by `read`.
template <typename Read>
int load(const char* function, torc_geometry* geometry, const char* origin,
         torc_schedule** schedule, Read read) {
  if (schedule != nullptr) *schedule = nullptr;
  return report(attempt([&]() -> Status {
    const Status callable =
        geometry == nullptr ? nullArgument("geometry") : checkContext(geometry->context);
    if (!callable.ok()) return callable.annotated(function);
    std::vector<std::byte> bytes;
    const Status mine = attempt([&]() -> Status {
      if (schedule == nullptr) return nullArgument("schedule").annotated(function);
      if (geometry->rank != 0) return {};
      StatusOr<std::vector<std::byte>> found = read();
      if (found.ok()) bytes = std::move(*found);
      return found.status();
    });
    return loadOnAll(*geometry, mine, bytes, origin, schedule);
  }));
}

}  // namespace

double torc_schedule::scratchBytes(std::uint64_t bytes) {
  if (!scratch_share_) scratch_share_ = VectorShares(view_).scratch();
  return *scratch_share_ * static_cast<double>(bytes);
}

bool torc_schedule::sumsWhole() {
  if (!sums_whole_) sums_whole_ = view_.sumsWhole();
  return *sums_whole_;
}

StatusOr<std::unique_ptr<torc_schedule>> torc_schedule::bind(
    torc_geometry* geometry, std::shared_ptr<const LoadedSchedule> file) {
  const ScheduleView& compiled = file->view();
  if (Status status = geometry->adopt(compiled.topology); !status.ok()) return status;
  StatusOr<Topology> topology = geometry->topologyFor(compiled.topology);
  if (!topology.ok()) return topology.status();
  auto schedule = std::make_unique<torc_schedule>(geometry);
  schedule->view_ = compiled;
  schedule->view_.topology = *topology;
  schedule->tag_count = tagCount(compiled);
  schedule->name = compiled.name;
  schedule->producer = compiled.producer;
  schedule->shape = compiled.topology.shape();
  schedule->file = std::move(file);
  return schedule;
}

int torc_schedule_load(torc_geometry* geometry, const char* path, torc_schedule** schedule) {
  return load(__func__, geometry, path == nullptr ? "schedule" : path, schedule,
              [&]() -> StatusOr<std::vector<std::byte>> {
                if (path == nullptr) return nullArgument("torc_schedule_load: path");
                return readFile(path);
              });
}

int torc_schedule_load_memory(torc_geometry* geometry, const void* bytes, size_t length,
                              const char* name, torc_schedule** schedule) {
  return load(__func__, geometry, name == nullptr ? "schedule" : name, schedule,
              [&]() -> StatusOr<std::vector<std::byte>> {
                if (bytes == nullptr) return nullArgument("torc_schedule_load_memory: bytes");
                const std::byte* data = static_cast<const std::byte*>(bytes);
                return std::vector<std::byte>(data, data + length);
              });
}

int torc_schedule_free(torc_schedule* schedule) {
  if (schedule == nullptr) return TORC_OK;
  return apiCall(__func__, [&]() -> Status {
    if (schedule->collectives > 0) {
      return {StatusCode::kBusy, message("schedule ", schedule->name, " still has ",
                                         schedule->collectives, " collectives")};
    }
    delete schedule;
    return {};
  });
}

int torc_schedule_query(const torc_schedule* schedule, torc_schedule_info* info) {
  return apiCall(__func__, [&]() -> Status {
    if (schedule == nullptr) return nullArgument("schedule");
    if (info == nullptr) return nullArgument("info");
    const ScheduleView& view = schedule->view();
    *info = {};
    info->kind = kindOf(view.collective);
    info->kind_name = rowOf(view.collective).name.data();
    info->name = schedule->name.c_str();
    info->producer = schedule->producer.c_str();
    info->shape = schedule->shape.c_str();
    info->nodes = view.topology.ranks();
    info->operations = view.operations.size();
    info->streams = view.streams.size();
    info->parts = view.partCount();
    info->bytes = schedule->file->bytes() + sizeof(torc_schedule);
    return {};
  });
}
