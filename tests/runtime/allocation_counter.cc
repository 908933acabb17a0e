// Wraps glibc's malloc family.
#include "tests/runtime/allocation_counter.h"

#include <atomic>
#include <cstddef>

namespace {
std::atomic<std::uint64_t> allocations{0};
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

bool torc::runtime::allocationsAreCounted() {
  return false;
}

#else

bool torc::runtime::allocationsAreCounted() {
  return true;
}

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}

void* realloc(void* old, std::size_t bytes) {
  ++allocations;
  return __libc_realloc(old, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}

}  // extern "C"

#endif

std::uint64_t torc::runtime::allocationCount() {
  return allocations;
}
