// Appends lists of pieces, frames, loops and operations.
#include "ir/schedule_builder.h"

#include <algorithm>

#include <llvm/ADT/SmallVector.h>

namespace torc::ir {
std::uint32_t ScheduleBuilder::peer(const ScheduleView& other, const Operation& operation) {
  return operation.hasPeerLoop() ? peerLoop(other.peer_loops[operation.peer])
                                 : shift(other.shifts[operation.peer]);
}

void ScheduleBuilder::addStorage(const ScheduleView& other) {
  for (const Stream& stream : other.streams)
    addStream(stream);
  // The pieces of a list are stored when its boxes are.
  for (const Frame& frame : other.frames)
    addFrame(piecesOf(other, frame), frame.slot, frame.copies);
  schedule_.slot_count = other.slot_count;
}

std::uint32_t ScheduleBuilder::pieces(llvm::ArrayRef<Piece> list) {
  const auto first = static_cast<std::uint32_t>(schedule_.pieces.size());
  const auto [entry, inserted] = pieces_.try_emplace(list.vec(), first);
  if (inserted) schedule_.pieces.insert(schedule_.pieces.end(), list.begin(), list.end());
  return entry->second;
}

Region ScheduleBuilder::region(Buffer buffer, llvm::ArrayRef<Piece> list, std::uint32_t frame) {
  if (list.size() == 1 && list.front().parts == 1) {
    return boxRegion(buffer, list.front().part, list.front().box, frame);
  }
  return {.buffer = buffer,
          .pieces = static_cast<std::uint16_t>(list.size()),
          .box = pieces(list),
          .frame = frame};
}

std::uint32_t ScheduleBuilder::addFrame(llvm::ArrayRef<Piece> list, std::uint32_t slot,
                                        std::uint32_t copies) {
  const Region all = region(Buffer::kScratch, list);
  return addFrame({.part = all.part,
                   .box = all.box,
                   .slot = slot,
                   .pieces = all.pieces,
                   .copies = static_cast<std::uint16_t>(copies)});
}

std::uint32_t ScheduleBuilder::addStream(const Stream& stream) {
  schedule_.streams.push_back(stream);
  return static_cast<std::uint32_t>(schedule_.streams.size() - 1);
}

std::uint32_t ScheduleBuilder::addFrame(const Frame& frame) {
  schedule_.slot_count = std::max(schedule_.slot_count, frame.group() + frame.copies);
  schedule_.frames.push_back(frame);
  return static_cast<std::uint32_t>(schedule_.frames.size() - 1);
}

void ScheduleBuilder::beginLoop(std::uint32_t count) {
  const auto begin = static_cast<std::uint32_t>(schedule_.operations.size());
  open_loops_.push_back(static_cast<std::uint32_t>(schedule_.loops.size()));
  schedule_.loops.push_back({begin, begin, count});
}

void ScheduleBuilder::endLoop() {
  schedule_.loops[open_loops_.back()].end = static_cast<std::uint32_t>(schedule_.operations.size());
  open_loops_.pop_back();
}

std::uint32_t ScheduleBuilder::addOperation(Operation operation,
                                            llvm::ArrayRef<std::uint32_t> dependences) {
  llvm::SmallVector<std::uint32_t, 8> sorted(dependences.begin(), dependences.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  operation.first_dependence = static_cast<std::uint32_t>(schedule_.dependences.size());
  operation.dependence_count = static_cast<std::uint32_t>(sorted.size());
  schedule_.dependences.insert(schedule_.dependences.end(), sorted.begin(), sorted.end());
  schedule_.operations.push_back(operation);
  return static_cast<std::uint32_t>(schedule_.operations.size() - 1);
}

}  // namespace torc::ir
