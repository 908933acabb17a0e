// Programs that were compiled for one collective on one shape, and their graphs, kept: what is
// chosen from for one size is, mostly, what is chosen from for the next.
#ifndef TORC_COMPILER_COMPILE_CACHE_H_
#define TORC_COMPILER_COMPILE_CACHE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <llvm/Support/Error.h>

#include "compiler/compile.h"
#include "model/simulator/graph_cache.h"

namespace torc::compiler {

/// Threads may share it; what one is compiling, others wait for.
class CompileCache {
 public:
  explicit CompileCache(CollectiveSpec spec) : spec_(spec) {}

  const CollectiveSpec& spec() const { return spec_; }

  /// As `compile`, without verification between passes.
  llvm::Expected<std::shared_ptr<const ir::Program>> get(const Algorithm& algorithm,
                                                         const passes::PassPipeline& pipeline);

  /// The first one that was asked for of all programs that are equal, but for who made them.
  std::shared_ptr<const ir::Program> firstEqual(const std::shared_ptr<const ir::Program>& program);

  /// Of the programs that are simulated.
  model::GraphCache& graphs() { return graphs_; }

 private:
  struct Entry {
    std::once_flag once;
    std::shared_ptr<const ir::Program> program;  // or
    std::string refusal;
  };

  /// Compiles. What is in segments is made of the same program without them, which is kept.
  llvm::Expected<ir::Program> make(const Algorithm& algorithm, passes::PassPipeline pipeline,
                                   const passes::PassManagerOptions& options);

  const CollectiveSpec spec_;
  std::mutex mutex_;  // of the tables; an entry, once it is there, stays where it is
  std::map<std::pair<std::string, passes::PassPipeline>, Entry> entries_;
  std::multimap<std::size_t, std::shared_ptr<const ir::Program>> unequal_;  // by their operations
  model::GraphCache graphs_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMPILE_CACHE_H_
