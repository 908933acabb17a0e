// Pass: one transformation of a program. Options and statistics are members that register
// themselves, so that a pass prints as it was parsed: `pipeline{chunks=16}`.
#ifndef TORC_PASSES_MANAGER_PASS_H_
#define TORC_PASSES_MANAGER_PASS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "ir/program.h"

namespace torc::passes {

class Pass;

/// An option `name=value` of a pass.
class PassOption {
 public:
  PassOption(Pass& pass, llvm::StringRef name, llvm::StringRef description);
  PassOption(const PassOption&) = delete;
  virtual ~PassOption() = default;

  llvm::StringRef name() const { return name_; }
  llvm::StringRef description() const { return description_; }

  /// Sets the value; false if `text` is invalid, then the option keeps its value.
  [[nodiscard]] virtual bool parse(llvm::StringRef text) = 0;
  /// The value as `parse` reads it.
  virtual std::string value() const = 0;
  /// The values that `parse` accepts: `an integer from 1 to 4096`, `region or phase`.
  virtual std::string accepted() const = 0;

 private:
  llvm::StringRef name_, description_;
};

/// A number within limits, from 1 up; 0 for the word, if there is one, that leaves the choice to
/// the pass.
class IntegerOption final : public PassOption {
 public:
  IntegerOption(Pass& pass, llvm::StringRef name, llvm::StringRef description, std::uint32_t lowest,
                std::uint32_t highest, std::uint32_t value, llvm::StringRef word = "")
      : PassOption(pass, name, description),
        lowest_(lowest),
        highest_(highest),
        value_(value),
        word_(word) {}

  std::uint32_t operator*() const { return value_; }
  bool parse(llvm::StringRef text) override;
  std::string value() const override { return value_ == 0 ? word_.str() : std::to_string(value_); }
  std::string accepted() const override;

 private:
  std::uint32_t lowest_, highest_, value_;
  llvm::StringRef word_;
};

class BytesOption final : public PassOption {
 public:
  BytesOption(Pass& pass, llvm::StringRef name, llvm::StringRef description, std::uint64_t value)
      : PassOption(pass, name, description), value_(value) {}

  std::uint64_t operator*() const { return value_; }
  bool parse(llvm::StringRef text) override;
  std::string value() const override { return std::to_string(value_); }
  std::string accepted() const override;

 private:
  std::uint64_t value_;
};

/// A name or path.
class NameOption final : public PassOption {
 public:
  NameOption(Pass& pass, llvm::StringRef name, llvm::StringRef description, llvm::StringRef value)
      : PassOption(pass, name, description), value_(value) {}

  const std::string& operator*() const { return value_; }
  bool parse(llvm::StringRef text) override;
  std::string value() const override { return value_; }
  std::string accepted() const override { return "a name or path"; }

 private:
  std::string value_;
};

/// The word of a choice. `words(Choice)`, found beside the enumeration, lists the words of all
/// choices in order.
template <typename Choice>
llvm::StringRef word(Choice choice) {
  return words(choice)[static_cast<std::size_t>(choice)];
}

/// The choice of a word; std::nullopt if there is none.
template <typename Choice>
std::optional<Choice> choiceOf(llvm::StringRef word) {
  const llvm::ArrayRef<llvm::StringRef> all = words(Choice());
  const auto found = llvm::find(all, word);
  if (found == all.end()) return std::nullopt;
  return static_cast<Choice>(found - all.begin());
}

/// An option with a few words, given by an enumeration.
template <typename Choice>
class ChoiceOption final : public PassOption {
 public:
  ChoiceOption(Pass& pass, llvm::StringRef name, llvm::StringRef description, Choice value)
      : PassOption(pass, name, description), value_(value) {}

  Choice operator*() const { return value_; }
  bool parse(llvm::StringRef text) override {
    const std::optional<Choice> choice = choiceOf<Choice>(text);
    if (choice) value_ = *choice;
    return choice.has_value();
  }
  std::string value() const override { return word(value_).str(); }
  std::string accepted() const override { return llvm::join(words(value_), " or "); }

 private:
  Choice value_;
};

/// A number that a pass reports about its last run.
class PassStatistic {
 public:
  PassStatistic(Pass& pass, llvm::StringRef description);
  PassStatistic(const PassStatistic&) = delete;

  llvm::StringRef description() const { return description_; }
  double value() const { return value_; }
  PassStatistic& operator=(double value) {
    value_ = value;
    return *this;
  }

 private:
  llvm::StringRef description_;
  double value_ = 0;
};

/// The IR level of a pass.
enum class PassLevel { kPlan, kStep };

enum class PassResult { kWithoutChange, kWithChange };

/// Base class of passes. A pass keeps the program valid: a plan stays a plan or becomes steps that
/// compute the collective, and such steps still do so afterwards.
class Pass {
 public:
  Pass(llvm::StringRef name, llvm::StringRef description, PassLevel level)
      : name_(name), description_(description), level_(level) {}
  Pass(const Pass&) = delete;
  virtual ~Pass() = default;

  /// The name in a pipeline, equal to the file's name.
  llvm::StringRef name() const { return name_; }
  llvm::StringRef description() const { return description_; }
  PassLevel level() const { return level_; }
  /// Whether it may run on a program in segments.
  virtual bool takesSegments() const { return false; }

  /// Transforms `program`, which has this pass's level. Reports whether its text has changed. Error
  /// messages do not name the pass: the pass manager does.
  virtual llvm::Expected<PassResult> run(ir::Program& program) = 0;

  llvm::ArrayRef<PassOption*> options() const { return options_; }
  llvm::ArrayRef<PassStatistic*> statistics() const { return statistics_; }

  /// `name{option=value,...}` with all meaningful options and their values.
  std::string text() const;

  /// Whether `option` has a meaning with the values of the others.
  virtual bool means(const PassOption& option) const {
    (void)option;
    return true;
  }

 private:
  friend class PassOption;
  friend class PassStatistic;
  llvm::StringRef name_, description_;
  PassLevel level_;
  std::vector<PassOption*> options_;
  std::vector<PassStatistic*> statistics_;
};

inline PassResult changed(bool whether) {
  return whether ? PassResult::kWithChange : PassResult::kWithoutChange;
}

}  // namespace torc::passes

#endif  // TORC_PASSES_MANAGER_PASS_H_
