// The version of the compiler, which goes into what it makes.
#ifndef TORC_COMPILER_VERSION_H_
#define TORC_COMPILER_VERSION_H_

#include <string_view>

namespace torc {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace torc

#endif  // TORC_COMPILER_VERSION_H_
