// Copy choice: whether a long message goes through cells, in two copies, or the system copies it
// from memory to memory, in one. The faster way depends on the distance of the two cores (measured
// on one machine: 16 KiB through cells take 1 to 7 us, copied 2.7). So both are tried now and then,
// and the faster one is used.
//
// The receiver measures the time, and advises the sender, which chooses.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_COPY_CHOICE_H_
#define TORC_RUNTIME_TRANSPORT_PUT_COPY_CHOICE_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace torc::runtime {

/// A class has messages of lengths within a factor of two (8 KiB and more, and so on), and of tags
/// that are equal modulo kCopyTags. The work at the receiver differs between the phases of a
/// schedule, which have different tags.
inline constexpr std::size_t kCopyLengths = 16, kCopyTags = 4;
inline constexpr std::size_t kCopyClasses = kCopyLengths * kCopyTags;
inline std::size_t copyClassOf(std::size_t bytes, std::uint32_t tag) {
  const std::size_t length = std::min<std::size_t>(std::bit_width(bytes >> 13), kCopyLengths) - 1;
  return length * kCopyTags + tag % kCopyTags;
}

/// A receiver's advice for a class.
enum class CopyAdvice : std::uint8_t {
  kNone,       // unknown so far
  kCells,      // through cells is faster
  kCellsMuch,  // by half or more
  kCopy,
  kCopyMuch,
};

/// The receiver's times of one sender's messages.
class CopyTimes {
 public:
  /// A message of a class took so long, from its beginning on.
  CopyAdvice add(std::size_t copy_class, bool copied, std::int64_t nanoseconds) {
    Times& times = times_[copy_class];
    const auto sample = static_cast<double>(nanoseconds);
    double& time = copied ? times.copied : times.cells;
    int& samples = copied ? times.copies : times.passages;
    // The minimum, as other work only lengthens times; it slowly grows, as processes move between
    // cores.
    time = samples++ == 0 ? sample : std::min(sample, time * kFading);
    if (std::min(times.copies, times.passages) < kSamples) return CopyAdvice::kNone;
    if (times.copied < times.cells) {
      return times.copied * kMuch < times.cells ? CopyAdvice::kCopyMuch : CopyAdvice::kCopy;
    }
    return times.cells * kMuch < times.copied ? CopyAdvice::kCellsMuch : CopyAdvice::kCells;
  }

 private:
  static constexpr int kSamples = 4;
  static constexpr double kFading = 1.06, kMuch = 1.5;

  struct Times {
    double cells = 0, copied = 0;
    int passages = 0, copies = 0;
  };
  std::array<Times, kCopyClasses> times_{};
};

/// The sender's choices for one receiver.
class CopyTries {
 public:
  /// Whether the next message of a class is copied from memory to memory.
  bool copies(std::size_t copy_class, CopyAdvice advice) {
    const std::uint32_t number = ++messages_[copy_class];
    switch (advice) {
      case CopyAdvice::kNone:
        break;
      case CopyAdvice::kCells:
        return number % kOften == 0;
      case CopyAdvice::kCellsMuch:
        return number % kSeldom == 0;
      case CopyAdvice::kCopy:
        return number % kOften != 0;
      case CopyAdvice::kCopyMuch:
        return number % kSeldom != 0;
    }
    return number % 2 == 0;
  }

 private:
  static constexpr std::uint32_t kOften = 32, kSeldom = 256;

  std::array<std::uint32_t, kCopyClasses> messages_{};
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_COPY_CHOICE_H_
