// Parser of pipelines.
#include "passes/registry/pipeline_text.h"

#include <cctype>
#include <memory>

#include "ir/make_error.h"
#include "passes/registry/registry.h"

namespace torc::passes {
namespace {

bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

bool isValueCharacter(char c) {
  return isNameCharacter(c) || c == '/';  // a path
}

class PipelineParser {
 public:
  explicit PipelineParser(llvm::StringRef text) : text_(text) {}

  llvm::Expected<std::vector<std::unique_ptr<Pass>>> parse() {
    if (llvm::Error error = parsePasses()) return error;
    return std::move(passes_);
  }

 private:
  llvm::Error parsePasses() {
    skipBlanks();
    if (atEnd()) return llvm::Error::success();
    do {
      if (llvm::Error error = parsePass()) return error;
    } while (take(','));
    if (!atEnd()) return fault(position_, "expected ',' or the end, found " + here());
    return llvm::Error::success();
  }

  llvm::Error parsePass() {
    const std::size_t place = position_;
    const llvm::StringRef name = takeName();
    if (name.empty()) return fault(place, "expected the name of a pass, found " + here());
    std::unique_ptr<Pass> pass = createPass(name);
    if (!pass) {
      return fault(place, "there is no pass '" + name + "'; torc opt --list-passes names them");
    }
    if (take('{') && !take('}')) {
      do {
        if (llvm::Error error = parseOption(*pass)) return error;
      } while (take(','));
      if (!take('}')) return fault(position_, "expected ',' or '}', found " + here());
    }
    passes_.push_back(std::move(pass));
    return llvm::Error::success();
  }

  llvm::Error parseOption(Pass& pass) {
    const std::size_t place = position_;
    const llvm::StringRef name = takeName();
    if (name.empty()) return fault(place, "expected an option, found " + here());
    PassOption* option = nullptr;
    std::string known;
    for (PassOption* candidate : pass.options()) {
      if (candidate->name() == name) option = candidate;
      known += (known.empty() ? "" : ", ") + candidate->name().str();
    }
    if (!option) {
      return fault(place, "pass '" + pass.name() + "' has no option '" + name + "' (" +
                              (known.empty() ? "it has none" : "options: " + known) + ")");
    }
    if (!take('=')) return fault(position_, "expected '=' after '" + name + "', found " + here());
    const std::size_t value_place = position_;
    const llvm::StringRef value = takeValue();
    if (!option->parse(value)) {
      return fault(value_place,
                   "option '" + name + "' takes " + option->accepted() + ", not '" + value + "'");
    }
    return llvm::Error::success();
  }

  bool atEnd() const { return position_ == text_.size(); }

  void skipBlanks() {
    while (!atEnd() && std::isspace(static_cast<unsigned char>(text_[position_])))
      ++position_;
  }

  bool take(char mark) {
    if (atEnd() || text_[position_] != mark) return false;
    ++position_;
    skipBlanks();
    return true;
  }

  llvm::StringRef takeName() { return takeWhile(isNameCharacter); }
  llvm::StringRef takeValue() { return takeWhile(isValueCharacter); }

  llvm::StringRef takeWhile(bool (*belongs)(char)) {
    const llvm::StringRef word = text_.substr(position_).take_while(belongs);
    position_ += word.size();
    skipBlanks();
    return word;
  }

  std::string here() const {
    return atEnd() ? "the end" : "'" + text_.substr(position_, 1).str() + "'";
  }

  llvm::Error fault(std::size_t place, const llvm::Twine& what) {
    return makeError("passes:1:" + llvm::Twine(place + 1) + ": error: " + what);
  }

  llvm::StringRef text_;
  std::vector<std::unique_ptr<Pass>> passes_;
  std::size_t position_ = 0;
};

}  // namespace

llvm::Expected<std::vector<std::unique_ptr<Pass>>> parsePipeline(llvm::StringRef text) {
  return PipelineParser(text).parse();
}

std::string pipelineText(llvm::ArrayRef<std::unique_ptr<Pass>> passes) {
  std::string text;
  for (const auto& pass : passes)
    text += (text.empty() ? "" : ",") + pass->text();
  return text;
}

}  // namespace torc::passes
