// The fixture of geometries over given communicators.
#include "tests/mpi/mapped_job.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <mpi.h>

#include "schedules/format/file.h"
#include "schedules/topology/topology.h"

namespace torc::runtime {

std::vector<Mapping> allMappings() {
  std::vector<Mapping> mappings = {{"as they come", false, {}}, {"turned", true, {}}};
  std::vector<std::int32_t> table(static_cast<std::size_t>(worldSize()));
  std::iota(table.begin(), table.end(), 0);
  std::reverse(table.begin(), table.end());
  mappings.push_back({"reversed", false, table});
  for (unsigned seed = 1; seed <= 3; ++seed) {
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
