// arc4random, which glibc has from 2.36 on only. libstdc++'s std::random_device refers to it, which
// comes into shared libraries with other parts of libstdc++ and which nothing of ours calls: with
// this in its place the libraries run with the glibc of older systems, too.
#include <cstddef>
#include <cstdint>
#include <sys/random.h>

extern "C" [[gnu::visibility("hidden")]] std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getentropy(&number, sizeof(number)) != 0) __builtin_trap();
  return number;
}
