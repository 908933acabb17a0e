// The C API for the variables TORC_...: the table that `torc info` prints.
#include <algorithm>
#include <cstring>
#include <string>
#include <unistd.h>

#include "runtime/api/api.h"
#include "runtime/api/torc.h"
#include "settings/settings.h"
#include "support/version.h"

namespace torc::runtime {
namespace {

/// Copies a text, truncated if too long, with a terminating zero.
template <std::size_t size>
void copyText(const std::string& text, char (&into)[size]) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(into, text.data(), length);
  into[length] = '\0';
}

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
  copyText(std::string(texts.effective(setting)), info.value);
  const std::string fault = checkSetting(setting, texts.find(row.name));
  copyText(fault, info.fault);
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
