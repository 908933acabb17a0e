// Values of settings and options: numbers, sizes, lists and names, read from text.
#ifndef TORC_SUPPORT_SETTING_VALUES_H_
#define TORC_SUPPORT_SETTING_VALUES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace torc {

/// Reads "4096", "64K", "256MB", "1GiB" (all powers of 1024; small letters too), at most 1024G.
std::optional<std::uint64_t> parseBytes(std::string_view text);

/// Reads a decimal number of at most `highest`.
std::optional<std::uint64_t> parseNumber(std::string_view text, std::uint64_t highest);

/// Splits "json:FILE" into form and file. A word with a colon is a form, never a file name: a
/// misspelt form would become a file. Without a form the first text is empty.
std::pair<std::string_view, std::string_view> splitForm(std::string_view value);

/// The nearest of `names` to `name`; empty if more than a third of all letters would change.
std::string_view nearestName(std::string_view name, std::span<const std::string_view> names);

/// "unknown option '--torsu'; did you mean '--torus'?", or `else_what` if none is near.
std::string unknownNameText(std::string_view kind, std::string_view name,
                            std::span<const std::string_view> names, std::string_view else_what);

/// "64K", "3M", "1000": the largest unit that divides it.
std::string bytesText(std::uint64_t bytes);

}  // namespace torc

#endif  // TORC_SUPPORT_SETTING_VALUES_H_
