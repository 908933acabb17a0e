// Host segment: made by one rank, opened by the others, mapped by all.
#include "runtime/transport/put/host_segment.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "runtime/transport/put/process_memory.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

constexpr std::size_t kPage = 4096;
// Address space of what is written for one rank. Memory is taken by what is used of it alone.
constexpr std::size_t kBytesPerReceiver = std::size_t{32} << 20;
constexpr std::size_t kLeastLaneBytes = std::size_t{16} << 10;
constexpr std::size_t kMostLaneBytes = std::size_t{1} << 20;
// Between lanes, so that their beginnings, which short messages have, do not share a set of a
// cache.
constexpr std::size_t kStagger = 5 * 64;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Status systemError(const char* call) {
  return {StatusCode::kUnsupported, message(call, ": ", std::strerror(errno))};
}

}  // namespace

SegmentFile::~SegmentFile() {
  if (name_.descriptor >= 0) close(name_.descriptor);
}

Status SegmentFile::look() {
  struct stat file {};
  if (fstat(name_.descriptor, &file) != 0) return systemError("fstat");
  name_.device = file.st_dev;
  name_.number = file.st_ino;
  return {};
}

StatusOr<SegmentFile> SegmentFile::make() {
  SegmentFile file;
  file.name_.process = getpid();
  file.name_.descriptor = memfd_create("torc", MFD_CLOEXEC);
  if (file.name_.descriptor < 0) return systemError("memfd_create");
  if (fchmod(file.name_.descriptor, S_IRUSR | S_IWUSR) != 0) return systemError("fchmod");
  if (Status status = file.look(); !status.ok()) return status;
  return file;
}

StatusOr<SegmentFile> SegmentFile::open(const Name& name) {
  SegmentFile file;
  const std::string path = message("/proc/", name.process, "/fd/", name.descriptor);
  file.name_.process = getpid();
  file.name_.descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file.name_.descriptor < 0) return systemError(path.c_str());
  if (Status status = file.look(); !status.ok()) return status;
  // The number may be another process's, where processes are counted anew.
  if (file.name_.device != name.device || file.name_.number != name.number) {
    return Status(StatusCode::kUnsupported, message(path, " is another file"));
  }
  return file;
}

HostSegment::HostSegment(int members, int me)
    : members_(members),
      me_(me),
      lanes_(kLanes),
      rounds_(kLanes),
      copy_times_(static_cast<std::size_t>(members)),
      copy_tries_(static_cast<std::size_t>(members)) {
  const auto count = static_cast<std::size_t>(members);
  lane_bytes_ = std::clamp(std::bit_floor(kBytesPerReceiver / (kLanes * count)), kLeastLaneBytes,
                           kMostLaneBytes);
  lane_stride_ = lane_bytes_ + kStagger;
  advice_ = count * sizeof(Words);
  regions_ = (advice_ + count * count * kCopyClasses + kPage - 1) / kPage * kPage;
  bytes_ = regions_ + count * count * kLanes * lane_stride_;
  for (Lane& lane : lanes_)
    lane.ended.resize(count);
}

HostSegment::~HostSegment() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

StatusOr<std::unique_ptr<HostSegment>> HostSegment::over(const SegmentFile& file, int members,
                                                         int me) {
  std::unique_ptr<HostSegment> segment(new HostSegment(members, me));
  // A file larger than its owner's limit is answered by a signal.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < segment->bytes_) {
    return Status(StatusCode::kUnsupported,
                  message("files may have ", limit.rlim_cur,
                          " bytes (ulimit -f), shared memory needs ", segment->bytes_));
  }
  // Whoever comes first gives it its size.
  const int descriptor = file.name().descriptor;
  if (ftruncate(descriptor, static_cast<off_t>(segment->bytes_)) != 0) {
    return systemError("ftruncate");
  }
  void* memory = mmap(nullptr, segment->bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return systemError("mmap");
  segment->memory_ = static_cast<std::byte*>(memory);
  return segment;
}

void HostSegment::setMembers(std::vector<std::int32_t> member_of_rank,
                             std::vector<int> process_of_member) {
  member_of_rank_ = std::move(member_of_rank);
  process_of_member_ = std::move(process_of_member);
}

std::size_t HostSegment::bytesWritten() const {
  std::vector<unsigned char> pages((bytes_ + kPage - 1) / kPage);
  if (mincore(memory_, bytes_, pages.data()) != 0) return 0;
  return kPage * static_cast<std::size_t>(std::ranges::count_if(
                     pages, [](unsigned char page) { return (page & 1) != 0; }));
}

Status HostSegment::checkRunning(std::int32_t rank) const {
  const int member = memberOf(rank);
  if (member < 0 || !hasEnded(processOf(member))) return {};
  return {StatusCode::kTransport,
          message("rank ", rank, " (process ", processOf(member), " of this host) has ended")};
}

std::byte* HostSegment::region(int sender, int receiver) const {
  const auto pair = static_cast<std::size_t>(receiver) * static_cast<std::size_t>(members_) +
                    static_cast<std::size_t>(sender);
  return memory_ + regions_ + pair * kLanes * lane_stride_;
}

std::atomic<std::uint8_t>* HostSegment::copyAdvice(int sender, int receiver) const {
  const auto pair = static_cast<std::size_t>(receiver) * static_cast<std::size_t>(members_) +
                    static_cast<std::size_t>(sender);
  return reinterpret_cast<std::atomic<std::uint8_t>*>(memory_ + advice_ + pair * kCopyClasses);
}

void HostSegment::lookUp(int member, LaneTrack track) {
  for (int i = track.first_lane; i < track.first_lane + track.lanes; ++i) {
    lane(i).ended[static_cast<std::size_t>(member)] =
        ended(member, i).load(std::memory_order_acquire);
  }
}

std::uint64_t HostSegment::begin(int index, std::uint64_t round) {
  begun(me_, index).store(round, std::memory_order_release);
  return std::exchange(lane(index).last, round);
}

void HostSegment::end(int index, std::uint64_t round) {
  Lane& left = lane(index);
  ended(me_, index).store(round, std::memory_order_release);
  ++left.serving;
  if (left.without.empty()) return;
  const auto next = std::ranges::find(left.without, left.serving,
                                      &std::pair<std::uint64_t, std::uint64_t>::first);
  if (next == left.without.end()) return;
  const std::uint64_t following = next->second;
  left.without.erase(next);
  begin(index, following);
  end(index, following);
}

void HostSegment::endWithout(int index, std::uint64_t ticket, std::uint64_t round) {
  lane(index).without.emplace_back(ticket, round);
}

}  // namespace torc::runtime
