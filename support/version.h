// The version of torc: of the compiler, stored in its output, and of the runtime.
#ifndef TORC_SUPPORT_VERSION_H_
#define TORC_SUPPORT_VERSION_H_

#include <string_view>

namespace torc {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace torc

#endif  // TORC_SUPPORT_VERSION_H_
