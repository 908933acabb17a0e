// The variables TORC_...: values, defaults, faults.
// Values of TORC_STATS, and the placeholders in files' names.
// The values of TORC_DEDICATED and TORC_DEDICATED_OPERATIONS.
#include "settings/settings.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "settings/dedicated_ranks.h"
#include "settings/statistics_output.h"
#include "support/setting_values.h"

namespace torc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SettingsReading read(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return readSettings(SettingTexts(environment.data()));
}

/// The one error of a reading.
std::string errorOf(const char* variable) {
  const SettingsReading reading = read({"TORC_LIBRARY=lib", variable});
  return reading.errors.size() == 1 ? reading.errors[0]
                                    : std::to_string(reading.errors.size()) + " errors";
}

TEST(SettingsTest, DefaultsAreThoseOfTheTable) {
  const SettingsReading reading = read({"HOME=/root", "TORCH_HOME=/t"});
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_THAT(reading.warnings, IsEmpty());
  EXPECT_THAT(reading.hints, IsEmpty());
  const Settings& settings = reading.settings;
  EXPECT_EQ(settings.library, "");
  EXPECT_FALSE(settings.disable);
  EXPECT_FALSE(settings.strict);
  EXPECT_EQ(settings.memory, std::uint64_t{256} << 20);
  EXPECT_EQ(settings.cache, std::uint64_t{64} << 20);
  EXPECT_EQ(settings.scratch, kNoLimit);
  EXPECT_EQ(settings.progress, ProgressMode::kWait);
  EXPECT_EQ(settings.verbosity, Verbosity::kHints);
  EXPECT_FALSE(settings.statistics.isWanted());
  EXPECT_EQ(settings.stall, 30u);
  EXPECT_EQ(settings.trace_events, 100000u);
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(settings.serves(collective), rowOf(collective).isIntercepted()) << i;
  }
}

TEST(SettingsTest, EveryVariableIsRead) {
  const SettingsReading reading =
      read({"TORC_LIBRARY=/opt/torc lib", "TORC_TORUS=4x4m+2", "TORC_ORDER=TYX", "TORC_MACHINE=bgp",
            "TORC_STRICT=1", "TORC_COLLECTIVES=allgather",
            "TORC_LIMITS=memory=1g,cache=0,trace_events=5", "TORC_PROGRESS=thread",
            "TORC_VERBOSE=2", "TORC_STATS=out.txt", "TORC_TRACE=t.json"});
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_THAT(reading.warnings, IsEmpty());
  EXPECT_THAT(reading.hints, IsEmpty());
  const Settings& settings = reading.settings;
  EXPECT_EQ(settings.library, "/opt/torc lib");
  EXPECT_EQ(settings.torus, "4x4m+2");
  EXPECT_EQ(settings.order, "TYX");
  EXPECT_EQ(settings.machine, "bgp");
  EXPECT_TRUE(settings.strict);
  EXPECT_FALSE(settings.serves(Collective::kAllreduce));
  EXPECT_FALSE(settings.serves(Collective::kReduceScatter));
  EXPECT_TRUE(settings.serves(Collective::kAllgather));
  EXPECT_EQ(settings.memory, std::uint64_t{1} << 30);
  EXPECT_EQ(settings.cache, 0u);
  EXPECT_EQ(settings.progress, ProgressMode::kThread);
  EXPECT_EQ(settings.verbosity, Verbosity::kCommunicators);
  EXPECT_TRUE(settings.statistics.isWanted());
  EXPECT_EQ(settings.statistics.file, "out.txt");
  EXPECT_EQ(read({"TORC_VERBOSE=explain"}).settings.verbosity, Verbosity::kCalls);
  EXPECT_EQ(settings.trace, "t.json");
  EXPECT_EQ(settings.trace_events, 5u);
  EXPECT_EQ(read({"TORC_LIBRARY=l", "TORC_MAPPING=job.map"}).settings.mapping, "job.map");
  EXPECT_TRUE(read({"TORC_DISABLE=1"}).settings.disable);
}

// A variable that the test above forgets would not be seen to be read: every one has an effect.
TEST(SettingsTest, EveryRowOfTheTableChangesTheSettings) {
  std::map<std::string, std::string> others;
  std::istringstream text(
      "TORC_TORUS=2x2 TORC_ORDER=YX TORC_DISABLE=1 TORC_STRICT=1 TORC_COLLECTIVES=allreduce "
      "TORC_LIMITS=memory=1 TORC_PROGRESS=thread TORC_TRANSPORT=mpi TORC_CORES=2 "
      "TORC_USER_OPERATIONS=parts TORC_TUNE=1 TORC_DEDICATED=1:8 TORC_DEDICATED_OPERATIONS=none "
      "TORC_VERBOSE=0 TORC_STATS=1");
  for (std::string name, value; std::getline(text, name, '=') && text >> value >> std::ws;)
    others[name] = value;
  const Settings defaults = read({}).settings;
  for (std::size_t i = 0; i < settingTable().size(); ++i) {
    const SettingInfo& row = settingTable()[i];
    const auto other = others.find(std::string(row.name));
    const std::string value = other != others.end() ? other->second : "text";
    SettingTexts texts;
    texts.set(row.name, value);
    EXPECT_NE(readSettings(texts).settings, defaults) << row.name;
    EXPECT_EQ(checkSetting(i, value), "") << row.name;
    EXPECT_EQ(checkSetting(i, row.default_value), "") << row.name;
    EXPECT_EQ(findSetting(row.name), i);
    EXPECT_FALSE(row.meaning.empty() || row.values.empty()) << row.name;
  }
}

// The texts of these, and of other errors, warnings and hints: tests/compiler/commands/info.test.
TEST(SettingsTest, WrongValuesOfObserversAreIgnored) {
  const SettingsReading reading = read({"TORC_VERBOSE=4", "TORC_STATS=jsn:a", "TORC_TRACE=cals:a",
                                        "TORC_LIMITS=stall=x,memory=1,trace_events=-1"});
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_EQ(reading.warnings.size(), 4u);
  Settings expected = read({}).settings;
  expected.memory = 1;
  EXPECT_EQ(reading.settings, expected);
}

TEST(SettingsTest, LimitsThatAreNone) {
  for (const char* wrong : {"TORC_LIMITS=1G", "TORC_LIMITS=memory", "TORC_LIMITS=stall=1,,"}) {
    EXPECT_THAT(errorOf(wrong), testing::EndsWith("allowed: memory=BYTES, cache=BYTES, "
                                                  "scratch=BYTES, stall=SECONDS and "
                                                  "trace_events=N, separated by commas"));
  }
}

TEST(SettingsTest, AnOrderNamesAnAxisOnce) {
  for (const char* wrong : {"TORC_ORDER=XXY", "TORC_ORDER=XYX", "TORC_ORDER=XYQ"})
    EXPECT_THAT(errorOf(wrong), testing::HasSubstr("axes of XYZUVWST, each once")) << wrong;
}

TEST(SettingsTest, AWrongValueLeavesTheDefault) {
  const Settings settings =
      read({"TORC_COLLECTIVES=allreduce,sum", "TORC_LIMITS=cache=1,memory=1X"}).settings;
  EXPECT_TRUE(settings.serves(Collective::kAllgather));
  EXPECT_EQ(settings.memory, std::uint64_t{256} << 20);
  EXPECT_EQ(settings.cache, std::uint64_t{64} << 20);
}

TEST(SettingsTest, RetiredValuesAreWarnedOfAndHaveNoEffect) {
  for (const char* variable :
       {"TORC_TRANSPORT=ucx", "TORC_TRANSPORT=put+ucx", "TORC_STATS=prometheus:x.prom",
        "TORC_COMMUNICATORS=9", "TORC_NONBLOCKING=1", "TORC_DEDICATED=auto:8",
        "TORC_DEDICATED_FILE=x", "TORC_STATS=syslog"}) {
    const SettingsReading reading = read({variable});
    EXPECT_EQ(reading.settings, read({}).settings) << variable;
    EXPECT_THAT(reading.errors, IsEmpty());
    EXPECT_THAT(reading.hints, IsEmpty());
    const std::string_view text = variable;
    EXPECT_THAT(reading.warnings, ElementsAre(testing::StartsWith(variable + std::string(": "))));
    const std::size_t equals = text.find('=');
    if (const auto setting = findSetting(text.substr(0, equals))) {
      EXPECT_EQ(checkSetting(*setting, text.substr(equals + 1)), reading.warnings[0]);
    }
  }
}

TEST(SettingsTest, FormerVariablesSetThoseInTheirPlace) {
  SettingsReading reading =
      read({"TORC_LIBRARY=l", "TORC_MEMORY=1M", "TORC_CACHE=0", "TORC_SCRATCH=2K", "TORC_STALL=5",
            "TORC_TRACE_EVENTS=7", "TORC_EXPLAIN=1"});
  const SettingsReading now = read({"TORC_LIBRARY=l",
                                    "TORC_LIMITS=memory=1M,cache=0,scratch=2K,stall=5,"
                                    "trace_events=7",
                                    "TORC_VERBOSE=3"});
  EXPECT_EQ(reading.settings, now.settings);
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_THAT(reading.warnings, IsEmpty());
  EXPECT_THAT(reading.hints, IsEmpty());
  EXPECT_EQ(reading.notes.size(), 6u);
  EXPECT_THAT(now.notes, IsEmpty());
  // The new one wins.
  reading = read({"TORC_LIBRARY=l", "TORC_LIMITS=cache=1", "TORC_MEMORY=1M", "TORC_EXPLAIN=0"});
  EXPECT_EQ(reading.settings, read({"TORC_LIBRARY=l", "TORC_LIMITS=cache=1"}).settings);
  EXPECT_THAT(reading.hints, ElementsAre("TORC_MEMORY=1M has no effect: TORC_LIMITS is set"));
  EXPECT_THAT(errorOf("TORC_MEMORY=lots"), testing::StartsWith("TORC_LIMITS is 'memory=lots';"));
}

TEST(SettingsTest, DisabledNothingElseIsLookedAt) {
  const SettingsReading reading =
      read({"TORC_DISABLE=1", "TORC_LIMITS=lots", "TORC_LIBARY=x", "TORC_ORDER=XY"});
  EXPECT_TRUE(reading.settings.disable);
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_THAT(reading.warnings, IsEmpty());
  EXPECT_THAT(reading.hints, IsEmpty());
}

TEST(SettingTextsTest, EmptyIsNotSetAndTheFirstOfTwoCounts) {
  const char* environment[] = {"TORC_LIMITS=", "TORC_STATS=a", "TORC_STATS=b", nullptr};
  const SettingTexts texts(environment);
  EXPECT_EQ(texts.all().size(), 1u);
  EXPECT_EQ(texts.effective(*findSetting("TORC_LIMITS")),
            "memory=256M,cache=64M,stall=30,trace_events=100000");
  EXPECT_EQ(texts.effective(*findSetting("TORC_STATS")), "a");
  EXPECT_EQ(texts.find("TORC_LIMITS"), "");
}

TEST(SettingValuesTest, Bytes) {
  EXPECT_EQ(parseBytes("0"), 0u);
  EXPECT_EQ(parseBytes("4096"), 4096u);
  EXPECT_EQ(parseBytes("64k"), 65536u);
  EXPECT_EQ(parseBytes("1024G"), std::uint64_t{1} << 40);
  EXPECT_EQ(parseBytes("64KiB"), 65536u);
  for (const char* wrong : {"", "K", "1025G", "-1", "1.5M", "1iB", " 1", "99999999999999999999"}) {
    EXPECT_EQ(parseBytes(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(bytesText(0), "0");
  EXPECT_EQ(bytesText(65536), "64K");
  EXPECT_EQ(bytesText(1000), "1000");
}

TEST(SettingsTest, WhatIsWrongIsToldInALineOfBoundedLength) {
  const std::string value(100'000, 'x');
  const std::string fault = errorOf(("TORC_LIMITS=1\n" + value).c_str());
  EXPECT_THAT(fault, testing::StartsWith("TORC_LIMITS is '1?xxx"));
  EXPECT_LT(fault.size(), 300u);
  EXPECT_LT(errorOf(("TORC_TORUS=" + value).c_str()).size(), 500u);
  const SettingsReading unknown = read({("TORC_" + value + "=1").c_str()});
  ASSERT_EQ(unknown.warnings.size(), 1u);
  EXPECT_LT(unknown.warnings[0].size(), 300u);
}

// A copy of this program that belongs to another group, and runs as that.
TEST(SettingsTest, AProgramWithMoreRightsThanItsUserHasNone) {
  constexpr int kNone = 40, kSome = 41;
  if (getauxval(AT_SECURE) != 0) {
    const char* environment[] = {"TORC_STATS=/etc/passwd", "TORC_DISABLE=1", nullptr};
    std::_Exit(SettingTexts(environment).all().empty() ? kNone : kSome);
  }
  if (std::getenv("SETTINGS_TEST_COPY") != nullptr) std::_Exit(0);
  const std::string copy = testing::TempDir() + "/settings_test_copy";
  std::filesystem::copy_file("/proc/self/exe", copy,
                             std::filesystem::copy_options::overwrite_existing);
  if (chown(copy.c_str(), static_cast<uid_t>(-1), getegid() + 1) != 0 ||
      chmod(copy.c_str(), 02755) != 0) {
    GTEST_SKIP() << "no right to give a file to another group";
  }
  const int status = std::system(
      ("SETTINGS_TEST_COPY=1 " + copy + " --gtest_filter=*MoreRights* >/dev/null").c_str());
  std::filesystem::remove(copy);
  if (WEXITSTATUS(status) == 0) GTEST_SKIP() << "the test's folder is mounted without set-group-id";
  EXPECT_EQ(WEXITSTATUS(status), kNone);
}

TEST(SettingsTest, OfANameThatOccursTwiceTheFirstCounts) {
  EXPECT_EQ(read({"TORC_LIBRARY=a", "TORC_CORES=2", "TORC_LIBRARY=b"}).settings.library, "a");
  EXPECT_EQ(read({"TORC_LIBRARY=", "TORC_LIBRARY=b"}).settings.library, "");
}

using Form = StatisticsOutput::Form;

std::string allowedFor(std::string_view value) {
  std::string allowed;
  EXPECT_FALSE(parseStatisticsOutput(value, allowed)) << value;
  return allowed;
}

TEST(StatisticsOutputTest, FormsAndFiles) {
  const std::tuple<const char*, Form, const char*> values[] = {
      {"0", Form::kNone, ""},
      {"1", Form::kTable, ""},
      {"table.txt", Form::kTable, "table.txt"},
      {"./odd:name", Form::kTable, "./odd:name"},
      {"run-1:2", Form::kTable, "run-1:2"},
      {"json", Form::kJson, ""},
      {"json:/var/log/torc-%j-%h.jsonl", Form::kJson, "/var/log/torc-%j-%h.jsonl"},
      {"json:a:b", Form::kJson, "a:b"}};
  for (const auto& [value, form, file] : values) {
    std::string allowed;
    const auto output = parseStatisticsOutput(value, allowed);
    ASSERT_TRUE(output) << value;
    EXPECT_EQ(*output, (StatisticsOutput{form, file})) << value;
  }
}

TEST(StatisticsOutputTest, OtherFormsAreNoFiles) {
  const std::string forms = "0, 1, FILE or json:FILE; ./ before a FILE with a colon";
  for (const char* value : {"jsn:/tmp/a", "JSON:a", "json:", ":a"})
    EXPECT_EQ(allowedFor(value), forms) << value;
}

TEST(StatisticsOutputTest, WrongPlaceholders) {
  for (const auto& [value, shown] : {std::pair("json:/a/%q", "%q"), std::pair("t-%j-%", "%"),
                                     std::pair("json:%%%d", "%d"), std::pair("%\n", "%?")}) {
    EXPECT_EQ(allowedFor(value),
              std::string("%j (job), %h (host) and %% in a file's name, not '") + shown + "'");
  }
}

TEST(StatisticsOutputTest, Placeholders) {
  EXPECT_EQ(expandPlaceholders("/a/%h/torc-%j%%j%j.x", "7.pbs", "n01"),
            "/a/n01/torc-7.pbs%j7.pbs.x");
  EXPECT_EQ(expandPlaceholders("%j", "../../etc/%h", "n"), ".._.._etc_%h");
  EXPECT_EQ(expandPlaceholders("", "7", "n"), "");
}

TEST(StatisticsOutputTest, JobOfTheBatchSystem) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"})
    unsetenv(name);
  EXPECT_EQ(batchJob(), "pid-" + std::to_string(getpid()));
  setenv("PBS_JOBID", "12.server", 1);
  EXPECT_EQ(batchJob(), "12.server");
  setenv("SLURM_JOB_ID", "34", 1);
  EXPECT_EQ(batchJob(), "34");
  EXPECT_EQ(hostName().find('.'), std::string::npos);
  EXPECT_FALSE(hostName().empty());
}

using testing::HasSubstr;
using Kind = DedicatedRanks::Kind;

TEST(DedicatedRanksTest, RatiosNumbersAndLists) {
  EXPECT_EQ(parseDedicatedRanks("1:8"), (DedicatedRanks{Kind::kRatio, 8, {}}));
  EXPECT_EQ(parseDedicatedRanks("=16"), (DedicatedRanks{Kind::kNumber, 16, {}}));
  EXPECT_EQ(parseDedicatedRanks("1:8@nodes"), (DedicatedRanks{Kind::kRatio, 8, {}, true}));
  EXPECT_EQ(parseDedicatedRanks("=4@nodes"), (DedicatedRanks{Kind::kNumber, 4, {}, true}));
  EXPECT_THAT(parseDedicatedRanks("7,3,12-15,13,16")->list,
              ElementsAre(RankRange{3, 3}, RankRange{7, 7}, RankRange{12, 16}));
  EXPECT_THAT(parseDedicatedRanks("0")->list, ElementsAre(RankRange{0, 0}));
  for (const char* wrong : {"", "1:0", "2:8", "=0", "=", "1:", "-1", "3-1", "1,", ",1", "1,,2", "a",
                            "1:8x", "3@nodes", "1:8@", "auto", "99999999", "0-99999999"}) {
    EXPECT_EQ(parseDedicatedRanks(wrong), std::nullopt) << wrong;
  }
}

/// Ranges are kept as such: what is kept is no longer than the text, however many ranks it names.
TEST(DedicatedRanksTest, RangesCostTheirText) {
  std::string all = "0-16777215", odd = "1";
  for (int i = 1; i < 1000; ++i) {
    all += ",0-16777215";
    odd += "," + std::to_string(2 * i + 1);
  }
  EXPECT_THAT(parseDedicatedRanks(all)->list, ElementsAre(RankRange{0, (1 << 24) - 1}));
  EXPECT_EQ(dedicatedCount(*parseDedicatedRanks(all), 4).status().message(),
            "the job has no rank 16777215; its ranks are 0 to 3");
  EXPECT_EQ(parseDedicatedRanks(odd)->list.size(), 1000u);
}

TEST(DedicatedRanksTest, HowMany) {
  const auto count = [](const char* text, std::size_t ranks) {
    return *dedicatedCount(*parseDedicatedRanks(text), ranks);
  };
  EXPECT_EQ(count("1:4", 640), 128u);  // Sancho et al., Section IV.A
  EXPECT_EQ(count("1:3", 8), 2u);
  EXPECT_EQ(count("1:3", 10), 2u);
  EXPECT_EQ(count("=7", 8), 7u);
  EXPECT_EQ(count("1,2", 8), 2u);
  EXPECT_EQ(count("1:8", 9), 1u);
  EXPECT_EQ(dedicatedCount(*parseDedicatedRanks("1:8"), 8).status().message(),
            "of 8 ranks none would be dedicated; at least 9 are needed");
}

TEST(DedicatedRanksTest, Limits) {
  std::string allowed;
  const std::optional<OffloadLimits> limits =
      parseOffloadLimits("allreduce:1K,iallreduce,barrier,ireduce_scatter:0", allowed);
  ASSERT_TRUE(limits);
  const auto at = [](const OffloadLimits::Row& row, OffloadedCollective collective) {
    return row[collective.index()];
  };
  EXPECT_EQ(at(limits->blocking, {Collective::kAllreduce}), 1024u);
  EXPECT_EQ(at(limits->nonblocking, {Collective::kAllreduce}), kMostOffloadedBytes);
  EXPECT_EQ(at(limits->blocking, {.is_barrier = true}), kMostOffloadedBytes);
  EXPECT_EQ(at(limits->nonblocking, {.is_barrier = true}), std::nullopt);
  EXPECT_EQ(at(limits->nonblocking, {Collective::kReduceScatter}), 0u);
  EXPECT_EQ(parseOffloadLimits("none", allowed), OffloadLimits());
  for (const char* wrong : {"", "all", "scan", "allreduce:", "allreduce:1T", "allreduce:17M",
                            "allreduce,", "iiallreduce", "allreduce:1K:2"}) {
    EXPECT_EQ(parseOffloadLimits(wrong, allowed), std::nullopt) << wrong;
  }
  EXPECT_THAT(allowed, HasSubstr("allreduce, iallreduce, reduce"));
}

}  // namespace
}  // namespace torc
