// PassPipeline: which passes run, with which options, as a value that can be compared, ordered and
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
  /// Adds the passes of another pipeline behind these.
  void add(const PassPipeline& then) {
    specs_.insert(specs_.end(), then.specs_.begin(), then.specs_.end());
  }

  /// Cuts `segment` off, if it is the last pass, and returns a pipeline of it alone; else an empty
  /// one.
  PassPipeline takeSegments();

  /// Cores that `lead-cores` gives each node; 0: it is not there.
  std::uint32_t ledCores() const;

  /// New passes, to be run once.
  std::vector<std::unique_ptr<Pass>> passes() const;
  /// `expand-rings,pipeline{chunks=16}`: as `torc opt --passes` takes it.
  std::string text() const;

  auto operator<=>(const PassPipeline&) const = default;

 private:
  std::vector<PassSpec> specs_;
};

}  // namespace torc::passes

#endif  // TORC_PASSES_REGISTRY_PASS_PIPELINE_H_
