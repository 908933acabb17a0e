// Cache of compiled programs for one collective on one shape, and of their graphs: the candidates
// for different sizes are mostly equal.
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

/// Thread-safe; threads wait for a compilation in progress.
class CompileCache {
 public:
  explicit CompileCache(CollectiveSpec spec) : spec_(spec) {}

  const CollectiveSpec& spec() const { return spec_; }

  /// As `compile`, without verification between passes.
  llvm::Expected<std::shared_ptr<const ir::Program>> get(const Algorithm& algorithm,
                                                         const passes::PassPipeline& pipeline);

  /// The first requested program that equals `program` except for its producer.
  std::shared_ptr<const ir::Program> firstEqual(const std::shared_ptr<const ir::Program>& program);

  /// Graphs of the simulated programs.
  model::GraphCache& graphs() { return graphs_; }

 private:
  struct Entry {
    std::once_flag once;
    std::shared_ptr<const ir::Program> program;  // or
    std::string refusal;
  };

  /// Compiles. A program in segments is derived from the same program without them, which is cached
  /// too.
  llvm::Expected<ir::Program> make(const Algorithm& algorithm, passes::PassPipeline pipeline,
                                   const passes::PassManagerOptions& options);

  const CollectiveSpec spec_;
  std::mutex mutex_;  // protects the tables; entries are never moved
  std::map<std::pair<std::string, passes::PassPipeline>, Entry> entries_;
  std::multimap<std::size_t, std::shared_ptr<const ir::Program>> unequal_;  // by operation count
  model::GraphCache graphs_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMPILE_CACHE_H_
