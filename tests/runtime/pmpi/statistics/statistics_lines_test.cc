// The statistics of a job for programs: JSON, Prometheus, and how they are written.
#include "runtime/pmpi/statistics/statistics_lines.h"

#include <cctype>
#include <clocale>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "settings/statistics_output.h"

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
    row.ranks = 16;
    statistics.calls.push_back(row);
  }
  statistics.communicators = {{"4x4", "", 1, 16, 33, 1.5}};
  statistics.tuned = {{"MPI_Allreduce", "4x4", "allreduce.torc", 64, 20, 2e-6, 3e-6, 5e-6}};
  return statistics;
}

/// The names of keys with those that they are in: "calls/served".
void collectKeys(const json& value, const std::string& place, std::set<std::string>& keys) {
  if (value.is_array()) {
    for (const json& element : value)
      collectKeys(element, place, keys);
  } else if (value.is_object()) {
    for (const auto& [key, of] : value.items()) {
      keys.insert(place + key);
      collectKeys(of, place + key + '/', keys);
    }
  }
}

/// Those of a schema.
void collectProperties(const json& schema, const std::string& place, std::set<std::string>& keys) {
  if (schema.contains("items")) return collectProperties(schema["items"], place, keys);
  if (!schema.contains("properties")) return;
  for (const auto& [key, of] : schema["properties"].items()) {
    keys.insert(place + key);
    collectProperties(of, place + key + '/', keys);
  }
}

/// The samples of a text of Prometheus, by name and labels; a fault where it is none.
class PrometheusText {
 public:
  explicit PrometheusText(const std::string& text) {
    std::stringstream lines(text);
    EXPECT_EQ(text.back(), '\n');
    for (std::string line; std::getline(lines, line);)
      read(line);
  }

  std::map<std::string, double> samples;

 private:
  void read(const std::string& line) {
    if (line.starts_with("# HELP ")) {
      const std::string name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families_.insert(name).second) << name << " comes twice";
      family_ = name;
      return;
    }
    if (line.starts_with("# TYPE ")) {
      EXPECT_EQ(line, "# TYPE " + family_ + " gauge");
      return;
    }
    std::size_t at = 0;
    while (at < line.size() && (std::isalnum(line[at]) != 0 || line[at] == '_'))
      ++at;
    EXPECT_EQ(line.substr(0, at), family_);
    ASSERT_EQ(line[at], '{') << line;
    std::set<std::string> labels;
    do {
      const std::size_t begin = ++at;
      while (at < line.size() && (std::isalnum(line[at]) != 0 || line[at] == '_'))
        ++at;
      EXPECT_TRUE(at > begin && labels.insert(line.substr(begin, at - begin)).second) << line;
      ASSERT_EQ(line.substr(at, 2), "=\"") << line;
      for (at += 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') continue;
        ++at;
        ASSERT_TRUE(line[at] == '\\' || line[at] == '"' || line[at] == 'n') << line;
      }
      ++at;
    } while (line[at] == ',');
    ASSERT_EQ(line.substr(at, 2), "} ") << line;
    std::size_t read = 0;
    const double value = std::stod(line.substr(at + 2), &read);
    EXPECT_EQ(at + 2 + read, line.size()) << line;
    EXPECT_TRUE(samples.emplace(line.substr(0, at + 1), value).second) << line;
  }

  std::string family_;
  std::set<std::string> families_;
};

std::string contentOf(const std::string& path) {
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

TEST(StatisticsLinesTest, JsonIsOneLineAndHasTheKeysOfTheSchema) {
  JobStatistics statistics = someStatistics();
  findMeasuredTimes(statistics, {});
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
  std::ifstream file("docs/schemas/statistics.schema.json");
  std::set<std::string> in_schema, written;
  collectProperties(json::parse(file), "", in_schema);
  collectKeys(document, "", written);
  EXPECT_EQ(written, in_schema);
}

TEST(StatisticsLinesTest, NumbersDoNotDependOnTheLocale) {
  const char* german = std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(numberText(0.5), "0.5");
  EXPECT_EQ(numberText(1.0 / 3), "0.333333333");
  EXPECT_EQ(numberText(~std::uint64_t{0}), "18446744073709551615");
  if (german != nullptr) std::setlocale(LC_ALL, "C");
}

TEST(StatisticsLinesTest, ALineForSyslogKeepsTheSums) {
  const JobStatistics statistics = someStatistics(900);
  const std::string line = statisticsJson(describedJob(), statistics, kMostSyslogBytes);
  EXPECT_LE(line.size(), kMostSyslogBytes);
  EXPECT_GT(line.size(), kMostSyslogBytes / 3);
  std::uint64_t expected = 0, calls = 0;
  for (const CallRow& row : statistics.calls)
    expected += row.calls;
  const json document = json::parse(line);
  for (const json& row : document["calls"])
    calls += row["calls"].get<std::uint64_t>();
  EXPECT_EQ(calls, expected);
  EXPECT_EQ(statisticsJson(describedJob(), someStatistics(), kMostSyslogBytes),
            statisticsJson(describedJob(), someStatistics()));
}

TEST(StatisticsLinesTest, PrometheusText) {
  JobStatistics statistics = someStatistics(7);
  findMeasuredTimes(statistics, {});
  const PrometheusText text(statisticsPrometheus(describedJob(), statistics));
  const std::string job = "{job_id=\"7\\\"8\"";
  EXPECT_EQ(text.samples.at("torc_job_ranks" + job + "}"), 16);
  const std::string served =
      job + ",function=\"MPI_Allreduce\",communicator=\"4x4\",served_by=\"torc\",reason=\"\"}";
  EXPECT_EQ(text.samples.at("torc_calls" + served), 16 + 22);
  EXPECT_DOUBLE_EQ(text.samples.at("torc_won_seconds" + served), 38 * 3e-6);
  const std::string handed =
      job +
      ",function=\"MPI_Bcast\",communicator=\"4x4\",served_by=\"mpi\",reason="
      "\"why?\\\"so\\\"\"}";
  EXPECT_EQ(text.samples.at("torc_calls" + handed), 17 + 21);
  EXPECT_FALSE(text.samples.contains("torc_won_seconds" + handed));
  JobDescription off = describedJob();
  off.off = "TORC_LIBRARY is not set";
  PrometheusText(statisticsPrometheus(off, {}));
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
  EXPECT_NEAR(statistics.calls[0].secondsWon(), 16 * 4e-6, 1e-12);
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
  EXPECT_EQ(replaceFile("a\n", "/no/x.prom").message(),
            "TORC_STATS: cannot write /no/x.prom: No such file or directory");
  const std::string path = testing::TempDir() + "/limited";
  std::filesystem::remove_all(path);
  std::filesystem::create_directory(path);
  ASSERT_TRUE(appendLine("first\n", path + "/a").ok());
  ASSERT_TRUE(replaceFile("first\n", path + "/b.prom").ok());
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
                        says(replaceFile("a second text\n", path + "/b.prom"), path + "/b.prom") &&
                        says(writeStatistics("a second table\n", path + "/a.txt"), path + "/a.txt");
    std::filesystem::remove(path + "/a.txt");
    _exit(faults ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contentOf(path + "/a"), "first\n");
  EXPECT_EQ(contentOf(path + "/b.prom"), "first\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 2);
  // A pipe that nobody reads.
  ASSERT_EQ(mkfifo((path + "/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(appendLine("a\n", path + "/pipe").ok());
  EXPECT_FALSE(replaceFile("a\n", path + "/pipe").ok());
  EXPECT_TRUE(std::filesystem::is_fifo(path + "/pipe"));
  // One whose reader is slower than the job.
  const int pipe = open((path + "/pipe").c_str(), O_RDONLY | O_NONBLOCK);
  for (const auto write : {appendLine, replaceFile}) {
    EXPECT_EQ(write(std::string(1 << 20, 'a'), path + "/pipe").message(),
              "TORC_STATS: cannot write " + path + "/pipe: Resource temporarily unavailable");
    char some[4096];
    while (read(pipe, some, sizeof(some)) > 0) {
    }
  }
  close(pipe);
  std::filesystem::remove_all(path);
}

// As a standard output is that leads to a file.
TEST(StatisticsLinesTest, WhatIsWrittenBeforeStays) {
  const std::string path = testing::TempDir() + "/before";
  std::ofstream(path) << "before\n";
  const int output = open(path.c_str(), O_WRONLY);
  EXPECT_TRUE(replaceFile("a\n", "/dev/fd/" + std::to_string(output)).ok());
  close(output);
  EXPECT_EQ(contentOf(path), "before\na\n");
  std::filesystem::remove(path);
}

TEST(StatisticsLinesTest, Syslog) {
  // A socket's path is short.
  const std::string path = "/tmp/torc-log-" + std::to_string(getpid());
  std::filesystem::remove(path);
  EXPECT_EQ(sendToSyslog("{}\n", path).message(),
            "TORC_STATS: cannot write " + path + ": No such file or directory");
  const int daemon = socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(daemon, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_TRUE(sendToSyslog("{\"torc_stats\":1}\n", path).ok());
  char text[200] = "";
  ASSERT_GT(recv(daemon, text, sizeof(text) - 1, 0), 0);
  const std::string received = text;
  EXPECT_EQ(received.substr(0, 4), "<14>");
  EXPECT_TRUE(received.ends_with(" torc[" + std::to_string(getpid()) + "]: {\"torc_stats\":1}"))
      << received;
  close(daemon);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace torc::runtime::pmpi
