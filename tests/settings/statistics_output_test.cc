// Values of TORC_STATS, and the placeholders in files' names.
#include "settings/statistics_output.h"

#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

namespace torc {
namespace {

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

}  // namespace
}  // namespace torc
