// Texts for witnesses.
#include "ir/verifier_context.h"

#include "ir/text.h"

namespace torc {

VerifyContext::VerifyContext(const ScheduleView& schedule_view, const VerifyOptions& verify_options,
                             VerifyResult& verify_result)
    : schedule(schedule_view),
      topology(schedule_view.topology),
      options(verify_options),
      result(verify_result),
      parts(schedule_view),
      classes(schedule_view, verify_options.per_rank) {
  result.classes = classes.count();
}

Ranges VerifyContext::rangesOf(const Region& region, const Coordinates& at) const {
  return resolve(schedule.boxes[region.box], topology, at);
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

std::string VerifyContext::blockText(const Coordinates& at) const {
  return "the block of " + rankText(at);
}

void VerifyContext::fault(Rule rule, std::uint32_t operation, const std::string& message) {
  if (!full()) result.faults.push_back({rule, operation, message});
}

}  // namespace torc
