// HugePages: an allocator of tables that are used all over, of megabytes: on pages of 2 MiB, where
// the system has some, so that each access need not look for its page.
#ifndef TORC_MODEL_PACKETS_HUGE_PAGES_H_
#define TORC_MODEL_PACKETS_HUGE_PAGES_H_

#include <cstddef>
#include <new>
#include <sys/mman.h>

namespace torc::model {

template <typename T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <typename Other>
  HugePages(const HugePages<Other>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* memory = ::operator new(bytes, alignmentOf(bytes));
    // Only a wish: without such pages the table has usual ones.
    if (bytes >= kPage) madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    ::operator delete(memory, alignmentOf(count * sizeof(T)));
  }
  friend bool operator==(const HugePages&, const HugePages&) { return true; }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 21;
  static std::align_val_t alignmentOf(std::size_t bytes) {
    return std::align_val_t{bytes >= kPage ? kPage : alignof(T)};
  }
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_HUGE_PAGES_H_
