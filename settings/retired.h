// Retired variables and values of TORC_..., and their replacements.
#ifndef TORC_SETTINGS_RETIRED_H_
#define TORC_SETTINGS_RETIRED_H_

#include <string>
#include <string_view>

namespace torc {

/// The warning about a variable or value without effect; empty for others.
std::string retiredWarning(std::string_view name, std::string_view value);

/// The replacement of a retired variable, with its value. An empty name: not retired.
struct NewForm {
  std::string_view name;
  std::string value;
};
NewForm newFormOf(std::string_view name, std::string_view value);

}  // namespace torc

#endif  // TORC_SETTINGS_RETIRED_H_
