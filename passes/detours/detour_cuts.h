// detour-cuts: rings that dead links cut stay rings; what they would carry there takes detours.
//
// Where all dead links along an axis lie at one coordinate, its rings run as lines, on all of the
// torus: all links are loaded alike, but each carries up to twice as much. As rings, those that are
// cut have detours (ring_detours.h), whose links carry more, and the others none. On large tori
// that is less; which is faster the choice finds out.
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
