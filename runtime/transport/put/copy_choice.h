// Copy choice: whether a long message goes through cells, in two copies, or is copied from memory
// to memory by the system, in one. Which is faster depends on how near the two cores are to each
// other (measured on one machine: 16 KiB through cells take 1 to 7 us, copied 2.7), so both are
// tried now and then, and the faster serves.
//
// The receiver takes the time, and advises the sender, which chooses.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_COPY_CHOICE_H_
#define TORC_RUNTIME_TRANSPORT_PUT_COPY_CHOICE_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace torc::runtime {

/// Messages of lengths within a factor of two are of a class (8 KiB and more, and so on) with those
/// whose tags are alike: what becomes of messages at their receiver differs between the phases of a
/// schedule, which their tags tell apart.
inline constexpr std::size_t kCopyLengths = 16, kCopyTags = 4;
inline constexpr std::size_t kCopyClasses = kCopyLengths * kCopyTags;
inline std::size_t copyClassOf(std::size_t bytes, std::uint32_t tag) {
  const std::size_t length = std::min<std::size_t>(std::bit_width(bytes >> 13), kCopyLengths) - 1;
  return length * kCopyTags + tag % kCopyTags;
}

/// What a receiver advises for a class.
enum class CopyAdvice : std::uint8_t {
  kNone,       // it does not know yet
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
    // The least, as others delay it; it fades, as processes move from core to core.
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
  /// Whether the next message of a class is to be copied.
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
