// Registers, parses and prints options of passes.
#include "passes/manager/pass.h"

namespace torc::passes {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 60;

}  // namespace

PassOption::PassOption(Pass& pass, llvm::StringRef name, llvm::StringRef description)
    : name_(name), description_(description) {
  pass.options_.push_back(this);
}

PassStatistic::PassStatistic(Pass& pass, llvm::StringRef description) : description_(description) {
  pass.statistics_.push_back(this);
}

bool IntegerOption::parse(llvm::StringRef text) {
  std::uint32_t value = 0;
  const bool is_word = !word_.empty() && text == word_;
  if (!is_word && (text.getAsInteger(10, value) || value < lowest_ || value > highest_)) {
    return false;
  }
  value_ = value;
  return true;
}

std::string IntegerOption::accepted() const {
  return "an integer from " + std::to_string(lowest_) + " to " + std::to_string(highest_) +
         (word_.empty() ? "" : " or " + word_.str());
}

bool BytesOption::parse(llvm::StringRef text) {
  std::uint64_t value = 0;
  if (text.getAsInteger(10, value) || value > kMaxBytes) return false;
  value_ = value;
  return true;
}

std::string BytesOption::accepted() const {
  return "a number of bytes up to " + std::to_string(kMaxBytes);
}

bool NameOption::parse(llvm::StringRef text) {
  if (text.empty()) return false;
  value_ = text.str();
  return true;
}

std::string Pass::text() const {
  std::string text = name_.str();
  for (const PassOption* option : options_) {
    if (!means(*option)) continue;
    text += text.size() == name_.size() ? '{' : ',';
    text += option->name();
    text += '=';
    text += option->value();
  }
  if (text.size() > name_.size()) text += '}';
  return text;
}

}  // namespace torc::passes
