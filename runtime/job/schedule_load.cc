// Loading a schedule of a library: a few steps, each of which waits for one nonblocking collective.
#include "runtime/job/schedule_load.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/trace/trace.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "schedules/format/file.h"
#include "support/message.h"

namespace torc::runtime {

ScheduleLoad::ScheduleLoad(torc_library& library, torc_geometry& geometry,
                           const LibraryEntry& entry)
    : library_(library),
      geometry_(geometry),
      entry_(entry),
      file_(library.index.files[entry.file]) {
  if (geometry_.context->trace != nullptr) began_ = traceClock();
  mine_ = attempt([&]() -> Status {
    schedule_ = library_.cache.find(entry_.file);
    held_ = schedule_ != nullptr;
    // What arrives while others lack the file. Untouched, it is address space and no more.
    message_ = std::make_unique_for_overwrite<std::byte[]>(messageBytes());
    if (!SegmentSetUp::isDone(geometry_)) segment_.emplace(geometry_);
    if (held_) {
      const Status status = serves(schedule_->view());
      return status.ok() ? bind() : status;
    }
    if (Status status = library_.cache.reserve(file_.bytes); !status.ok()) {
      return status.annotated(path());
    }
    reserved_ = file_.bytes;
    return {};
  });
  vote(Step::kAsk, !held_);
}

ScheduleLoad::~ScheduleLoad() {
  if (bound_ != nullptr && result_.ok()) --geometry_.schedules;
  if (reserved_ > 0) library_.cache.cancel(reserved_);
}

std::string ScheduleLoad::path() const {
  return libraryFilePath(library_.options.directory, file_.name);
}

/// Starts the reduction by which all ranks learn whether one failed, whether one lacks the file,
/// and whether all mean the same.
void ScheduleLoad::vote(Step step, bool lacks) {
  step_ = step;
  // The maximum is that of the lowest rank that failed.
  const auto asked = std::int64_t{entry_.file} << 8 | static_cast<std::int64_t>(entry_.collective);
  vote_ = {lacks ? 1 : 0, mine_.ok() ? 0 : geometry_.size - geometry_.rank, asked, -asked};
  const int code = startAllreduce(vote_.data(), votes_.data(), static_cast<int>(vote_.size()),
                                  MPI_INT64_T, MPI_MAX, geometry_.comm, &request_);
  if (code != MPI_SUCCESS) finish(mpiStatus(code, "MPI_Iallreduce"));
}

void ScheduleLoad::send(Step step, void* data, std::size_t bytes, int root) {
  step_ = step;
  const int code =
      startBroadcast(data, static_cast<int>(bytes), MPI_BYTE, root, geometry_.comm, &request_);
  if (code != MPI_SUCCESS) finish(mpiStatus(code, "MPI_Ibcast"));
}

bool ScheduleLoad::advance() {
  while (step_ != Step::kDone) {
    if (request_ != MPI_REQUEST_NULL) {
      int arrived = 0;
      const int code = PMPI_Test(&request_, &arrived, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) {
        finish(mpiStatus(code, "MPI_Test"));
        break;
      }
      if (!arrived) return false;
    }
    proceed();
    if (step_ == Step::kSegment) return false;
  }
  return true;
}

void ScheduleLoad::proceed() {
  const bool failed = votes_[1] > 0;
  const int speaker = geometry_.size - static_cast<int>(votes_[1]);
  switch (step_) {
    case Step::kAsk:
      entries_differ_ = votes_[2] != -votes_[3];
      if (entries_differ_) {
        finish({StatusCode::kMismatch, message("calls differ between the ranks: this one is for ",
                                               file_.name, ", another one is not")});
      } else if (failed) {
        sendError(speaker);
      } else if (votes_[0] == 0) {
        succeed();
      } else {
        sendFile();
      }
      break;
    case Step::kFile:
      std::memcpy(&error_, message_.get(), sizeof(error_));
      if (error_.code != 0) {
        finish(error());
        break;
      }
      if (!held_) mine_ = attempt([&] { return check(); });
      vote(Step::kOutcome, false);
      break;
    case Step::kOutcome:
      if (failed) {
        sendError(speaker);
      } else {
        succeed();
      }
      break;
    case Step::kSegment:
      if (segment_->advance()) finish(segment_->status());
      break;
    case Step::kError:
      finish(error().annotated(message("rank ", speaker)));
      break;
    case Step::kDone:
      break;
  }
}

void ScheduleLoad::sendError(int speaker) {
  setError(mine_);
  send(Step::kError, &error_, sizeof(error_), speaker);
}

void ScheduleLoad::sendFile() {
  if (geometry_.rank == 0) {
    setError(attempt([&] { return read(); }));
    std::memcpy(message_.get(), &error_, sizeof(error_));
  }
  send(Step::kFile, message_.get(), messageBytes(), 0);
}

void ScheduleLoad::setError(const Status& status) {
  error_ = {};
  error_.code = static_cast<std::int32_t>(status.code());
  status.message().copy(error_.text.data(), kTextBytes - 1);
}

Status ScheduleLoad::error() const {
  return {static_cast<StatusCode>(error_.code), error_.text.data()};
}

/// Puts the file into the message, behind the header.
Status ScheduleLoad::read() {
  std::vector<std::byte> bytes;
  if (held_) {
    bytes = writeSchedule(schedule_->view());
  } else {
    StatusOr<std::vector<std::byte>> found = readFile(path());
    if (!found.ok()) return found.status();
    bytes = std::move(*found);
  }
  if (bytes.size() != file_.bytes) {
    return {StatusCode::kMalformed,
            message(path(), ": has ", bytes.size(), " bytes, the index says ", file_.bytes)};
  }
  if (const std::uint64_t checksum = checksumOf(bytes); checksum != file_.checksum) {
    return {StatusCode::kMalformed,
            message(path(), ": checksum is ", std::hex, checksum, ", the index says ",
                    file_.checksum, ": the file is damaged, or of another library")};
  }
  std::copy(bytes.begin(), bytes.end(), message_.get() + sizeof(Error));
  return {};
}

/// Takes the file out of the message.
Status ScheduleLoad::check() {
  StatusOr<LoadedSchedule> loaded =
      readSchedule({message_.get() + sizeof(Error), file_.bytes}, path());
  if (!loaded.ok()) return loaded.status();
  if (Status status = serves(loaded->view()); !status.ok()) return status;
  schedule_ = library_.cache.add(entry_.file, std::exchange(reserved_, 0), std::move(*loaded));
  return bind();
}

/// Whether the file has what the index says.
Status ScheduleLoad::serves(const ScheduleView& view) const {
  const Status status = checkServes(library_.index, entry_, view);
  return status.ok() ? status : status.annotated(path());
}

Status ScheduleLoad::bind() {
  auto bound = torc_schedule::bind(&geometry_, schedule_);
  if (!bound.ok()) return bound.status().annotated(path());
  bound_ = std::move(*bound);
  return {};
}

/// All have the schedule.
void ScheduleLoad::succeed() {
  if (SegmentSetUp::isDone(geometry_)) return finish({});
  step_ = Step::kSegment;
  segment_->start();
}

void ScheduleLoad::finish(const Status& status) {
  step_ = Step::kDone;
  result_ = status;
  message_.reset();
  schedule_.reset();
  if (reserved_ > 0) library_.cache.cancel(std::exchange(reserved_, 0));
  if (!status.ok()) {
    bound_.reset();
    return;
  }
  if (Trace* trace = geometry_.context->trace.get(); trace != nullptr) {
    trace->record(TraceKind::kLoad, held_ ? "bind" : "load", file_.name, began_,
                  held_ ? 0 : file_.bytes);
  }
  bound_->serial = ++geometry_.schedules_loaded;
  ++geometry_.schedules;
}

StatusOr<torc_schedule*> ScheduleLoad::take() {
  if (!result_.ok()) return result_;
  return bound_.release();
}

StatusOr<torc_schedule*> loadNow(torc_geometry& geometry, const LibraryEntry& entry) {
  ScheduleLoad load(*geometry.library, geometry, entry);
  for (Backoff wait; !load.advance();) {
    geometry.context->advance();
    geometry.context->rest(wait);
  }
  return load.take();
}

}  // namespace torc::runtime
