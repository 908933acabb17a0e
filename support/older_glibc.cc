// arc4random for older systems: glibc has it from 2.36 on only. libstdc++'s std::random_device,
// which comes into shared libraries with other parts of libstdc++, refers to it, though torc never
// calls it.
#include <cstddef>
#include <cstdint>
#include <sys/random.h>

extern "C" [[gnu::visibility("hidden")]] std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getentropy(&number, sizeof(number)) != 0) __builtin_trap();
  return number;
}
