// What variables TORC_... were and said in earlier versions, and what takes their place.
#ifndef TORC_SETTINGS_RETIRED_H_
#define TORC_SETTINGS_RETIRED_H_

#include <string>
#include <string_view>

namespace torc {

/// The warning about a variable or value that has no effect any more; empty: it is none of those.
std::string retiredWarning(std::string_view name, std::string_view value);

/// The variable that a former one is now, and its value. Without a name: it is no former one.
struct NewForm {
  std::string_view name;
  std::string value;
};
NewForm newFormOf(std::string_view name, std::string_view value);

}  // namespace torc

#endif  // TORC_SETTINGS_RETIRED_H_
