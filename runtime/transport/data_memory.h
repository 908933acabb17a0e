// Memory for data.
#ifndef TORC_RUNTIME_TRANSPORT_DATA_MEMORY_H_
#define TORC_RUNTIME_TRANSPORT_DATA_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace torc::runtime {

inline constexpr std::size_t kCacheLine = 64;

inline std::size_t roundToCacheLine(std::size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

class DataMemory {
 public:
  /// Aligned to cache lines, uninitialized. Throws std::bad_alloc.
  void allocate(std::size_t bytes) {
    bytes_ = bytes;
    if (bytes == 0) return;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(kCacheLine, roundToCacheLine(bytes))));
    if (data_ == nullptr) throw std::bad_alloc();
  }
  /// Zeros, aligned for any object; pages use memory only once they are written. Throws
  /// std::bad_alloc.
  void allocateZeros(std::size_t bytes) {
    bytes_ = bytes;
    if (bytes == 0) return;
    data_.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));
    if (data_ == nullptr) throw std::bad_alloc();
  }
  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_DATA_MEMORY_H_
