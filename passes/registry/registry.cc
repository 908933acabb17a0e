// Makes passes from values and names.
#include "passes/registry/registry.h"

namespace torc::passes {
namespace {

template <typename... Specs>
std::vector<std::unique_ptr<Pass>> oneOfEach(const std::variant<Specs...>*) {
  std::vector<std::unique_ptr<Pass>> passes;
  (passes.push_back(makePass(Specs())), ...);
  return passes;
}

}  // namespace

std::unique_ptr<Pass> makePass(const PassSpec& spec) {
  return std::visit([](const auto& of) { return makePass(of); }, spec);
}

std::vector<std::unique_ptr<Pass>> createAllPasses() {
  return oneOfEach(static_cast<const PassSpec*>(nullptr));
}

std::unique_ptr<Pass> createPass(llvm::StringRef name) {
  for (std::unique_ptr<Pass>& pass : createAllPasses()) {
    if (pass->name() == name) return std::move(pass);
  }
  return nullptr;
}

}  // namespace torc::passes
