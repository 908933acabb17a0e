#include "compiler/algorithms/trees/product_arcs.h"

#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {

std::vector<ArcBoxes> productArcs(llvm::ArrayRef<TreeAxis> axes,
                                  llvm::ArrayRef<std::uint32_t> sizes, const TreeRule& rule,
                                  const RootGrid& grid, std::uint32_t tree) {
  std::vector<ArcBoxes> arcs;
  const auto add = [&](std::uint32_t axis, int sign, const Box& children) {
    arcs.push_back({axis, sign, children, movedBack(children, axis, sign, sizes[axis])});
  };
  for (std::uint32_t axis = 0; axis < axes.size(); ++axis) {
    for (const int sign : {1, -1, 0}) {
      for (const Box& box : grid.cover([&](RootClasses at) {
             return llvm::any_of(at, [](RootClass of) { return of != RootClass::kAtRoot; }) &&
                    rule.into(tree, at) == TreeHop{axis, sign};
           })) {
        if (sign != 0 || axes[axis] != TreeAxis::kLine) {
          add(axis, sign != 0 ? sign : -1, box);
          continue;
        }
        Box children = box;
        children[axis] = Interval::rootWithin(0, sizes[axis] - 1);
        add(axis, -1, children);
        children[axis] = Interval::rootWithin(static_cast<std::int32_t>(sizes[axis]) - 1, 1);
        add(axis, 1, children);
      }
    }
  }
  return arcs;
}

}  // namespace torc::compiler
