// PassPipeline: a list of passes with their options, as a value that can be compared, ordered and
// printed. The compiler makes and runs these; only users' text is parsed (pipeline_text.h).
#ifndef TORC_PASSES_REGISTRY_PASS_PIPELINE_H_
#define TORC_PASSES_REGISTRY_PASS_PIPELINE_H_

#include <compare>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "passes/registry/registry.h"

namespace torc::passes {

class PassPipeline {
 public:
  PassPipeline() = default;
  PassPipeline(std::initializer_list<PassSpec> specs) : specs_(specs) {}

  bool empty() const { return specs_.empty(); }
  void add(PassSpec spec) { specs_.push_back(std::move(spec)); }
  /// Appends the passes of another pipeline.
  void add(const PassPipeline& then) {
    specs_.insert(specs_.end(), then.specs_.begin(), then.specs_.end());
  }

  /// Cuts `segment` off, if it is the last pass, and returns a pipeline of it alone; else an empty
  /// one.
  PassPipeline takeSegments();

  /// Cores of each node by `lead-cores`; 0: without that pass.
  std::uint32_t ledCores() const;

  /// New passes for one run.
  std::vector<std::unique_ptr<Pass>> passes() const;
  /// `expand-rings,pipeline{chunks=16}`, as for `torc opt --passes`.
  std::string text() const;

  auto operator<=>(const PassPipeline&) const = default;

 private:
  std::vector<PassSpec> specs_;
};

}  // namespace torc::passes

#endif  // TORC_PASSES_REGISTRY_PASS_PIPELINE_H_
