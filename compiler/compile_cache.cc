// Compiles each program once.
#include "compiler/compile_cache.h"

namespace torc::compiler {

llvm::Expected<std::shared_ptr<const ir::Program>> CompileCache::get(
    const Algorithm& algorithm, const passes::PassPipeline& pipeline) {
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = &entries_[{algorithm.name.str(), pipeline}];
  }
  std::call_once(entry->once, [&] {
    passes::PassManagerOptions options;
    options.verify_each = false;
    llvm::Expected<ir::Program> program = compile(spec_, algorithm, pipeline, options);
    if (program) {
      entry->program = std::make_shared<const ir::Program>(std::move(*program));
    } else {
      entry->refusal = toString(program.takeError());
    }
  });
  if (entry->program) return entry->program;
  return llvm::createStringError(llvm::inconvertibleErrorCode(), llvm::Twine(entry->refusal));
}

}  // namespace torc::compiler
