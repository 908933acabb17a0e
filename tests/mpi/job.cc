// The fixture, and input numbers.
#include "tests/mpi/job.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <numeric>
#include <random>

#include <mpi.h>

#include "schedules/format/file.h"
#include "schedules/topology/topology.h"

namespace {
std::atomic<std::uint64_t> news{0};
}

void* operator new(std::size_t bytes) {
  ++news;
  if (void* data = std::malloc(bytes == 0 ? 1 : bytes)) return data;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++news;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* data) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t) noexcept {
  std::free(data);
}

namespace torc::runtime {

std::string shapeOfWorld() {
  switch (worldSize()) {
    case 4:
      return "2x2";
    case 6:
      return "3x2";
    default:
      return std::to_string(worldSize());
  }
}

std::string schedulePath(const std::string& collective) {
  return "tests/mpi/" + collective + "_" + shapeOfWorld() + ".torc";
}

std::int32_t numberOf(int rank, std::int64_t element) {
  return static_cast<std::int32_t>((rank + 3) * 7919 + element * 31);
}

std::vector<std::int32_t> numbers(std::int64_t count) {
  std::vector<std::int32_t> data(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    data[static_cast<std::size_t>(i)] = numberOf(worldRank(), i);
  return data;
}

void runAndFree(torc_collective* collective, int rounds) {
  ASSERT_NE(collective, nullptr);
  for (int round = 0; round < rounds; ++round) {
    EXPECT_TORC_OK(torc_collective_start(collective));
    EXPECT_TORC_OK(torc_collective_wait(collective));
  }
  EXPECT_TORC_OK(torc_collective_free(collective));
}

std::uint64_t allocations() {
  return news;
}

bool isLastRank() {
  return worldRank() == worldSize() - 1;
}

void expectSameTextEverywhere() {
  const std::string mine = std::string(torc_error_message()).substr(0, 1023);
  std::string first = mine;
  first.resize(1024);
  MPI_Bcast(first.data(), 1024, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_STREQ(mine.c_str(), first.c_str());
}

void expectError(int status, int code, const std::string& text, std::source_location place) {
  const std::string message = torc_error_message();
  if (status == code && message.find(text) != std::string::npos) return;
  ADD_FAILURE_AT(place.file_name(), static_cast<int>(place.line()))
      << "status " << status << ", not " << code << ", '" << message << "', not '" << text << "'";
}

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Mapping> allMappings() {
  std::vector<Mapping> mappings = {{"as they come", false, {}}, {"turned", true, {}}};
  std::vector<std::int32_t> table(static_cast<std::size_t>(worldSize()));
  std::iota(table.begin(), table.end(), 0);
  std::reverse(table.begin(), table.end());
  mappings.push_back({"reversed", false, table});
  for (const unsigned seed : {1u, 3u}) {
    std::shuffle(table.begin(), table.end(), std::mt19937(seed));
    mappings.push_back({"shuffled " + std::to_string(seed), seed == 3, table});
  }
  return mappings;
}

void MappedTest::SetUp() {
  ASSERT_TORC_OK(torc_context_create(&context_));
}

void MappedTest::TearDown() {
  clear();
  EXPECT_TORC_OK(torc_context_destroy(context_));
}

void MappedTest::clear() {
  for (const auto& [name, schedule] : schedules_)
    EXPECT_EQ(schedule == nullptr ? 0 : schedule->collectives, 0) << name;
  schedules_.clear();
  geometry_.reset();
}

void MappedTest::mapRanks(const Mapping& mapping) {
  clear();
  StatusOr<Topology> topology = parseTopology(shapeOfWorld());
  ASSERT_TRUE(topology.ok());
  if (mapping.turned) {
    std::reverse(topology->order.begin(), topology->order.begin() + topology->axis_count);
  }
  RankMap map;
  if (!mapping.to_schedule.empty()) {
    StatusOr<RankMap> made = RankMap::fromTable(mapping.to_schedule);
    ASSERT_TRUE(made.ok()) << made.status().message();
    map = std::move(*made);
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  HostRanks hosts;
  hosts.count = worldSize();
  hosts.oversubscribed = true;
  auto geometry = torc_geometry::over(context_, comm, *topology, std::move(map), hosts);
  ASSERT_TRUE(geometry.ok()) << geometry.status().message();
  geometry_ = std::move(*geometry);
}

torc_schedule* MappedTest::schedule(const std::string& collective) {
  std::unique_ptr<torc_schedule>& schedule = schedules_[collective];
  if (schedule == nullptr) {
    const StatusOr<std::vector<std::byte>> file = readFile(schedulePath(collective));
    EXPECT_TRUE(file.ok()) << file.status().message();
    StatusOr<LoadedSchedule> loaded = readSchedule(*file, collective);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    auto bound = torc_schedule::bind(geometry_.get(),
                                     std::make_shared<const LoadedSchedule>(std::move(*loaded)));
    EXPECT_TRUE(bound.ok()) << bound.status().message();
    schedule = std::move(*bound);
  }
  return schedule.get();
}

}  // namespace torc::runtime
