// detour-cuts: rings cut by dead links stay rings; their messages take detours there.
//
// If all dead links along an axis are at one coordinate, its rings can run as lines, on all of the
// torus: all links are loaded alike, but each carries up to twice as much. As rings, only the cut
// ones have detours (ring_detours.h), whose links carry more. On large tori the total is smaller;
// the choice compares both.
#ifndef TORC_PASSES_DETOURS_DETOUR_CUTS_H_
#define TORC_PASSES_DETOURS_DETOUR_CUTS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

struct DetourCutsPass {
  auto operator<=>(const DetourCutsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const DetourCutsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_DETOURS_DETOUR_CUTS_H_
