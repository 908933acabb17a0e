// Library: schedules loaded into a geometry.
#ifndef TORC_RUNTIME_LIBRARY_H_
#define TORC_RUNTIME_LIBRARY_H_

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/geometry.h"
#include "runtime/torc.h"
#include "schedules/file.h"

struct torc_schedule {
  torc_schedule(torc_geometry* owner, torc::LoadedSchedule file)
      : geometry(owner), loaded(std::move(file)) {}

  const torc::ScheduleView& view() const { return loaded.view(); }

  torc_geometry* geometry;
  torc::LoadedSchedule loaded;
  std::uint64_t serial = 0;  // the same on all ranks of the geometry
  // Zero-terminated copies for the C API.
  std::string name, producer, shape;
  int collectives = 0;
};

#endif  // TORC_RUNTIME_LIBRARY_H_
