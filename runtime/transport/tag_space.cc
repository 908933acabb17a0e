// Tag space: tags of active calls.
#include "runtime/transport/tag_space.h"

#include <algorithm>

namespace torc::runtime {

bool TagSpace::ready(const TagRange& range) const {
  const auto end = [](const TagRange& of) { return of.base + static_cast<int>(of.count); };
  return std::ranges::none_of(held_, [&](const TagRange& other) {
    return other.base < end(range) && range.base < end(other);
  });
}

void TagSpace::release(const TagRange& range) {
  const auto found = std::ranges::find_if(held_, [&](const TagRange& other) {
    return other.call == range.call && other.base == range.base;
  });
  *found = held_.back();
  held_.pop_back();
}

}  // namespace torc::runtime
