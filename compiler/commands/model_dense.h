// torc model gemm, torc model lu: what dense linear algebra takes on a torus, by collective.
#ifndef TORC_COMPILER_COMMANDS_MODEL_DENSE_H_
#define TORC_COMPILER_COMMANDS_MODEL_DENSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/linalg/dense_cost.h"
#include "model/machines/machine.h"

namespace torc::compiler {

/// gemm or lu; nothing else is one.
bool isDenseModel(llvm::StringRef name);

struct DenseModelOptions {
  bool lu = false;
  double flop_rate = 0;  // flop/s of a node; 0: the machine's
  std::uint64_t panel = 0;
  bool pivoting = false;
  bool single = false;
};

/// The predictions of one size: by the 2-D algorithms on as square a grid as the nodes allow, and
/// by the 2.5D algorithm whose grid is the torus.
struct DenseModel {
  std::uint64_t size = 0;
  struct Way {
    std::string name;
    model::DenseGrid grid;
    model::DenseCost cost;
  };
  std::vector<Way> ways;
};

/// An error where the torus has more than three dimensions, or more layers than the cube root of
/// its nodes, the node's flop rate is not known, or sizes and panels do not fit.
llvm::Expected<std::vector<DenseModel>> predictDense(const model::Machine& machine,
                                                     const std::vector<std::uint64_t>& sizes,
                                                     const DenseModelOptions& options);

/// The predictions as a table, or as JSON.
std::string denseTable(const model::Machine& machine, const DenseModelOptions& options,
                       const std::vector<DenseModel>& models);
std::string denseJson(const model::Machine& machine, const DenseModelOptions& options,
                      const std::vector<DenseModel>& models);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_MODEL_DENSE_H_
