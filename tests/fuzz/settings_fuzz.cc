// libFuzzer target: an environment of a line for each variable through the reader of settings. Each
// message is one line of at most a page, and no value makes it throw.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "settings/settings.h"

namespace {

void check(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (line.size() < 4096 && line.find('\n') == std::string::npos) continue;
    std::fprintf(stderr, "not a line: %s\n", line.c_str());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> variables(1, "TORC_");
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      variables.emplace_back("TORC_");
    } else if (data[i] != 0) {
      // A tab in a value stands for the end of a line, which a value may have.
      variables.back() += data[i] == '\t' ? '\n' : static_cast<char>(data[i]);
    }
  }
  std::vector<const char*> environment;
  for (const std::string& variable : variables)
    environment.push_back(variable.c_str());
  environment.push_back(nullptr);
  const torc::SettingsReading reading = torc::readSettings(torc::SettingTexts(environment.data()));
  check(reading.errors);
  check(reading.warnings);
  check(reading.hints);
  check(reading.notes);
  for (std::size_t ranks : {1u, 4u}) {
    if (reading.settings.dedicated.kind == torc::DedicatedRanks::Kind::kNone) break;
    const auto count = torc::dedicatedCount(reading.settings.dedicated, ranks);
    if (count.ok() && *count >= ranks) std::abort();
  }
  return 0;
}
