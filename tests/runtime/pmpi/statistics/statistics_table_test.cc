// The table of statistics, letter by letter.
#include <algorithm>
#include <cstdio>
#include <sstream>

#include <gtest/gtest.h>

#include "runtime/pmpi/statistics/statistics.h"

namespace torc::runtime::pmpi {
namespace {

JobDescription job() {
  return {.command = "./program -n 4",
          .library = "/opt/torc/bgp",
          .machine = "bgp",
          .partition = "4x4x2, order XYZ",
          .off = ""};
}

JobStatistics sample() {
  JobStatistics statistics;
  statistics.ranks = 32;
  statistics.calls = {
      {Service::kServed, "MPI_Allreduce", "4x4x2", "MPI_DOUBLE", "MPI_SUM",
       "allreduce-4x4x2-0123456789abcdef.torc", 17, 3200, 3200 * 65536ull, 65536, 65536, 1.5,
       0.0004, 0.002, 32},
      {Service::kServed, "MPI_Iallgather", "4 sub-torus of 4x4x2", "derived", "",
       "allgather-4-00112233445566ff.torc", 10, 64, 64 * 800, 600, 1000, 0.0064, 0.00005, 0.00015,
       32},
      {Service::kNotTorcs, "MPI_Barrier", "4x4x2", "", "", "torc does not serve this collective", 0,
       320, 0, 0, 0, 0.25, 0.0001, 0.001, 32},
      {Service::kShouldBeServed, "MPI_Allreduce", "7 ranks", "MPI_INT", "MPI_MAX",
       "the library has no such sub-torus", 3, 7, 28, 4, 4, 0.000007, 0.000001, 0.000001, 7},
      {Service::kNotTorcs, "", "", "", "", "", 0, 12, 12000, 0, 12000, 0.00012, 0.00001, 0.00001,
       3},
  };
  statistics.communicators = {{"7 ranks", "7 ranks do not fill the box 4x2x1", 1, 0, 5, 0.000005},
                              {"7 ranks", "7 ranks do not fill the box 4x1x2", 1, 0, 2, 0.000002},
                              {"4 sub-torus of 4x4x2", "", 8, 64, 0, 0.0064},
                              {"4x4x2", "", 1, 3200, 320, 1.75}};
  statistics.facts = {2,    20000, 256 << 20, 3136, 64,   10000, 64 << 20,
                      4096, 100,   81920,     3,    0.02, 0.01};
  return statistics;
}

TEST(StatisticsTableTest, HeaderAndSections) {
  EXPECT_EQ(statisticsTable(job(), sample()),
            R"(torc statistics --------------------------------------------------------
  command          ./program -n 4
  ranks            32
  torc             0.1.0
  library          /opt/torc/bgp (machine bgp)
  partition        4x4x2, order XYZ
  schedules        2 loaded, 19.5K bytes of at most 256M (most on a rank)
  persistent plans 3136 found, 64 made (all ranks); 9.8K bytes of at most 64M (most on a rank)
  messages         4096 bytes by puts, 100 by MPI (all ranks)
  shared memory    80K bytes in 3 segments (all hosts)
  torc's set-up    20.000 ms (most on a rank)
  loading          10.000 ms (most on a rank)

Calls served by torc: 3264, 200.0M bytes, 1.506400 s
  function        communicator          schedule
    bytes/call  ranks  calls   total s     %  mean us  min us  max us  datatype, operation
  MPI_Allreduce   4x4x2                 allreduce-4x4x2-0123456789abcdef.torc
           64K     32   3200  1.500000  85.4    468.8   400.0  2000.0  MPI_DOUBLE, MPI_SUM
  MPI_Iallgather  4 sub-torus of 4x4x2  allgather-4-00112233445566ff.torc
      600-1000     32     64  0.006400   0.4    100.0    50.0   150.0  derived

Calls handed to MPI: 339, 11.7K bytes, 0.250127 s
  function          communicator  reason
    bytes/call  ranks  calls   total s     %  mean us  min us  max us  datatype, operation
  MPI_Barrier       4x4x2         torc does not serve this collective
             -     32    320  0.250000  14.2    781.2   100.0  1000.0  -
  other signatures  -             several
       0-11.7K      3     12  0.000120   0.0     10.0    10.0    10.0  -
  MPI_Allreduce     7 ranks       ! the library has no such sub-torus
             4      7      7  0.000007   0.0      1.0     1.0     1.0  MPI_INT, MPI_MAX
  !: an error under TORC_STRICT=1

Communicators: 9 that torc serves, 2 that it does not
  communicator          served by torc
    used  torc's calls  MPI's calls   total s
  4 sub-torus of 4x4x2  yes
       8            64            0  0.006400
  4x4x2                 yes
       1          3200          320  1.750000
  7 ranks               no: 7 ranks do not fill the box 4x1x2
       1             0            2  0.000002
  7 ranks               no: 7 ranks do not fill the box 4x2x1
       1             0            5  0.000005
------------------------------------------------------------------------
)");
}

TEST(StatisticsTableTest, WhatWasTried) {
  JobStatistics statistics = sample();
  statistics.tuned = {{"MPI_Bcast", "4x4x2", "MPI's own", 65536, 40, 2.5e-5, 3e-5, 2.5e-5},
                      {"MPI_Allreduce", "4x4x2", "allreduce-4x4x2-0123456789abcdef.torc", 8, 90,
                       1.25e-6, 2e-6, 1.5e-6}};
  statistics.trials = 5;
  statistics.ended = 3;
  const std::string table = statisticsTable(job(), statistics);
  EXPECT_NE(table.find(
                R"(
Tried by TORC_TUNE: 5 signatures, 3 of them to the end
  function       communicator  serves since
    bytes/call  calls tried  library's us  MPI's us  fastest us
  MPI_Allreduce  4x4x2         allreduce-4x4x2-0123456789abcdef.torc
             8           90          2.00      1.50        1.25
  MPI_Bcast      4x4x2         MPI's own
           64K           40         30.00     25.00       25.00
  and 1 more

Communicators: )"),
            std::string::npos)
      << table;
}

/// Long texts go on below, and large numbers leave room for the others.
TEST(StatisticsTableTest, LinesHaveHundredColumns) {
  JobDescription long_job = job();
  for (int i = 0; i < 20; ++i)
    long_job.command += " --option=" + std::to_string(i);
  JobStatistics statistics = sample();
  CallRow& row = statistics.calls[0];
  row.function = "MPI_Reduce_scatter_block";
  row.communicator = "8x8x8 sub-torus of 16x16x16";
  row.datatype = "MPI_DOUBLE_COMPLEX";
  row.by = "reduce_scatter-8x8x8-0123456789abcdef.torc";
  row.bytes = (row.calls = 12345678) * 150'000'000ull;
  row.least_bytes = 100'000'000;
  row.most_bytes = 200'000'000;
  row.seconds = 98765.4;
  row.ranks = 4096;
  statistics.calls[3].by =
      "of the library's schedules none is for members of this kind in this order";
  statistics.communicators[0].reason =
      "7 ranks do not fill the box 4x2x1 from (0, 0, 0): (3, 1, 0) "
      "is missing";
  const std::string table = statisticsTable(long_job, statistics);
  std::istringstream lines(table);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);)
    longest = std::max(longest, line.size());
  EXPECT_LE(longest, 100) << table;
  for (const char* text :
       {"\n                   --option=", " 95.4M-190.7M   4096  12345678  98765.400  ",
        "     MPI_SUM\n", "     this order\n", " (3, 1, 0) is missing\n"})
    EXPECT_NE(table.find(text), std::string::npos) << text << '\n' << table;
}

TEST(StatisticsTableTest, LateRanks) {
  JobStatistics statistics = sample();
  statistics.calls[0].late_rank = statistics.calls[3].late_rank = 3;
  statistics.calls[0].late_seconds = 0.75;
  statistics.calls[3].late_seconds = 0.000007;  // too short for a row
  statistics.calls[2].late_rank = 12;
  statistics.calls[2].late_seconds = 0.125;
  const std::string table = statisticsTable(job(), statistics);
  EXPECT_NE(table.find(R"(
Late ranks: ranks waited at least 0.875 s for late ranks, 49.8 % of the calls' time, most of it for rank 3
  function       bytes/call  calls  waited s  for rank  communicator
  MPI_Allreduce         64K   3200  0.750000         3  4x4x2
  MPI_Barrier             -    320  0.125000        12  4x4x2

Communicators:)"),
            std::string::npos)
      << table;
}

TEST(StatisticsTableTest, TorcWasOff) {
  JobDescription off = job();
  off.off = "TORC_LIBRARY is not set";
  EXPECT_EQ(statisticsTable(off, JobStatistics()),
            R"(torc statistics --------------------------------------------------------
  command          ./program -n 4
  ranks            1
  torc             0.1.0, off: TORC_LIBRARY is not set
------------------------------------------------------------------------
)");
}

TEST(StatisticsTableTest, NoCalls) {
  const std::string table = statisticsTable(job(), JobStatistics());
  EXPECT_NE(table.find("Calls served by torc: 0, 0 bytes, 0.000000 s\n\nCalls handed to MPI: 0, 0 "
                       "bytes, 0.000000 s\n\nCommunicators: 0 that torc serves, 0 that it does "
                       "not\n"),
            std::string::npos)
      << table;
}

}  // namespace
}  // namespace torc::runtime::pmpi
