// The C API for libraries.
#include <memory>
#include <string>

#include "runtime/api/api.h"
#include "runtime/collectives/call.h"
#include "runtime/job/contenders.h"
#include "runtime/job/describe_call.h"
#include "runtime/job/library.h"
#include "runtime/job/schedule_load.h"
#include "support/message.h"

using namespace torc;
using namespace torc::runtime;

namespace {

std::string textOf(const char* text) {
  return text == nullptr ? "" : text;
}

Status openLibrary(torc_context* context, MPI_Comm world, const torc_library_options* given,
                   torc_library** result) {
  if (Status status = checkContext(context); !status.ok()) return status;
  if (Status status = checkCommunicator(world); !status.ok()) return status;
  LibraryOptions options;
  Status mine;
  if (result == nullptr) mine = nullArgument("library");
  if (given == nullptr) mine = nullArgument("options");
  if (mine.ok()) {
    options.directory = textOf(given->directory);
    options.torus = textOf(given->torus);
    options.order = textOf(given->order);
    options.mapping = textOf(given->mapping);
    options.machine = textOf(given->machine);
    if (given->memory_limit > 0) options.memory_limit = given->memory_limit;
  }
  StatusOr<std::unique_ptr<torc_library>> library =
      torc_library::open(context, world, options, mine);
  if (library.ok()) *result = library->release();
  return library.status();
}

Status recognise(torc_library* library, MPI_Comm comm, torc_geometry** result) {
  if (library == nullptr) return nullArgument("library");
  Recognition found;
  const auto map = [&](torc_geometry& geometry, std::uint64_t& fingerprint) -> Status {
    if (result == nullptr) return nullArgument("geometry");
    found = library->recognise(comm);
    if (!found.ok()) return {StatusCode::kUnsupported, found.reason};
    fingerprint = found.fingerprint();
    return geometry.mapOnto(found.topology, found.map);
  };
  StatusOr<std::unique_ptr<torc_geometry>> made =
      torc_geometry::make(library->context, comm, "where the communicator lies", map);
  if (!made.ok()) return made.status();
  torc_geometry& geometry = **made;
  geometry.setHosts(
      {geometry.hosts.count, geometry.hosts.oversubscribed || library->hosts.oversubscribed});
  geometry.library = library;
  geometry.library_sub_torus = found.sub_torus;
  ++library->geometries;
  *result = made->release();
  return {};
}

torc_choice describe(const torc_library& library, const LibraryEntry& entry, std::uint64_t bytes) {
  return {.kind = kindOf(entry.collective),
          .shape = library.shapes[entry.shape].c_str(),
          .lowest_bytes = entry.lowest,
          .highest_bytes = entry.highest,
          .file = library.index.files[entry.file].name.c_str(),
          .predicted_s = predictedSeconds(entry, bytes),
          .reason = entry.reason.c_str()};
}

struct Chosen {
  const LibraryEntry* entry = nullptr;
  std::uint64_t bytes = 0;
};

StatusOr<Chosen> choose(const torc_geometry& geometry, const torc_call* call) {
  if (call == nullptr) return nullArgument("call");
  if (geometry.library == nullptr) {
    return Status(StatusCode::kInvalidArgument, "the geometry was not recognised by a library");
  }
  const StatusOr<CallArguments> arguments = argumentsOf(*call, geometry.topology->axis_count);
  if (!arguments.ok()) return arguments.status();
  Call checked;
  if (Status status = check(*arguments, geometry.rank, geometry.size, checked); !status.ok()) {
    return status;
  }
  const std::uint64_t bytes = checked.bytes;
  const torc_library& library = *geometry.library;
  const std::uint32_t shape = library.index.sub_tori[geometry.library_sub_torus].shape;
  const CollectiveRow& row = rowOf(arguments->collective);
  const bool is_in_order =
      isInRankOrder(geometry.map, *geometry.topology, library.index.shapes[shape].topology);
  if (checked.needsRankOrder() && !is_in_order) {
    return Status(StatusCode::kUnsupported,
                  message("the ranks are in another order than those of the library's ",
                          library.shapes[shape], ", and the order matters to this ", row.name));
  }
  const bool is_ordered = checked.needsOrderedSums();
  const LibraryEntry* entry = library.choose(shape, *arguments, bytes, is_ordered);
  const std::string& name = library.shapes[shape];
  if (entry == nullptr) {
    const std::string what =
        is_ordered ? message(row.name, " on ", name, " for operations that do not commute")
        : arguments->hasPairLists()
            ? message("direct ", row.name, " on ", name, ", which counts that differ take")
            : message(row.name, " of ", bytes, " bytes on ", name);
    return Status(StatusCode::kUnsupported, "the library has no " + what);
  }
  if (entry->file == kMpisOwn) {
    return Status(StatusCode::kUnsupported,
                  message("for ", row.name, " of ", bytes, " bytes on ", name,
                          " the library says MPI's own: ", entry->reason));
  }
  return Chosen{entry, bytes};
}

Status loadChosen(torc_geometry* geometry, const torc_call* call, torc_schedule** result) {
  if (geometry == nullptr) return nullArgument("geometry");
  torc_context* context = geometry->context;
  if (Status status = checkContext(context); !status.ok()) return status;
  Chosen chosen;
  const Status mine = attempt([&]() -> Status {
    if (result == nullptr) return nullArgument("schedule");
    StatusOr<Chosen> found = choose(*geometry, call);
    if (found.ok()) chosen = *found;
    return found.status();
  });
  const std::uint64_t file = mine.ok() ? chosen.entry->file : 0;
  const AgreedField fields[] = {{"the entry of the library", file, true}};
  if (Status agreed = geometry->agreement.agree(mine, fields); !agreed.ok()) return agreed;
  StatusOr<torc_schedule*> schedule = loadNow(*geometry, *chosen.entry);
  if (schedule.ok()) *result = *schedule;
  return schedule.status();
}

}  // namespace

int torc_library_open(torc_context* context, MPI_Comm world, const torc_library_options* options,
                      torc_library** library) {
  if (library != nullptr) *library = nullptr;
  return apiCall(__func__, [&] { return openLibrary(context, world, options, library); });
}

int torc_library_close(torc_library* library) {
  return apiCall(__func__, [&]() -> Status {
    if (library != nullptr && library->geometries > 0) {
      return {StatusCode::kBusy,
              message("the library still has ", library->geometries, " geometries")};
    }
    delete library;
    return {};
  });
}

int torc_library_query(const torc_library* library, torc_library_info* info) {
  return apiCall(__func__, [&]() -> Status {
    if (library == nullptr) return nullArgument("library");
    if (info == nullptr) return nullArgument("info");
    *info = {};
    info->directory = library->options.directory.c_str();
    info->machine = library->index.machine.c_str();
    info->version = library->index.version.c_str();
    info->torus = library->torus.c_str();
    info->order = library->order.c_str();
    info->nodes = library->job.topology.ranks();
    info->partitions = library->index.partitions.size();
    info->sub_tori = library->index.sub_tori.size();
    info->entries = library->index.entries.size();
    info->files = library->index.files.size();
    info->files_loaded = library->cache.files();
    info->bytes_loaded = library->cache.bytes();
    info->memory_limit = library->cache.limit();
    return {};
  });
}

int torc_library_entry(const torc_library* library, uint64_t number, torc_choice* choice) {
  return apiCall(__func__, [&]() -> Status {
    if (library == nullptr) return nullArgument("library");
    if (choice == nullptr) return nullArgument("choice");
    *choice = {};
    if (number >= library->index.entries.size()) {
      return {StatusCode::kInvalidArgument, message("entry ", number, " does not exist (there are ",
                                                    library->index.entries.size(), ")")};
    }
    const LibraryEntry& entry = library->index.entries[number];
    *choice = describe(*library, entry, entry.lowest);
    return {};
  });
}

int torc_geometry_recognise(torc_library* library, MPI_Comm comm, torc_geometry** geometry) {
  if (geometry != nullptr) *geometry = nullptr;
  return apiCall(__func__, [&] { return recognise(library, comm, geometry); });
}

int torc_library_choose(const torc_geometry* geometry, const torc_call* call, torc_choice* choice) {
  if (choice != nullptr) *choice = {};
  return apiCall(__func__, [&]() -> Status {
    if (geometry == nullptr) return nullArgument("geometry");
    if (choice == nullptr) return nullArgument("choice");
    const StatusOr<Chosen> chosen = choose(*geometry, call);
    if (chosen.ok()) *choice = describe(*geometry->library, *chosen->entry, chosen->bytes);
    return chosen.status();
  });
}

int torc_library_load(torc_geometry* geometry, const torc_call* call, torc_schedule** schedule) {
  if (schedule != nullptr) *schedule = nullptr;
  return apiCall(__func__, [&] { return loadChosen(geometry, call, schedule); });
}
