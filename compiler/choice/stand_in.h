// Stand-ins: a smaller machine of the same kind, to simulate a schedule on where the machine itself
// would be too much work because its nodes differ (lines: mesh axes, cut rings; dead nodes).
#ifndef TORC_COMPILER_CHOICE_STAND_IN_H_
#define TORC_COMPILER_CHOICE_STAND_IN_H_

#include <array>
#include <cstdint>
#include <optional>

#include "compiler/target.h"

namespace torc::compiler {

/// The machine with the axes of `shrink` cut to `share` of their sizes, again and again, until no
/// more than `most` nodes differ, the product of their sizes. Odd sizes stay odd and even ones
/// even; dead nodes and links stay as far from the first dead one on rings, and from the beginning
/// on lines, as there is room. None where no axis is long enough, or the damage would cut the
/// smaller machine apart.
std::optional<Target> standInFor(const Topology& topology, const model::Machine& machine,
                                 const std::array<bool, kMaxAxes>& shrink, std::uint64_t most,
                                 double share = 0.5);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_STAND_IN_H_
