// Parses values of TORC_STATS.
#include "settings/statistics_output.h"

#include <cstdlib>
#include <unistd.h>

#include "support/message.h"
#include "support/setting_values.h"

namespace torc {
namespace {

constexpr std::string_view kAllowed = "0, 1, FILE or json:FILE; ./ before a FILE with a colon";

/// Appends `text` as a part of a file name.
void appendName(std::string& path, std::string_view text) {
  for (const char letter : text)
    path += letter == '/' ? '_' : letter;
}

/// The fault of a file's placeholders, or an empty text.
std::string placeholderFault(std::string_view file) {
  for (std::size_t at = file.find('%'); at < file.size(); at = file.find('%', at + 2)) {
    const std::string_view placeholder = file.substr(at, 2);
    if (placeholder == "%j" || placeholder == "%h" || placeholder == "%%") continue;
    return message("%j (job), %h (host) and %% in a file's name, not '", shown(placeholder), "'");
  }
  return {};
}

}  // namespace

std::optional<StatisticsOutput> parseStatisticsOutput(std::string_view value,
                                                      std::string& allowed) {
  using Form = StatisticsOutput::Form;
  if (value == "0") return StatisticsOutput{};
  if (value == "1") return StatisticsOutput{Form::kTable, ""};
  if (value == "json") return StatisticsOutput{Form::kJson, ""};
  StatisticsOutput output{Form::kTable, std::string(value)};
  if (const auto [form, file] = splitForm(value); file != value) {
    output = {Form::kJson, std::string(file)};
    if (form != "json" || file.empty()) {
      allowed = kAllowed;
      return std::nullopt;
    }
  }
  allowed = placeholderFault(output.file);
  if (!allowed.empty()) return std::nullopt;
  return output;
}

std::string batchJob() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    if (const char* job = std::getenv(name); job != nullptr && *job != '\0') return job;
  }
  return message("pid-", getpid());
}

std::string hostName() {
  char name[256] = "";
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  const std::string_view whole = name;
  return std::string(whole.substr(0, whole.find('.')));
}

std::string expandPlaceholders(std::string_view file, std::string_view job, std::string_view host) {
  std::string path;
  for (std::size_t i = 0; i < file.size(); ++i) {
    if (file[i] != '%' || i + 1 == file.size()) {
      path += file[i];
      continue;
    }
    const char letter = file[++i];
    appendName(path, letter == 'j' ? job : letter == 'h' ? host : std::string_view(&letter, 1));
  }
  return path;
}

}  // namespace torc
