// Groups parts, and makes texts for witnesses.
#include "ir/verifier/rule_context.h"

#include "ir/text/text.h"

namespace torc::ir {

VerifyContext::VerifyContext(const ScheduleView& written_view, const ScheduleView& schedule_view,
                             const Coordinates& root_at, const VerifyOptions& verify_options,
                             VerifyResult& verify_result)
    : written(written_view),
      schedule(schedule_view),
      topology(schedule_view.topology),
      root(root_at),
      options(verify_options),
      result(verify_result),
      parts(schedule_view),
      axes(schedule_view.blockAxes()),
      domains(schedule_view, verify_options.per_rank) {
  result.cells = domains.live().size();
  groupParts();
  countListedPieces();
}

void VerifyContext::groupParts() {
  // Each part of neighbours is for another neighbour.
  const bool all_apart = rowOf(schedule.collective).isOfNeighbours();
  first_of_group_.resize(parts.size() + 1, all_apart);  // and a final entry
  first_of_group_[0] = true;
  const auto cut = [&](const Piece& piece) {
    first_of_group_[piece.part] = first_of_group_[piece.part + piece.parts] = true;
  };
  for (const Operation& operation : schedule.operations) {
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present() && region->pieces == 0) cut({region->part, 1, region->box});
    }
  }
  for (const Frame& frame : schedule.frames) {
    if (frame.pieces == 0) cut({frame.part, 1, frame.box});
  }
  for (const Piece& piece : schedule.pieces)
    cut(piece);
}

void VerifyContext::countListedPieces() {
  std::vector<std::uint64_t> groups(parts.size() + 1, 0);  // before each part
  for (std::uint32_t part = 0; part < parts.size(); ++part)
    groups[part + 1] = groups[part] + (first_of_group_[part] ? 1 : 0);
  std::vector<std::uint64_t> visits(schedule.pieces.size() + 1, 0);  // before each piece
  for (std::size_t i = 0; i < schedule.pieces.size(); ++i) {
    const Piece& piece = schedule.pieces[i];
    // Skipping the other parts of a group costs less.
    visits[i + 1] =
        visits[i] + 1 + groups[piece.part + piece.parts] - groups[piece.part] + piece.parts / 64;
  }
  const auto count = [&](const auto& blocks) {
    if (blocks.pieces > 0)
      listed_pieces_ += visits[blocks.box + blocks.pieces] - visits[blocks.box];
  };
  for (const Operation& operation : schedule.operations) {
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present()) count(*region);
    }
  }
  for (const Frame& frame : schedule.frames)
    count(frame);
}

std::string VerifyContext::rankText(const Coordinates& at) const {
  std::string text = "rank " + std::to_string(topology.rankOf(at)) + " (";
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (axis > 0) text += ", ";
    text += static_cast<char>(topology.axes[axis].name - 'A' + 'a');
    text += "=" + std::to_string(at[axis]);
  }
  return text + ")";
}

std::string VerifyContext::blockText(const BlockCoordinates& at) const {
  if (axes.ends() == 1) return "the block of " + rankText(axes.nodeOf(at));
  return "the block from " + rankText(axes.nodeOf(at)) + " to " + rankText(axes.nodeOf(at, 1));
}

}  // namespace torc::ir
