// Numbers boxes, pieces and shifts in the order in which the text form names them.
#include <string>

#include <llvm/ADT/SmallVector.h>

#include "ir/schedule_builder.h"
#include "ir/text/text.h"

namespace torc {

Schedule canonicalize(const ScheduleView& from) {
  Schedule header;
  header.collective = from.collective;
  header.flags = from.flags;
  header.topology = from.topology;
  header.name = std::string(from.name);
  header.producer = std::string(from.producer);
  header.colors.assign(from.colors.begin(), from.colors.end());
  ScheduleBuilder builder(header);
  for (const Stream& stream : from.streams)
    builder.addStream(stream);
  // The pieces of a list are stored when its boxes are.
  llvm::SmallVector<Piece, 8> list;
  const auto pieces = [&](const auto& blocks) -> llvm::ArrayRef<Piece> {
    list.clear();
    for (const Piece& piece : from.piecesOf(blocks))
      list.push_back({piece.part, piece.parts, builder.box(from.boxes[piece.box])});
    return list;
  };
  for (const Frame& frame : from.frames)
    builder.addFrame(pieces(frame), frame.slot);
  builder.schedule().slot_count = from.slot_count;
  for (Operation operation : from.operations) {
    for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present()) {
        *region = builder.region(region->buffer, pieces(*region), region->frame);
      }
    }
    if (operation.peer != kNone) operation.peer = builder.shift(from.shifts[operation.peer]);
    if (operation.guard != kNone) operation.guard = builder.box(from.boxes[operation.guard]);
    const auto dependences = from.dependencesOf(operation);
    builder.addOperation(operation, {dependences.data(), dependences.size()});
  }
  return builder.take();
}

}  // namespace torc
