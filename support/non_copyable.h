// Base of classes whose objects are neither copied nor moved: others refer to them, or they own
// something that must have one owner.
#ifndef TORC_SUPPORT_NON_COPYABLE_H_
#define TORC_SUPPORT_NON_COPYABLE_H_

namespace torc {

struct NonCopyable {
  NonCopyable() = default;
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;
};

}  // namespace torc

#endif  // TORC_SUPPORT_NON_COPYABLE_H_
