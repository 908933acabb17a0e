// Compiles each program once.
#include "compiler/compile_cache.h"

#include "ir/make_error.h"

namespace torc::compiler {

llvm::Expected<ir::Program> CompileCache::make(const Algorithm& algorithm,
                                               passes::PassPipeline pipeline,
                                               const passes::PassManagerOptions& options) {
  const passes::PassPipeline segments = pipeline.takeSegments();
  if (segments.empty() || pipeline.empty()) {
    pipeline.add(segments);
    return compile(spec_, algorithm, pipeline, options);
  }
  auto uncut = get(algorithm, pipeline);
  if (!uncut) return uncut.takeError();
  return compileOn(**uncut, segments, options);
}

llvm::Expected<std::shared_ptr<const ir::Program>> CompileCache::get(
    const Algorithm& algorithm, const passes::PassPipeline& pipeline) {
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = &entries_[{algorithm.name.str(), pipeline}];
  }
  std::call_once(entry->once, [&] {
    llvm::Expected<ir::Program> program = make(algorithm, pipeline, {.verify_each = false});
    if (program) {
      entry->program = std::make_shared<const ir::Program>(std::move(*program));
    } else {
      entry->refusal = toString(program.takeError());
    }
  });
  if (entry->program) return entry->program;
  return makeError(llvm::Twine(entry->refusal));
}

std::shared_ptr<const ir::Program> CompileCache::firstEqual(
    const std::shared_ptr<const ir::Program>& program) {
  const std::lock_guard lock(mutex_);
  ScheduleView schedule = program->schedule.view();
  schedule.producer = {};
  const auto [first, last] = unequal_.equal_range(schedule.operations.size());
  for (auto other = first; other != last; ++other) {
    ScheduleView others = other->second->schedule.view();
    others.producer = {};
    if (other->second == program || (others == schedule && other->second->plan == program->plan))
      return other->second;
  }
  return unequal_.emplace(schedule.operations.size(), program)->second;
}

}  // namespace torc::compiler
