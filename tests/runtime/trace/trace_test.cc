// The ring, clocks, and the file of ranks within one process.
#include "runtime/trace/trace.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/runtime/allocation_counter.h"
#include "tests/runtime/trace/trace_facts.h"
#include "trace/trace_file.h"

namespace torc::runtime {
namespace {

using testing::IsEmpty;

TraceEvent eventAt(std::int64_t begin, std::int64_t end, TraceKind kind) {
  TraceEvent event;
  event.begin = begin;
  event.end = end;
  event.kind = kind;
  event.stream_row = 0;
  return event;
}

std::string contentsOf(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string temporaryPath() {
  return testing::TempDir() + "/trace_test.json";
}

/// The file of these ranks, read.
TraceFacts written(std::vector<RankTrace>& ranks, std::int64_t start = 0) {
  const std::string path = temporaryPath();
  StatusOr<std::unique_ptr<TraceFile>> file = TraceFile::create(path, start);
  EXPECT_TRUE(file.ok()) << file.status().message();
  for (RankTrace& rank : ranks)
    (*file)->add(rank);
  EXPECT_EQ((*file)->finish().message(), "");
  return readTrace(contentsOf(path));
}

TEST(Trace, AFullRingDropsTheOldest) {
  Trace trace(4, 0);
  for (int i = 0; i < 10; ++i)
    trace.record(eventAt(i, i + 1, TraceKind::kCall));
  const std::vector<TraceEvent> left = trace.close();
  ASSERT_EQ(left.size(), 4u);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(left[static_cast<std::size_t>(i)].begin, 6 + i);
  EXPECT_EQ(trace.dropped(), 6u);
  trace.record(eventAt(0, 1, TraceKind::kCall));
  EXPECT_EQ(trace.close().size(), 4u);
  EXPECT_EQ(trace.dropped(), 6u) << "recorded after close";
}

TEST(Trace, RecordingAllocatesNothing) {
  if (!allocationsAreCounted()) GTEST_SKIP();
  Trace trace(100, 0);
  const std::uint32_t name = trace.text("a text that is longer than a string's own buffer");
  const std::uint64_t before = allocationCount();
  for (int i = 0; i < 1000; ++i) {
    TraceEvent event = eventAt(i, i + 1, TraceKind::kCall);
    event.name = trace.text("a text that is longer than a string's own buffer");
    EXPECT_EQ(event.name, name);
    trace.record(event);
  }
  EXPECT_EQ(allocationCount(), before);
}

TEST(Trace, ThreadsRecordAtOnce) {
  Trace trace(8000, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&trace, t] {
      for (int i = 0; i < 1000; ++i) {
        const TraceCall call(&trace, t % 2 == 0 ? "MPI_Wait" : "MPI_Test");
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  RankTrace rank;
  rank.events = trace.close();
  rank.texts = trace.texts();
  std::vector<RankTrace> ranks;
  ranks.push_back(rank);
  // Calls of several threads overlap: the file has a lane for each. A call is recorded when it
  // ends, so that the first in the list is not always the first to begin.
  const auto first =
      std::min_element(rank.events.begin(), rank.events.end(),
                       [](const TraceEvent& a, const TraceEvent& b) { return a.begin < b.begin; });
  const TraceFacts facts = written(ranks, first->begin);
  EXPECT_THAT(facts.faults, IsEmpty());
  EXPECT_EQ(facts.events.at("MPI_Wait"), 2000u);
  EXPECT_EQ(facts.events.at("MPI_Test"), 2000u);
}

TEST(TraceClock, OffsetsChangeEvenlyBetweenTheSamples) {
  const ClockSample first{1000, 100, 0}, last{2000, 200, 0};
  EXPECT_EQ(onClockOfRank0(first, last, 1000), 900);
  EXPECT_EQ(onClockOfRank0(first, last, 1500), 1350);
  EXPECT_EQ(onClockOfRank0(first, last, 2000), 1800);
  EXPECT_EQ(onClockOfRank0(first, first, 1500), 1400);
  // Days since the boot do not cost nanoseconds.
  const std::int64_t day = 86'400'000'000'000;
  EXPECT_EQ(onClockOfRank0({100 * day, 7, 0}, {100 * day + 1000, 7, 0}, 100 * day + 1),
            100 * day - 6);
}

TEST(TraceClock, ProcessesOfAHostReadOneClock) {
  EXPECT_EQ(traceClockIdentity(), traceClockIdentity());
  EXPECT_NE(traceClockIdentity(), 0u);
}

TEST(JsonString, IsAlwaysJson) {
  for (const std::string& text :
       {std::string("plain"), std::string("\"quoted\" \\ back"), std::string("tab\tnew\nline\x01"),
        std::string("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80"), std::string(1, '\0')}) {
    EXPECT_EQ(nlohmann::json::parse(jsonString(text)).get<std::string>(), text);
  }
  // Not UTF-8: a lone byte, cut off, longer than need be, a surrogate, beyond the last character.
  for (const char* text : {"a\x80z", "a\xe2\x82z", "a\xc0\xafz", "a\xed\xa0\x80z", "a\xf5z"}) {
    const std::string read = nlohmann::json::parse(jsonString(text));
    EXPECT_TRUE(read.starts_with("a\xef\xbf\xbd") && read.ends_with("z")) << read;
  }
}

TEST(TraceFile, LaysOverlappingEventsSideBySide) {
  std::vector<RankTrace> ranks(1);
  ranks[0].coordinates = "(0) of 1";
  ranks[0].dropped = 5;
  ranks[0].events = {eventAt(0, 100, TraceKind::kSend), eventAt(50, 150, TraceKind::kSend),
                     eventAt(100, 100, TraceKind::kSend), eventAt(10, 20, TraceKind::kReduce),
                     eventAt(0, 300, TraceKind::kCall)};
  ranks[0].events[4].name = 0;
  ranks[0].texts = {"MPI_Allreduce"};
  const TraceFacts facts = written(ranks);
  EXPECT_THAT(facts.faults, IsEmpty());
  EXPECT_EQ(facts.ranks.at(0), "rank 0 at (0) of 1");
  EXPECT_EQ(facts.dropped, 5u);
  EXPECT_EQ(facts.events.at("MPI_Allreduce"), 1u);
  const std::map<std::string, std::uint64_t> rows = {
      {"calls", 1}, {"color 0 +, sends", 1}, {"color 0 +, sends (2)", 1}, {"color 0 +, work", 1}};
  EXPECT_EQ(facts.rows, rows);
}

TEST(TraceFile, AFullDiskIsAnErrorAndLeavesNothing) {
  const std::string path = testing::TempDir() + "full.json";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{10000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  // Found out on the way, and at the very end.
  for (const int events : {1000, 100}) {
    StatusOr<std::unique_ptr<TraceFile>> file = TraceFile::create(path, 0);
    ASSERT_TRUE(file.ok());
    RankTrace rank;
    for (int i = 0; i < events; ++i)
      rank.events.push_back(eventAt(1000 * i, 1000 * i + 500, TraceKind::kCall));
    (*file)->add(rank);
    const Status status = (*file)->finish();
    EXPECT_FALSE(status.ok()) << events;
    EXPECT_THAT(status.message(),
                testing::EndsWith("File too large: files may have 10000 bytes (ulimit -f)"));
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TraceFile, APipeIsWrittenNotReplaced) {
  const std::string path = testing::TempDir() + "/trace_test.pipe";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(TraceFile::create(path, 0).status().message(),
            "cannot write '" + path + "': No such device or address");  // nobody reads
  const int pipe = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  auto file = TraceFile::create(path, 0);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE((*file)->finish().ok());
  char text[16] = {};
  EXPECT_EQ(read(pipe, text, sizeof(text) - 1), 15);
  EXPECT_STREQ(text, "{\"traceEvents\":");
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  close(pipe);
  std::filesystem::remove(path);
}

// As a standard output is that leads to a file.
TEST(TraceFile, WhatIsWrittenBeforeStays) {
  const std::string path = temporaryPath();
  std::ofstream(path) << "before";
  const int output = open(path.c_str(), O_WRONLY);
  const std::string name = "/dev/fd/" + std::to_string(output);
  ASSERT_TRUE(TraceFile::create(name, 0).ok());
  EXPECT_EQ(contentsOf(path), "before");
  auto file = TraceFile::create(name, 0);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE((*file)->finish().ok());
  close(output);
  EXPECT_THAT(contentsOf(path), testing::StartsWith("before{\"traceEvents\":[\n]"));
}

TEST(TraceFile, AFileThatIsNotFinishedLeavesNothing) {
  const std::string path = temporaryPath();
  std::ofstream(path) << "old";
  {
    StatusOr<std::unique_ptr<TraceFile>> file = TraceFile::create(path, 0);
    ASSERT_TRUE(file.ok()) << file.status().message();
  }
  EXPECT_EQ(contentsOf(path), "old");
  EXPECT_EQ(TraceFile::create("/nowhere/t.json", 0).status().message(),
            "cannot write '/nowhere/t.json': No such file or directory");
}

// The facts that tests rely on find faults: a trace whose flow has one end, and one that overlaps.
TEST(TraceFacts, FindsFaults) {
  const std::string head =
      R"({"otherData":{"ranks":1,"events":2,"dropped":0},"traceEvents":[)"
      R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"rank 0"}},)"
      R"({"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"calls"}},)";
  const std::string overlap =
      R"({"ph":"X","pid":1,"tid":1,"ts":0.0,"dur":2.0,"name":"a","args":{}},)"
      R"({"ph":"X","pid":1,"tid":1,"ts":1.0,"dur":2.0,"name":"b","args":{}}]})";
  const std::string flow =
      R"({"ph":"X","pid":1,"tid":1,"ts":0.0,"dur":1.0,"name":"send","args":{}},)"
      R"({"ph":"X","pid":1,"tid":1,"ts":1.0,"dur":2.0,"name":"b","args":{}},)"
      R"({"ph":"s","pid":1,"tid":1,"ts":0.0,"id":"1"}]})";
  EXPECT_EQ(readTrace(head + overlap).faults.size(), 1u);
  EXPECT_THAT(readTrace(head + flow).faults,
              testing::ElementsAre("flow 1 has 1 starts, 0 finishes"));
  EXPECT_EQ(readTrace(head).faults.size(), 1u);
}

}  // namespace
}  // namespace torc::runtime
