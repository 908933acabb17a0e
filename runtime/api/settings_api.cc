// The C API for the variables TORC_...: the table that `torc info` prints.
#include <cstdio>
#include <string>
#include <unistd.h>

#include "runtime/api/api.h"
#include "runtime/api/torc.h"
#include "settings/settings.h"
#include "support/version.h"

namespace torc::runtime {
namespace {

/// Copies a text, truncated if too long, with a terminating zero.
Status querySetting(int index, torc_setting_info* result) {
  if (result == nullptr) return nullArgument("info");
  torc_setting_info& info = *result = {};
  const auto table = settingTable();
  if (index < 0 || static_cast<std::size_t>(index) >= table.size()) {
    return {StatusCode::kInvalidArgument,
            message("no setting ", index, " (there are ", table.size(), ")")};
  }
  const auto setting = static_cast<std::size_t>(index);
  const SettingInfo& row = table[setting];
  const SettingTexts texts(environ);
  // These are views of literals, which end with zeros.
  info.name = row.name.data();
  info.values = row.values.data();
  info.default_value = row.default_value.data();
  info.meaning = row.meaning.data();
  info.agreed = row.agreed ? 1 : 0;
  info.is_set = texts.find(row.name).empty() ? 0 : 1;
  const std::string value(texts.effective(setting));
  std::snprintf(info.value, sizeof(info.value), "%s", value.c_str());
  const std::string fault = checkSetting(setting, texts.find(row.name));
  std::snprintf(info.fault, sizeof(info.fault), "%s", fault.c_str());
  info.valid = fault.empty() ? 1 : 0;
  return {};
}

}  // namespace
}  // namespace torc::runtime

using namespace torc::runtime;

const char* torc_version(void) {
  return torc::kVersion.data();
}

int torc_setting_count(void) {
  return static_cast<int>(torc::settingTable().size());
}

int torc_setting_query(int index, torc_setting_info* info) {
  return apiCall(__func__, [&] { return querySetting(index, info); });
}
