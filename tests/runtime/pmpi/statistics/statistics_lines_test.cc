// The statistics of a job for programs: JSON, and its output.
#include <clocale>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/pmpi/statistics/statistics.h"
#include "settings/statistics_output.h"
#include "tests/ir/json/schema_keys.h"

namespace torc::runtime::pmpi {
namespace {

using nlohmann::json;

JobDescription describedJob() {
  return {.id = "7\"8",
          .host = "n01",
          .end = 1795827637,
          .command = "./a \\ \x01\xff \xc3\xa4\n",
          .library = "/lib",
          .machine = "bgp",
          .partition = "4x4, order XY"};
}

JobStatistics someStatistics(std::size_t rows = 3) {
  JobStatistics statistics;
  statistics.ranks = 16;
  for (std::size_t i = 0; i < rows; ++i) {
    CallRow row;
    row.service = i % 3 == 0   ? Service::kServed
                  : i % 3 == 1 ? Service::kNotTorcs
                               : Service::kShouldBeServed;
    row.function = i % 2 == 0 ? "MPI_Allreduce" : "MPI_Bcast";
    row.communicator = "4x4";
    row.datatype = "MPI_DOUBLE";
    row.by = row.service == Service::kServed ? "allreduce.torc" : "why\n\"so\"";
    row.size_class = 7;
    row.calls = 16 + i;
    row.bytes = 64 * row.calls;
    row.least_bytes = row.most_bytes = 64;
    row.seconds = 0.5 / static_cast<double>(i + 1);
    row.least_seconds = row.most_seconds = 0.03125;
    row.ranks = 16;
    row.least_mean_seconds = 0.015625;
    statistics.calls.push_back(row);
  }
  statistics.communicators = {{"4x4", "", 1, 16, 33, 1.5, 16}};
  statistics.tuned = {{"MPI_Allreduce", "4x4", "allreduce.torc", 64, 20, 2e-6, 3e-6, 5e-6}};
  return statistics;
}

std::string contentOf(const std::string& path) {
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

TEST(StatisticsLinesTest, JsonIsOneLineAndHasTheKeysOfTheSchema) {
  JobStatistics statistics = someStatistics();
  findMeasuredTimes(statistics, {});
  findLateRanks(statistics);
  const std::string line = statisticsJson(describedJob(), statistics);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const json document = json::parse(line);
  EXPECT_EQ(document["torc_stats"], kStatisticsVersion);
  EXPECT_EQ(document["job"], "7\"8");
  EXPECT_EQ(document["command"], "./a \\ \x01\xef\xbf\xbd \xc3\xa4\n");
  EXPECT_EQ(document["calls"][0]["served"], true);
  EXPECT_EQ(document["calls"][0]["measured_mpi_s"], 5e-6);
  EXPECT_EQ(document["calls"][1]["by"], "why\n\"so\"");
  EXPECT_EQ(document["calls"][2]["missing"], true);
  EXPECT_FALSE(document["calls"][1].contains("measured_s"));
  EXPECT_EQ(document["calls"][0]["late_s"], 0.25);
  EXPECT_FALSE(document["calls"][1].contains("late_s"));  // only the root of a broadcast is awaited
  schemas::Keys written;
  schemas::collectKeys(document, "", written);
  EXPECT_EQ(written, schemas::keysOfSchema("docs/schemas/statistics.schema.json", true));
}

TEST(StatisticsLinesTest, NumbersDoNotDependOnTheLocale) {
  const char* german = std::setlocale(LC_ALL, "de_DE.UTF-8");
  JobStatistics statistics = someStatistics();
  statistics.calls[0].seconds = 1.0 / 3;
  statistics.calls[0].bytes = ~std::uint64_t{0};
  const std::string line = statisticsJson(describedJob(), statistics);
  EXPECT_NE(line.find("\"total_s\":0.333333333,"), std::string::npos) << line;
  EXPECT_NE(line.find("\"bytes\":18446744073709551615,"), std::string::npos) << line;
  if (german != nullptr) std::setlocale(LC_ALL, "C");
}

TEST(StatisticsLinesTest, MeasuredTimesOfATunedLibrary) {
  LibraryIndex index;
  index.files = {{"allreduce.torc", 1, 1}};
  index.measurements = {{0, Collective::kAllreduce, 64, 0, 3e-6},
                        {0, Collective::kAllreduce, 64, kMpisOwn, 7e-6},
                        {0, Collective::kAllreduce, 128, 0, 4e-6},
                        {1, Collective::kAllreduce, 128, kMpisOwn, 9e-6}};
  JobStatistics statistics = someStatistics();
  statistics.tuned.clear();
  findMeasuredTimes(statistics, index);
  EXPECT_EQ(statistics.calls[0].measured_seconds, 3e-6);
  EXPECT_EQ(statistics.calls[0].measured_mpi_seconds, 7e-6);
  EXPECT_EQ(statistics.calls[1].measured_mpi_seconds, 0);
  // Nothing is claimed of other sizes, nor of nonblocking calls.
  for (const auto& [function, bytes] :
       {std::pair("MPI_Allreduce", 16 * 300), std::pair("MPI_Iallreduce", 16 * 64)}) {
    JobStatistics other = someStatistics();
    other.tuned.clear();
    other.calls[0].function = function;
    other.calls[0].bytes = bytes;
    findMeasuredTimes(other, index);
    EXPECT_EQ(other.calls[0].measured_mpi_seconds, 0) << function;
  }
}

TEST(StatisticsLinesTest, LateRanksNeedCommunicatorsOfTheSameMembers) {
  JobStatistics statistics = someStatistics();
  statistics.communicators = {{"4x4", "", 2, 16, 33, 1.5, 32}, {"4x4", "other", 1, 0, 0, 0, 16}};
  findLateRanks(statistics);
  EXPECT_EQ(statistics.calls[0].late_seconds, 0.25);
  statistics = someStatistics();
  statistics.communicators[0].used = 4;  // of 4 ranks each
  findLateRanks(statistics);
  EXPECT_EQ(statistics.calls[0].late_seconds, 0);
}

TEST(StatisticsLinesTest, ManyProcessesAppendWholeLines) {
  const std::string path = testing::TempDir() + "/many.jsonl";
  std::filesystem::remove(path);
  constexpr int kProcesses = 8, kLines = 50;
  const std::string line = statisticsJson(describedJob(), someStatistics(300));
  for (int i = 0; i < kProcesses; ++i) {
    if (fork() != 0) continue;
    bool good = true;
    for (int j = 0; j < kLines; ++j)
      good = appendLine(line, path).ok() && good;
    _exit(good ? 0 : 1);
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  std::ifstream in(path);
  int lines = 0;
  for (std::string read; std::getline(in, read); ++lines)
    ASSERT_EQ(read + '\n', line);
  EXPECT_EQ(lines, kProcesses * kLines);
  std::filesystem::remove(path);
}

TEST(StatisticsLinesTest, WhatCannotBeWrittenLeavesNothing) {
  EXPECT_EQ(appendLine("a\n", "/dev/full").message(),
            "TORC_STATS: cannot write /dev/full: No space left on device");
  EXPECT_EQ(appendLine("a\n", "/no/x").message(),
            "TORC_STATS: cannot write /no/x: No such file or directory");
  const std::string path = testing::TempDir() + "/limited";
  std::filesystem::remove_all(path);
  std::filesystem::create_directory(path);
  ASSERT_TRUE(appendLine("first\n", path + "/a").ok());
  // A file may become no longer: the write ends in the middle, as on a full disk.
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{10, 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto says = [](const Status& status, const std::string& file) {
      return status.message() == "TORC_STATS: cannot write " + file +
                                     ": File too large: files may have 10 bytes (ulimit -f)";
    };
    const bool faults = says(appendLine("a second line\n", path + "/a"), path + "/a") &&
                        says(writeStatistics("a second table\n", path + "/a.txt"), path + "/a.txt");
    std::filesystem::remove(path + "/a.txt");
    _exit(faults ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contentOf(path + "/a"), "first\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 1);
  // A pipe that nobody reads.
  ASSERT_EQ(mkfifo((path + "/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(appendLine("a\n", path + "/pipe").ok());
  // One whose reader is slower than the job.
  const int pipe = open((path + "/pipe").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(appendLine(std::string(1 << 20, 'a'), path + "/pipe").message(),
            "TORC_STATS: cannot write " + path + "/pipe: Resource temporarily unavailable");
  close(pipe);
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace torc::runtime::pmpi
