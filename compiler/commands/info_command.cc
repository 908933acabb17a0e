// torc info: what torc is, and the variables TORC_... that say what it does in a job: their
// meaning, and their values here and now.
#include <unistd.h>

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <nlohmann/json.hpp>

#include "compiler/commands/commands.h"
#include "compiler/rows.h"
#include "compiler/tool.h"
#include "ir/make_error.h"
#include "settings/settings.h"
#include "support/version.h"

namespace torc::compiler {
namespace info_command {

using namespace options;

int run();
Command command("info", "print the variables that torc reads in a job, and their values", run);
Flag json{command, kJsonRow};

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 4;

/// Words in lines of at most kWidth letters.
void printParagraph(llvm::StringRef text, llvm::raw_ostream& out) {
  std::size_t column = 0;
  for (llvm::StringRef word : llvm::split(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > kWidth) {
      out << '\n';
      column = 0;
    }
    if (column == 0) {
      out.indent(kIndent) << word;
      column = kIndent + word.size();
    } else {
      out << ' ' << word;
      column += 1 + word.size();
    }
  }
  out << '\n';
}

void printText(const SettingTexts& texts, const SettingsReading& reading, llvm::raw_ostream& out) {
  out << "torc " << kVersion << '\n';
  for (std::size_t i = 0; i < settingTable().size(); ++i) {
    const SettingInfo& row = settingTable()[i];
    out << '\n' << row.name << '=' << row.values << '\n';
    printParagraph(row.meaning, out);
    const std::string_view value = texts.find(row.name);
    out.indent(kIndent) << (row.agreed ? "The same on all ranks." : "Rank 0's counts.");
    if (!row.default_value.empty()) out << " Default: " << row.default_value << '.';
    out << '\n';
    out.indent(kIndent) << "now: " << (value.empty() ? "not set" : value);
    if (!checkSetting(i, value).empty()) out << " (not valid)";
    out << '\n';
  }
  // Errors come on stderr.
  for (const std::string& warning : reading.warnings)
    out << "\nwarning: " << warning << '\n';
  for (const std::string& hint : reading.hints)
    out << "\nhint: " << hint << '\n';
}

void printJson(const SettingTexts& texts, const SettingsReading& reading, llvm::raw_ostream& out) {
  nlohmann::ordered_json document = {{"version", kVersion}};
  auto& settings = document["settings"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < settingTable().size(); ++i) {
    const SettingInfo& row = settingTable()[i];
    const std::string fault = checkSetting(i, texts.find(row.name));
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
  document["errors"] = reading.errors;
  document["warnings"] = reading.warnings;
  document["hints"] = reading.hints;
  // A value may be any bytes.
  out << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

int run() {
  const SettingTexts texts(environ);
  SettingsReading reading = readSettings(texts);
  reading.hints.insert(reading.hints.end(), reading.notes.begin(), reading.notes.end());
  std::string text;
  llvm::raw_string_ostream out(text);
  json ? printJson(texts, reading, out) : printText(texts, reading, out);
  if (llvm::Error error = writeOutput("-", text)) return inputFault(std::move(error));
  int code = kSuccess;
  for (const std::string& fault : reading.errors)
    code = inputFault(makeError(fault));
  return code;
}

}  // namespace info_command

options::Command& infoCommand() {
  return info_command::command;
}

}  // namespace torc::compiler
