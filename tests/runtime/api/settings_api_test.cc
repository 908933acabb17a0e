// torc_setting_query compared with the table, and with values of the environment.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "runtime/api/torc.h"
#include "settings/settings.h"
#include "support/version.h"

namespace torc::runtime {
namespace {

torc_setting_info query(const char* name) {
  torc_setting_info info;
  EXPECT_EQ(torc_setting_query(static_cast<int>(*findSetting(name)), &info), TORC_OK);
  return info;
}

TEST(SettingsApiTest, EveryRowOfTheTable) {
  ASSERT_EQ(torc_setting_count(), static_cast<int>(settingTable().size()));
  for (int i = 0; i < torc_setting_count(); ++i) {
    torc_setting_info info;
    ASSERT_EQ(torc_setting_query(i, &info), TORC_OK);
    const SettingInfo& row = settingTable()[static_cast<std::size_t>(i)];
    // As C strings: they end where the row's texts do.
    EXPECT_EQ(std::string(info.name), row.name);
    EXPECT_EQ(std::string(info.values), row.values);
    EXPECT_EQ(std::string(info.default_value), row.default_value);
    EXPECT_EQ(std::string(info.meaning), row.meaning);
    EXPECT_EQ(info.agreed != 0, row.agreed);
  }
}

TEST(SettingsApiTest, ValuesAreThoseOfTheEnvironmentNow) {
  unsetenv("TORC_LIMITS");
  torc_setting_info info = query("TORC_LIMITS");
  EXPECT_FALSE(info.is_set);
  EXPECT_TRUE(info.valid);
  EXPECT_STREQ(info.value, "memory=256M,cache=64M,stall=30,trace_events=100000");
  EXPECT_STREQ(info.fault, "");

  setenv("TORC_LIMITS", "memory=1G", 1);
  info = query("TORC_LIMITS");
  EXPECT_TRUE(info.is_set);
  EXPECT_TRUE(info.valid);
  EXPECT_STREQ(info.value, "memory=1G");

  setenv("TORC_LIMITS", "memory=much", 1);
  info = query("TORC_LIMITS");
  EXPECT_FALSE(info.valid);
  EXPECT_STREQ(info.value, "memory=much");
  EXPECT_STREQ(
      info.fault,
      "TORC_LIMITS is 'memory=much'; allowed: memory=bytes, as 4096, 64K, 256M or 1G, up to 1024G");
}

TEST(SettingsApiTest, LongTextsAreCut) {
  const std::string path(5000, 'p');
  setenv("TORC_LIBRARY", path.c_str(), 1);
  setenv("TORC_LIMITS", path.c_str(), 1);
  EXPECT_EQ(std::string(query("TORC_LIBRARY").value), path.substr(0, 511));
  EXPECT_EQ(std::string(query("TORC_LIMITS").fault).substr(0, 116),
            "TORC_LIMITS is '" + path.substr(0, 100));
  EXPECT_LT(std::string(query("TORC_LIMITS").fault).size(), 250u) << "faults quote no more";
}

TEST(SettingsApiTest, WrongArguments) {
  torc_setting_info info;
  EXPECT_EQ(torc_setting_query(-1, &info), TORC_ERR_ARGUMENT);
  EXPECT_EQ(torc_setting_query(torc_setting_count(), &info), TORC_ERR_ARGUMENT);
  EXPECT_EQ(std::string(torc_error_message()),
            "torc_setting_query: no setting " + std::to_string(torc_setting_count()) +
                " (there are " + std::to_string(torc_setting_count()) + ")");
  EXPECT_EQ(info.name, nullptr);
  EXPECT_EQ(torc_setting_query(0, nullptr), TORC_ERR_ARGUMENT);
  EXPECT_STREQ(torc_error_message(), "torc_setting_query: info is NULL");
}

TEST(SettingsApiTest, Version) {
  EXPECT_EQ(std::string(torc_version()), kVersion);
}

}  // namespace
}  // namespace torc::runtime
