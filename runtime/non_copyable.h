// Base of classes whose objects are neither copied nor moved: others refer to them, or they own
// something that must have one owner.
#ifndef TORC_RUNTIME_NON_COPYABLE_H_
#define TORC_RUNTIME_NON_COPYABLE_H_

namespace torc::runtime {

struct NonCopyable {
  NonCopyable() = default;
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_NON_COPYABLE_H_
