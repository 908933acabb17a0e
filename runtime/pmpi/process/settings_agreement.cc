// Settings of a job: the ranks compare hashes, and exchange texts only if these differ.
#include "runtime/pmpi/process/settings_agreement.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/service/service_collective.h"
#include "runtime/transport/mpi_status.h"
#include "support/hash.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::string_view kVersionName = "torc's version";

using AgreedTexts = std::vector<std::pair<std::string_view, std::string_view>>;

/// Variables that must be equal on all ranks, by name and text: the version, TORC_DISABLE, and
/// unless that is set the other variables of the table.
AgreedTexts agreedTexts(const SettingTexts& texts) {
  AgreedTexts agreed = {{kVersionName, kVersion}};
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

/// The maximum over the ranks, as signed numbers.
std::uint64_t mostOf(std::uint64_t mine, MPI_Comm comm) {
  ServiceCollective vote;
  vote.allreduce(comm, std::span(&mine, 1), MPI_MAX);
  static_cast<void>(vote.wait());
  return vote.words()[0];
}

/// Runs `work`, which makes no MPI calls, on all ranks; throws std::bad_alloc on all of them if one
/// has too little memory.
template <typename Work>
void runOnAll(MPI_Comm comm, Work&& work) {
  if (mostOf(attempt(work).ok() ? 0 : 1, comm) != 0) throw std::bad_alloc();
}

/// The text of rank `root`, on all ranks.
std::string broadcast(std::string_view text, int root, MPI_Comm comm) {
  const std::uint64_t size = mostOf(commRank(comm) == root ? text.size() : 0, comm);
  std::string all;
  runOnAll(comm, [&] { all.resize(size); });
  text.copy(all.data(), size);
  ServiceCollective sending;
  sending.broadcast(comm, all.data(), size, root);
  static_cast<void>(sending.wait());
  return all;
}

std::string valueText(std::string_view name, std::string_view value) {
  if (name == kVersionName) return std::string(value);
  return value.empty() ? "not set" : message("'", value, "'");
}

/// The first variable, in the table's order, that differs between a rank and rank 0, with that
/// rank. Empty if all are equal.
std::string difference(const SettingTexts& mine, const std::string& version_of_rank0,
                       const SettingTexts& rank0, MPI_Comm comm) {
  const int rank = commRank(comm), size = commSize(comm);
  AgreedTexts own, wanted;
  runOnAll(comm, [&] {
    own = agreedTexts(mine);
    wanted = agreedTexts(rank0);
  });
  wanted[0].second = version_of_rank0;
  // Lists of different lengths differ in TORC_DISABLE already. Another version may have another
  // table, so that nothing behind the version is compared.
  std::size_t first = 0;
  while (first < std::min(own.size(), wanted.size()) && own[first].second == wanted[first].second)
    ++first;
  constexpr std::uint64_t kNone = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t ranks = static_cast<std::uint64_t>(size);
  const std::uint64_t mine_differs = first < std::min(own.size(), wanted.size())
                                         ? first * ranks + static_cast<std::uint64_t>(rank)
                                         : kNone;
  const std::uint64_t lowest = ~mostOf(~mine_differs, comm);
  if (lowest == kNone) return {};
  const int other = static_cast<int>(lowest % ranks);
  first = lowest / ranks;
  const std::string_view name = wanted[first].first;
  const std::string value = broadcast(own[first].second, other, comm);
  std::string text;
  runOnAll(comm, [&] {
    text = message(name, " differs between ranks: ", valueText(name, wanted[first].second),
                   " on rank 0, ", valueText(name, value), " on rank ", other);
  });
  return text;
}

AgreedSettings asAgreed(SettingsReading reading) {
  AgreedSettings result;
  static_cast<SettingsReading&>(result) = std::move(reading);
  for (const std::string& error : result.errors)
    result.fault += (result.fault.empty() ? "" : "; ") + error;
  return result;
}

/// The settings of rank 0's texts, on all ranks. `differs`: some of the texts that must be equal
/// differ.
AgreedSettings takeRank0s(const SettingTexts& mine, std::string_view serialised_mine, bool differs,
                          MPI_Comm comm) {
  const std::string version = broadcast(kVersion, 0, comm);
  const std::string bytes = broadcast(serialised_mine, 0, comm);
  SettingTexts texts;
  AgreedSettings result;
  runOnAll(comm, [&] {
    texts = parsed(bytes);
    result = asAgreed(readSettings(texts));
  });
  if (!differs) return result;
  std::string fault = difference(mine, version, texts, comm);
  if (!fault.empty()) result.fault = std::move(fault);
  return result;
}

}  // namespace

OwnSettings readOwnSettings(const char* const* environment) noexcept {
  OwnSettings own;
  own.status = attempt([&] {
    own.texts = SettingTexts(environment);
    own.reading = readSettings(own.texts);
  });
  return own;
}

AgreedSettings agreeSettings(const OwnSettings& own, MPI_Comm comm,
                             const std::array<bool, 2>& flags) {
  std::uint64_t agreed = 0, all = 0;
  std::string bytes;
  AgreedSettings result;
  bool is_ready = own.status.ok();
  if (is_ready) {
    is_ready = attempt([&] {
                 for (const auto& [name, text] : agreedTexts(own.texts))
                   agreed = hashText(text, agreed);
                 bytes = serialised(own.texts);
                 all = hashText(bytes);
                 result = asAgreed(own.reading);
               }).ok();
  }
  const std::string_view own_strict = own.texts.find("TORC_STRICT");
  const bool strict = own_strict == "1" || own_strict == "2";
  // The maxima of a number and of its complement are each other's complement only if all ranks have
  // the same number.
  std::array<std::uint64_t, 8> votes = {agreed, ~agreed,  all,      ~all,
                                        strict, flags[0], flags[1], !is_ready};
  ServiceCollective vote;
  vote.allreduce(comm, votes, MPI_MAX);
  static_cast<void>(vote.wait());
  std::ranges::copy(vote.words(), votes.begin());

  const bool differs = votes[0] != ~votes[1];
  is_ready = votes[7] == 0;  // from here on the same on all ranks
  if (is_ready && (differs || votes[2] != ~votes[3])) {
    is_ready = attempt([&] { result = takeRank0s(own.texts, bytes, differs, comm); }).ok();
  }
  if (!is_ready) {
    result = {};
    result.fault = words("a rank has no memory to read the settings");
  }
  result.strict = votes[4] != 0;
  result.any_flags = {votes[5] != 0, votes[6] != 0};
  return result;
}

}  // namespace torc::runtime::pmpi
