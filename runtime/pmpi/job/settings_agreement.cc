// Settings of a job: compared by hashes; only where those differ are texts looked at.
#include "runtime/pmpi/job/settings_agreement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "runtime/transport/yielding_wait.h"
#include "support/hash.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::string_view kVersionName = "torc's version";

/// What must be equal, as names and texts: the version, TORC_DISABLE, and unless that is set the
/// other variables of the table.
std::vector<std::pair<std::string_view, std::string_view>> agreedTexts(const SettingTexts& texts) {
  std::vector<std::pair<std::string_view, std::string_view>> agreed = {{kVersionName, kVersion}};
  const std::size_t disable = *findSetting("TORC_DISABLE");
  agreed.emplace_back(settingTable()[disable].name, texts.effective(disable));
  if (texts.effective(disable) == "1") return agreed;
  for (std::size_t i = 0; i < settingTable().size(); ++i) {
    if (settingTable()[i].agreed && i != disable) {
      agreed.emplace_back(settingTable()[i].name, texts.effective(i));
    }
  }
  return agreed;
}

/// Every variable, also unknown ones, as NAME=value, each ended by a zero.
std::string serialised(const SettingTexts& texts) {
  std::string bytes;
  for (const auto& [name, value] : texts.all())
    bytes += name + '=' + value + '\0';
  return bytes;
}

SettingTexts parsed(std::string_view bytes) {
  SettingTexts texts;
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\0'));
    bytes.remove_prefix(line.size() + 1);
    const std::size_t equals = line.find('=');
    texts.set(line.substr(0, equals), line.substr(equals + 1));
  }
  return texts;
}

/// The text of rank `root`, on all ranks.
std::string broadcast(std::string text, int root, MPI_Comm comm) {
  std::uint64_t size = text.size();
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(PMPI_Ibcast(&size, 1, MPI_UINT64_T, root, comm, &request), &request);
  text.resize(size);
  waitYielding(PMPI_Ibcast(text.data(), static_cast<int>(size), MPI_CHAR, root, comm, &request),
               &request);
  return text;
}

std::string valueText(std::string_view name, std::string_view value) {
  if (name == kVersionName) return std::string(value);
  return value.empty() ? "not set" : message("'", value, "'");
}

/// The first variable, in the table's order, that a rank has otherwise than rank 0, and that rank.
/// Empty where all are equal.
std::string difference(const SettingTexts& mine, const std::string& version_of_rank0,
                       const SettingTexts& rank0, MPI_Comm comm) {
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  const auto own = agreedTexts(mine);
  auto wanted = agreedTexts(rank0);
  wanted[0].second = version_of_rank0;
  // Lists of different lengths differ in TORC_DISABLE already; of another version the table may be
  // another, and nothing behind the version is compared.
  std::size_t first = 0;
  while (first < std::min(own.size(), wanted.size()) && own[first].second == wanted[first].second)
    ++first;
  std::int64_t lowest = first < std::min(own.size(), wanted.size())
                            ? static_cast<std::int64_t>(first) * size + rank
                            : std::numeric_limits<std::int64_t>::max();
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(PMPI_Iallreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT64_T, MPI_MIN, comm, &request),
               &request);
  if (lowest == std::numeric_limits<std::int64_t>::max()) return {};
  const int other = static_cast<int>(lowest % size);
  first = static_cast<std::size_t>(lowest / size);
  const std::string_view name = wanted[first].first;
  const std::string value = broadcast(std::string(own[first].second), other, comm);
  return message(name, " differs between ranks: ", valueText(name, wanted[first].second),
                 " on rank 0, ", valueText(name, value), " on rank ", other);
}

}  // namespace

AgreedSettings agreeSettings(const SettingTexts& mine, MPI_Comm comm,
                             const std::array<bool, 2>& flags) {
  std::uint64_t agreed = 0;
  for (const auto& [name, text] : agreedTexts(mine))
    agreed = hashText(text, agreed);
  const std::uint64_t all = hashText(serialised(mine));
  const std::string_view own_strict = mine.find("TORC_STRICT");
  const bool strict = own_strict == "1" || own_strict == "2";
  // The largest of a number and of its complement: equal ones are each other's complement.
  std::array<std::uint64_t, 7> votes = {
      agreed, ~agreed, all, ~all, strict ? 1u : 0u, flags[0] ? 1u : 0u, flags[1] ? 1u : 0u};
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(PMPI_Iallreduce(MPI_IN_PLACE, votes.data(), static_cast<int>(votes.size()),
                               MPI_UINT64_T, MPI_MAX, comm, &request),
               &request);

  AgreedSettings result;
  result.strict = votes[4] != 0;
  result.any_flags = {votes[5] != 0, votes[6] != 0};
  SettingTexts texts = mine;
  if (votes[2] != ~votes[3] || votes[0] != ~votes[1]) {
    const std::string version = broadcast(std::string(kVersion), 0, comm);
    texts = parsed(broadcast(serialised(mine), 0, comm));
    if (votes[0] != ~votes[1]) result.fault = difference(mine, version, texts, comm);
  }
  SettingsReading reading = readSettings(texts);
  result.settings = std::move(reading.settings);
  if (result.fault.empty() && !reading.errors.empty()) {
    result.fault = reading.errors[0];
    for (std::size_t i = 1; i < reading.errors.size(); ++i)
      result.fault += "; " + reading.errors[i];
  }
  result.warnings = std::move(reading.warnings);
  result.hints = std::move(reading.hints);
  return result;
}

}  // namespace torc::runtime::pmpi
