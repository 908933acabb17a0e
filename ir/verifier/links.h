// What the rule on links checks in the same way for classes of nodes and for cells.
#ifndef TORC_IR_VERIFIER_LINKS_H_
#define TORC_IR_VERIFIER_LINKS_H_

#include <cstdint>
#include <map>
#include <set>

#include "ir/verifier/context.h"
#include "ir/verifier/ranges.h"

namespace torc::ir {

/// All links of one axis and sign, in one phase.
struct PhaseLinks {
  std::uint32_t phase;
  std::uint32_t axis;
  int sign;
  auto operator<=>(const PhaseLinks&) const = default;
};

/// A fault if `operation`, a send, takes a dead link or goes through a dead node from one of the
/// nodes of `senders`.
void checkDamage(VerifyContext& context, std::uint32_t operation, const RangesList& senders);

/// Adds the colors whose parts are in `region`.
void addColors(const VerifyContext& context, const Region& region, std::set<std::uint32_t>& colors);
/// A fault where two colors use the same links of a phase and conflict-free phases are promised.
void checkPromise(VerifyContext& context,
                  const std::map<PhaseLinks, std::set<std::uint32_t>>& colors);
/// Slots and scratch of the result.
void measureScratch(VerifyContext& context);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_LINKS_H_
