// Parses values of settings.
#include "support/setting_values.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "support/message.h"

namespace torc {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

struct Unit {
  char letter;
  int shift;
};
constexpr Unit kUnits[] = {{'G', 30}, {'M', 20}, {'K', 10}};

/// Number of letters to insert, delete, replace or exchange with the next one to turn `a` into `b`.
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1,
                                                 std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      distance[i][j] = std::min({distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1),
                                 distance[i - 1][j] + 1, distance[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
    }
  }
  return distance[a.size()][b.size()];
}

}  // namespace

std::optional<std::uint64_t> parseNumber(std::string_view text, std::uint64_t highest) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value > highest) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parseBytes(std::string_view text) {
  int shift = 0;
  // KB and KiB are K.
  const auto isLast = [&](char letter) {
    return text.size() > 1 && (text.back() & ~0x20) == letter;
  };
  if (isLast('B')) {
    text.remove_suffix(1);
    if (isLast('I')) {
      text.remove_suffix(1);
      if (!isLast('K') && !isLast('M') && !isLast('G')) return std::nullopt;
    }
  }
  for (const Unit& unit : kUnits) {
    if (text.empty() || (text.back() & ~0x20) != unit.letter) continue;
    shift = unit.shift;
    text.remove_suffix(1);
    break;
  }
  const std::optional<std::uint64_t> value = parseNumber(text, kMostBytes >> shift);
  if (!value) return std::nullopt;
  return *value << shift;
}

std::pair<std::string_view, std::string_view> splitForm(std::string_view value) {
  const std::size_t colon = value.find(':');
  const bool has_form =
      colon != value.npos && std::ranges::all_of(value.substr(0, colon), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
      });
  return has_form ? std::pair(value.substr(0, colon), value.substr(colon + 1))
                  : std::pair(std::string_view(), value);
}

std::string_view nearestName(std::string_view name, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t least = name.size() + 1;
  for (const std::string_view candidate : names) {
    const auto [shorter, longer] = std::minmax({name.size(), candidate.size()});
    if (longer - shorter > longer / 3) continue;  // the least number of insertions
    const std::size_t distance = editDistance(name, candidate);
    if (distance >= least || distance > longer / 3) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string unknownNameText(std::string_view kind, std::string_view name,
                            std::span<const std::string_view> names, std::string_view else_what) {
  const std::string_view nearest = nearestName(name, names);
  return message(
      "unknown ", kind, " '", name, "'; ",
      nearest.empty() ? std::string(else_what) : message("did you mean '", nearest, "'?"));
}

std::string bytesText(std::uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes == 0 || bytes % (std::uint64_t{1} << unit.shift) != 0) continue;
    return std::to_string(bytes >> unit.shift) + unit.letter;
  }
  return std::to_string(bytes);
}

}  // namespace torc
