// JSON of other systems: values with their lines. Long arrays are handed over element by element,
// so that a file of many ranks is never in memory as values. Numbers are integers.
#ifndef TORC_IR_JSON_LOCATED_JSON_H_
#define TORC_IR_JSON_LOCATED_JSON_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

namespace torc::ir {

struct LocatedJson {
  using Elements = std::vector<LocatedJson>;
  using Members = std::vector<std::pair<std::string, LocatedJson>>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Elements, Members> value;
  std::uint32_t line = 0;  // first line, from 1

  /// The member `key` of an object; nullptr: it has none, or is no object.
  const LocatedJson* find(llvm::StringRef key) const;
};

/// Reads the members of objects. The first fault is kept: after it all functions return empty
/// values, so that callers can check once at the end.
class LocatedJsonReader {
 public:
  explicit LocatedJsonReader(llvm::StringRef origin) : origin_(origin) {}

  /// `x.json:57: error: what`.
  void refuse(std::uint32_t line, const llvm::Twine& what);
  bool failed() const { return !fault_.empty(); }
  llvm::Error takeError() const;

  /// These refuse missing values and values of another type.
  std::int32_t number(const LocatedJson& object, llvm::StringRef key, std::int32_t lowest,
                      std::int32_t highest);
  std::int32_t numberOf(const LocatedJson& value, const llvm::Twine& what, std::int32_t lowest,
                        std::int32_t highest);
  bool boolean(const LocatedJson& object, llvm::StringRef key);
  llvm::StringRef text(const LocatedJson& object, llvm::StringRef key);
  const LocatedJson::Elements& elements(const LocatedJson& object, llvm::StringRef key);
  /// Empty if it is missing.
  const LocatedJson::Elements& elementsIfAny(const LocatedJson& object, llvm::StringRef key);

 private:
  const LocatedJson& member(const LocatedJson& object, llvm::StringRef key);
  /// Its value of a type; without one, reports `fault` and returns an empty value.
  template <typename T>
  const T& valueOf(const LocatedJson& object, llvm::StringRef key, const char* fault);

  llvm::StringRef origin_;
  std::string fault_;
};

/// Parses `text`. The elements of the array `streamed` of the root are passed to `take` one by one
/// and are not part of the result; `take` returns false to stop. Errors: those of parseJson, with
/// lines.
llvm::Expected<LocatedJson> parseLocatedJson(llvm::StringRef text, llvm::StringRef origin,
                                             llvm::StringRef streamed,
                                             llvm::function_ref<bool(const LocatedJson&)> take);

}  // namespace torc::ir

#endif  // TORC_IR_JSON_LOCATED_JSON_H_
