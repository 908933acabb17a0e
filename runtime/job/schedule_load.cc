// Loads a schedule of a library in a few steps, each of which waits for one nonblocking collective.
#include "runtime/job/schedule_load.h"

#include <algorithm>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/trace/trace.h"
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
    // Receives the file if other ranks lack it. Untouched memory is only address space.
    message_ = std::make_unique_for_overwrite<std::byte[]>(file_.bytes + 1);
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
  const AgreedField fields[] = {
      {.value = std::uint64_t{entry_.file} << 8 | static_cast<std::uint64_t>(entry_.collective),
       .compared = false},
      {.value = held_ ? 0u : 1u, .compared = false}};
  geometry_.agreement.start(mine_, fields);
}

ScheduleLoad::~ScheduleLoad() {
  if (reserved_ > 0) library_.cache.cancel(reserved_);
}

std::string ScheduleLoad::path() const {
  return libraryFilePath(library_.options.directory, file_.name);
}

bool ScheduleLoad::advance() {
  while (step_ != Step::kDone && isOver())
    proceed();
  return done();
}

/// Whether the collective of the step is complete.
bool ScheduleLoad::isOver() {
  if (step_ == Step::kSegment) return segment_->advance();
  if (step_ == Step::kFile) return geometry_.agreement.collective().advance();
  return geometry_.agreement.advance();
}

void ScheduleLoad::proceed() {
  Agreement& agreement = geometry_.agreement;
  switch (step_) {
    case Step::kAsk:
      lowest_ = agreement.least(0);
      entries_differ_ = lowest_ != agreement.most(0);
      if (entries_differ_) {
        finish({StatusCode::kMismatch, message("calls differ between the ranks: this one is for ",
                                               file_.name, ", another one is not")});
      } else if (agreement.error().ok() && agreement.most(1) != 0) {
        sendFile();
      } else {
        conclude();
      }
      break;
    case Step::kFile:
      if (Status status = agreement.collective().status(); !status.ok()) return finish(status);
      if (message_[file_.bytes] == std::byte{0}) {
        if (mine_.ok()) mine_ = {StatusCode::kIo, "rank 0 has no file"};
      } else if (!held_) {
        mine_ = attempt([&] { return check(); });
      }
      step_ = Step::kOutcome;
      agreement.start(mine_);
      break;
    case Step::kOutcome:
      conclude();
      break;
    case Step::kSegment:
      finish(segment_->status());
      break;
    case Step::kDone:
      break;
  }
}

void ScheduleLoad::sendFile() {
  step_ = Step::kFile;
  if (geometry_.rank == 0) {
    mine_ = attempt([&] { return read(); });
    message_[file_.bytes] = std::byte{mine_.ok()};
  }
  geometry_.agreement.collective().broadcast(geometry_.comm, message_.get(), file_.bytes + 1, 0);
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
  std::copy(bytes.begin(), bytes.end(), message_.get());
  return {};
}

/// Reads the file from the message.
Status ScheduleLoad::check() {
  StatusOr<LoadedSchedule> loaded = readSchedule({message_.get(), file_.bytes}, path());
  if (!loaded.ok()) return loaded.status();
  if (Status status = serves(loaded->view()); !status.ok()) return status;
  schedule_ = library_.cache.add(entry_.file, std::exchange(reserved_, 0), std::move(*loaded));
  return bind();
}

/// Whether the file matches the index.
Status ScheduleLoad::serves(const ScheduleView& view) const {
  return checkServes(library_.index, entry_, view).annotated(path());
}

Status ScheduleLoad::bind() {
  auto bound = torc_schedule::bind(&geometry_, schedule_);
  if (bound.ok()) bound_ = std::move(*bound);
  return bound.status().annotated(path());
}

/// All have the schedule, or none.
void ScheduleLoad::conclude() {
  const Status status = geometry_.agreement.result();
  if (!status.ok() || SegmentSetUp::isDone(geometry_)) return finish(status);
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
}

StatusOr<torc_schedule*> ScheduleLoad::take() {
  if (!result_.ok()) return result_;
  return bound_.release();
}

StatusOr<torc_schedule*> loadNow(torc_geometry& geometry, const LibraryEntry& entry) {
  ScheduleLoad load(*geometry.library, geometry, entry);
  geometry.context->progressUntil([&] { return load.advance(); });
  return load.take();
}

}  // namespace torc::runtime
