// A vector that begins on a page, for buffers of measured calls. Two vectors of a power of two
// bytes from a heap often begin 16 bytes apart in their pages. AMD's processors may copy more
// slowly between such addresses.
#ifndef TORC_RUNTIME_RUN_WORLD_PAGE_VECTOR_H_
#define TORC_RUNTIME_RUN_WORLD_PAGE_VECTOR_H_

#include <cstddef>
#include <new>
#include <vector>

namespace torc::runtime {

template <typename Element>
struct PageAllocator {
  using value_type = Element;
  static constexpr std::align_val_t kPage{4096};

  PageAllocator() = default;
  template <typename Other>
  explicit PageAllocator(const PageAllocator<Other>& /*other*/) {}

  Element* allocate(std::size_t count) {
    return static_cast<Element*>(::operator new(count * sizeof(Element), kPage));
  }
  void deallocate(Element* memory, std::size_t /*count*/) { ::operator delete(memory, kPage); }
  bool operator==(const PageAllocator& /*other*/) const { return true; }
};

template <typename Element>
using PageVector = std::vector<Element, PageAllocator<Element>>;

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_WORLD_PAGE_VECTOR_H_
