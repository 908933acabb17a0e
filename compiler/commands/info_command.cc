// torc info: the version of torc, and the variables TORC_... that control it in a job: their
// meaning, and their values here and now.
#include <unistd.h>

#include "compiler/commands/commands.h"
#include "compiler/jobs/set_up.h"
#include "compiler/report.h"
#include "ir/make_error.h"
#include "settings/settings.h"
#include "support/columns.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::compiler {
namespace info_command {

using namespace options;

int run();
Command command("info", "print the variables that torc reads in a job, and their values", run,
                "torc info");
Flag json{command, kJsonRow};

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 4;

/// The fault of a value, or of the file that it names; empty: none.
std::string faultOf(std::size_t setting, std::string_view value) {
  const std::string fault = checkSetting(setting, value);
  return fault.empty() ? pathFault(settingTable()[setting].name, value) : fault;
}

void printText(const SettingTexts& texts, const SettingsReading& reading, llvm::raw_ostream& out) {
  out << "torc " << kVersion << '\n';
  for (std::size_t i = 0; i < settingTable().size(); ++i) {
    const SettingInfo& row = settingTable()[i];
    out << '\n' << row.name << '=' << row.values << '\n';
    out.indent(kIndent) << wrapped(row.meaning, kIndent, kWidth) << '\n';
    const std::string_view value = texts.find(row.name);
    out.indent(kIndent) << (row.agreed ? "The same on all ranks." : "Rank 0's counts.");
    if (!row.default_value.empty()) out << " Default: " << row.default_value << '.';
    out << '\n';
    out.indent(kIndent) << "now: " << (value.empty() ? "not set" : value);
    if (!faultOf(i, value).empty()) out << " (not valid)";
    out << '\n';
  }
  // Errors come on stderr.
  for (const std::string& warning : reading.warnings)
    out << "\nwarning: " << warning << '\n';
  for (const std::string& hint : reading.hints)
    out << "\nhint: " << hint << '\n';
}

int run() {
  const SettingTexts texts(environ);
  SettingsReading reading = readSettings(texts);
  reading.hints.insert(reading.hints.end(), reading.notes.begin(), reading.notes.end());
  std::vector<Record> settings;
  for (std::size_t i = 0; i < settingTable().size(); ++i) {
    const SettingInfo& row = settingTable()[i];
    const std::string fault = faultOf(i, texts.find(row.name));
    if (!fault.empty() && checkSetting(i, texts.find(row.name)).empty() &&
        !reading.settings.disable)
      reading.errors.push_back(message(row.name, ": ", fault));
    settings.push_back({{"name", row.name},
                        {"values", row.values},
                        {"meaning", row.meaning},
                        {"agreed", row.agreed},
                        {"default", row.default_value},
                        {"set", !texts.find(row.name).empty()},
                        {"value", texts.effective(i)},
                        {"valid", fault.empty()},
                        {"fault", fault}});
  }
  const Record record = {{"version", kVersion},
                         {"settings", jsonOf(settings)},
                         {"errors", reading.errors},
                         {"warnings", reading.warnings},
                         {"hints", reading.hints}};
  int code = printReport({record}, {json},
                         [&](llvm::raw_ostream& out) { printText(texts, reading, out); });
  for (const std::string& fault : reading.errors)
    code = inputFault(makeError(fault));
  return code;
}

}  // namespace info_command

options::Command& kInfoCommand = info_command::command;

}  // namespace torc::compiler
