// The fixture, and numbers.
#include "tests/mpi/job.h"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>

#include <mpi.h>

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

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void JobTest::SetUp() {
  ASSERT_TORC_OK(torc_context_create(&context_));
  ASSERT_TORC_OK(
      torc_geometry_create(context_, MPI_COMM_WORLD, shapeOfWorld().c_str(), nullptr, &geometry_));
}

void JobTest::TearDown() {
  for (torc_schedule* schedule : schedules_)
    EXPECT_TORC_OK(torc_schedule_free(schedule));
  EXPECT_TORC_OK(torc_geometry_destroy(geometry_));
  EXPECT_TORC_OK(torc_context_destroy(context_));
}

torc_schedule* JobTest::schedule(const std::string& collective) {
  const int kind = collective == "allreduce" ? 0 : collective == "reduce_scatter" ? 1 : 2;
  if (schedules_[kind] == nullptr) {
    EXPECT_TORC_OK(
        torc_schedule_load(geometry_, schedulePath(collective).c_str(), &schedules_[kind]));
  }
  return schedules_[kind];
}

}  // namespace torc::runtime
