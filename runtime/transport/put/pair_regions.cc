// Pair regions: created and offered by the sender, accepted or refused by the receiver.
#include "runtime/transport/put/pair_regions.h"

#include <bit>

namespace torc::runtime {
namespace {

// Upper limit of the regions for messages to one rank, if all of them had the maximal length.
constexpr std::size_t kBytesPerReceiver = std::size_t{2} << 20;
constexpr std::size_t kLeastRoom = std::size_t{16} << 10;
// Offset between lanes, so that their beginnings, with the short messages, do not share a cache
// set.
constexpr std::size_t kStagger = 5 * 64;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

constexpr int lanesOf(int kind) {
  return kind < static_cast<int>(PairRegions::kRooms.size()) ? kMostLanes : 2;
}

}  // namespace

PairRegions::PairRegions(std::byte* table, int members, int me, std::uint64_t device,
                         std::shared_ptr<MemoryShare> share)
    : table_(table),
      members_(members),
      me_(me),
      device_(device),
      most_room_(std::clamp(std::bit_floor(kBytesPerReceiver / static_cast<std::size_t>(members)),
                            kLeastRoom, kRooms.back())),
      share_(std::move(share)),
      sides_(2 * static_cast<std::size_t>(members)) {}

PairRegions::~PairRegions() {
  for (int member = 0; member < members_; ++member) {
    Side* side = sideOf(member, false);
    for (int kind = 0; side != nullptr && kind < kKinds; ++kind) {
      MappedMemory(side->memory[static_cast<std::size_t>(kind)], bytesOf(kind), share_);
    }
  }
}

std::size_t PairRegions::laneStride(int room) const {
  return std::min(kRooms[static_cast<std::size_t>(room)], most_room_) + kStagger;
}

std::size_t PairRegions::bytesOf(int kind) const {
  const std::size_t lanes = static_cast<std::size_t>(lanesOf(kind));
  return roundToPage(sizeof(RegionHeader) +
                     lanes * laneStride(kind % static_cast<int>(kRooms.size())));
}

void PairRegions::want(int member, bool sending, Kind kind) {
  std::unique_ptr<Side>& side =
      sides_[static_cast<std::size_t>(sending ? members_ + member : member)];
  if (side == nullptr) side = std::make_unique<Side>();
  const auto index = static_cast<std::size_t>(kind.index());
  if (!sending || ((side->up | side->down) & bitOf(kind.index())) != 0 ||
      side->memory[index] != nullptr) {
    return;
  }
  const std::pair wanted(member, kind.index());
  if (std::ranges::find(wanted_, wanted) == wanted_.end()) wanted_.push_back(wanted);
}

void PairRegions::makeWanted() {
  if (wanted_.empty()) return;
  if (!make().ok()) {
    for (const auto& [member, kind] : wanted_) {
      sideOf(member, true)->down |= bitOf(kind);
      wordOf(me_, member).failed.fetch_or(bitOf(kind), std::memory_order_release);
    }
  }
  wanted_.clear();
}

/// Creates all wanted regions, or none.
Status PairRegions::make() {
  std::size_t bytes = 0;
  for (const auto& [member, kind] : wanted_)
    bytes += bytesOf(kind);
  StatusOr<SegmentFile> file = SegmentFile::make();
  if (!file.ok()) return file.status();
  // Memory beyond the share is not reserved, either.
  StatusOr<MappedMemory> memory = file->map(0, bytes, share_);
  if (!memory.ok()) return memory.status();
  if (Status status = file->reserve(bytes); !status.ok()) return status;
  std::byte* next = memory->data();
  for (const auto& [member, kind] : wanted_) {
    Side& side = *sideOf(member, true);
    side.memory[static_cast<std::size_t>(kind)] = std::exchange(next, next + bytesOf(kind));
    side.made[static_cast<std::size_t>(kind)] = static_cast<std::uint32_t>(made_.size());
    side.unoffered |= bitOf(kind);
  }
  made_.push_back({std::move(*file), std::move(*memory), static_cast<int>(wanted_.size())});
  for (const auto& [member, kind] : wanted_)
    offer(*sideOf(member, true), wordOf(me_, member));
  return {};
}

/// Reads the receiver's answers, and makes the next offer after an answer.
void PairRegions::offer(Side& side, Word& word) {
  const std::uint32_t accepted = word.accepted.load(std::memory_order_acquire);
  const std::uint32_t refused = word.refused.load(std::memory_order_acquire);
  std::uint32_t fresh = (accepted | refused) & ~(side.up | side.down);
  side.up |= accepted;
  side.down |= refused;
  for (; fresh != 0; fresh &= fresh - 1) {
    const auto kind = static_cast<std::size_t>(std::countr_zero(fresh));
    Made& made = made_[side.made[kind]];
    if (--made.unanswered == 0) made.file.close();
  }
  const std::uint32_t last = word.offered.load(std::memory_order_relaxed);
  const bool is_answered = last == 0 || ((side.up | side.down) & bitOf(static_cast<int>(last) - 1));
  if (!is_answered || side.unoffered == 0) return;
  const int kind = std::countr_zero(side.unoffered);
  side.unoffered &= ~bitOf(kind);
  const Made& made = made_[side.made[static_cast<std::size_t>(kind)]];
  word.descriptor = made.file.name().descriptor;
  word.number = made.file.name().number;
  word.page = static_cast<std::uint32_t>(
      (side.memory[static_cast<std::size_t>(kind)] - made.memory.data()) / kPage);
  word.offered.store(static_cast<std::uint32_t>(kind) + 1, std::memory_order_release);
}

void PairRegions::answer(int sender) {
  Side& side = *sideOf(sender, false);
  Word& word = wordOf(sender, me_);
  side.down |= word.failed.load(std::memory_order_acquire);
  const std::uint32_t offered = word.offered.load(std::memory_order_acquire);
  if (offered == 0) return;
  const int kind = static_cast<int>(offered) - 1;
  if (((side.up | side.down) & bitOf(kind)) != 0) return;
  if (accept(side, word, sender, kind).ok()) {
    side.up |= bitOf(kind);
    word.accepted.fetch_or(bitOf(kind), std::memory_order_release);
  } else {
    side.down |= bitOf(kind);
    word.refused.fetch_or(bitOf(kind), std::memory_order_release);
  }
}

Status PairRegions::accept(Side& side, const Word& word, int sender, int kind) {
  const StatusOr<SegmentFile> file =
      SegmentFile::open({processOf(sender), word.descriptor, device_, word.number});
  if (!file.ok()) return file.status();
  StatusOr<MappedMemory> memory = file->map(std::size_t{word.page} * kPage, bytesOf(kind), share_);
  if (!memory.ok()) return memory.status();
  side.memory[static_cast<std::size_t>(kind)] = memory->release();
  return {};
}

PairRegions::State PairRegions::look(int member, bool sending, Kind kind) {
  Side& side = *sideOf(member, sending);
  const std::uint32_t bit = bitOf(kind.index());
  if (((side.up | side.down) & bit) == 0) {
    if (sending) {
      offer(side, wordOf(me_, member));
    } else {
      answer(member);
    }
  }
  return (side.up & bit) != 0 ? State::kUp : (side.down & bit) != 0 ? State::kDown : State::kOpen;
}

RegionHeader* PairRegions::region(int member, bool sending, Kind kind) const {
  const Side* side = sideOf(member, sending);
  if (side == nullptr) return nullptr;
  return reinterpret_cast<RegionHeader*>(side->memory[static_cast<std::size_t>(kind.index())]);
}

std::size_t PairRegions::bytesReserved() const {
  std::size_t bytes = 0;
  for (const Made& made : made_)
    bytes += made.memory.bytes();
  return bytes;
}

}  // namespace torc::runtime
