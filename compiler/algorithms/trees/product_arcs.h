// The hops of the trees of a rule (product_tree_rule.h), in boxes of nodes.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_ARCS_H_
#define TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_ARCS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "compiler/algorithms/trees/product_tree_rule.h"
#include "compiler/algorithms/trees/root_classes.h"

namespace torc::compiler {

/// Messages of a tree that go by `sign` along `axis`, from `parents` to `children`, for any root.
struct ArcBoxes {
  std::uint32_t axis = 0;
  int sign = 1;
  Box children, parents;
};

/// The messages of a tree of `rule`; `axes` and `sizes` are those of the rule and of `grid`.
std::vector<ArcBoxes> productArcs(llvm::ArrayRef<TreeAxis> axes,
                                  llvm::ArrayRef<std::uint32_t> sizes, const TreeRule& rule,
                                  const RootGrid& grid, std::uint32_t tree);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_ARCS_H_
