// Makes the parts and streams of strands.
#include "passes/analysis/strands.h"

#include "ir/make_error.h"
#include "passes/manager/pass.h"

namespace torc::passes {
namespace {

/// Whether the rings of `color` are half-latency ones: all of them, or none; else an error.
llvm::Expected<bool> isHalfLatency(const ir::Program& plan, std::uint32_t color) {
  bool any = false, all = true;
  for (const ir::PlanOperation& ring : plan.plan) {
    if (!ring.isRing() || ring.color != color) continue;
    any |= ring.half_latency;
    all &= ring.half_latency;
  }
  if (!any) return false;
  if (!all) return makeError("some rings of color " + llvm::Twine(color) + " are half-latency");
  if (plan.schedule.colors[color].directions != 2) {
    return makeError("half-latency rings of color " + llvm::Twine(color) +
                     " need its data in two directions");
  }
  return true;
}

}  // namespace

llvm::Expected<std::vector<Strand>> makeStrands(const ir::Program& plan,
                                                ir::ScheduleBuilder& builder) {
  const std::vector<Color>& colors = plan.schedule.colors;
  std::vector<Strand> strands;
  std::uint32_t first = 0;  // part of the color
  for (std::uint32_t color = 0; color < colors.size(); ++color) {
    const Color& of = colors[color];
    llvm::Expected<bool> half_latency = isHalfLatency(plan, color);
    if (!half_latency) return half_latency.takeError();
    const std::uint32_t parts = of.directions * of.chunks;
    for (std::uint32_t i = 0; i < (*half_latency ? of.chunks : parts); ++i) {
      Strand strand(plan.schedule, color);
      strand.direction = i / of.chunks;
      strand.parts.push_back(first + i);
      if (*half_latency) {
        strand.parts.push_back(first + of.chunks + i);
        strand.first_stream = builder.addStream({kNone, 0});
        builder.addStream({kNone, 0});
      } else {
        strand.first_stream = builder.addStream({first + i, 0});
      }
      strands.push_back(std::move(strand));
    }
    first += parts;
  }
  return strands;
}

}  // namespace torc::passes
