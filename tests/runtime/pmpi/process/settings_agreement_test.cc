// Settings agreed by several ranks whose environments differ.
#include "runtime/pmpi/process/settings_agreement.h"

#include <cstdio>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "settings/settings.h"
#include "tests/mpi/world.h"

namespace torc::runtime::pmpi {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kLong = std::size_t{40} << 20;  // too much for LittleMemory, freed or not
constexpr const char* kNoMemory = "a rank has no memory to read the settings";

/// While it lives, this process gets 20 MiB more at most.
class LittleMemory {
 public:
  LittleMemory() {
    getrlimit(RLIMIT_AS, &before_);
    unsigned long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (std::fscanf(file, "%lu", &pages) != 1) ADD_FAILURE() << "no /proc/self/statm";
    std::fclose(file);
    const rlim_t now = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
    const rlimit little{now + kLong / 2, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &little), 0);
  }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;
  ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

/// Allocators of sanitizers end a process that has no memory.
constexpr bool canRunOut() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

class SettingsAgreementTest : public testing::Test {
 protected:
  void SetUp() override {
    mine_.set("TORC_LIBRARY", "/opt/library");
    mine_.set("TORC_LIMITS", "memory=1M");
  }

  AgreedSettings agree() const {
    return agreeSettings({mine_, readSettings(mine_), {}}, MPI_COMM_WORLD);
  }

  /// Sets a variable on one rank only.
  void setOn(int rank, const char* name, const std::string& value) {
    if (rank_ == rank) mine_.set(name, value);
  }

  const int rank_ = worldRank(), size_ = worldSize();
  SettingTexts mine_;
};

TEST_F(SettingsAgreementTest, AlikeEverywhere) {
  mine_.set("TORC_VERBOSE", "2");
  mine_.set("TORC_LIBARY", "x");
  mine_.set("TORC_DEDICATED_OPERATIONS", "none");
  const AgreedSettings agreed = agree();
  EXPECT_EQ(agreed.fault, "");
  EXPECT_FALSE(agreed.strict);
  EXPECT_EQ(agreed.settings.library, "/opt/library");
  EXPECT_EQ(agreed.settings.memory, 1u << 20);
  EXPECT_EQ(agreed.settings.verbosity, Verbosity::kCommunicators);
  EXPECT_THAT(agreed.warnings,
              ElementsAre("TORC_LIBARY is no variable of torc's; is TORC_LIBRARY meant?"));
  EXPECT_THAT(agreed.hints,
              ElementsAre("TORC_DEDICATED_OPERATIONS has no effect without TORC_DEDICATED"));
}

TEST_F(SettingsAgreementTest, OfTheOthersRank0sValuesCount) {
  setOn(0, "TORC_STATS", "table.txt");
  if (rank_ != 0) {
    mine_.set("TORC_STATS", "1");
    mine_.set("TORC_TRACE", "trace.json");
    mine_.set("TORC_VERBOSE", "not read");
    mine_.set("TORC_NOTHING", "unknown");
  }
  const AgreedSettings agreed = agree();
  EXPECT_EQ(agreed.fault, "");
  EXPECT_EQ(agreed.settings.statistics.file, "table.txt");
  EXPECT_EQ(agreed.settings.trace, "");
  EXPECT_EQ(agreed.settings.verbosity, Verbosity::kHints);
  EXPECT_THAT(agreed.warnings, IsEmpty());
  EXPECT_EQ(agreed.settings.library, "/opt/library");
}

TEST_F(SettingsAgreementTest, AWrongValueOfRank0IsAFaultEverywhere) {
  setOn(0, "TORC_VERBOSE", "9");
  EXPECT_EQ(agree().fault, "");
  EXPECT_THAT(agree().warnings, testing::ElementsAre("TORC_VERBOSE is '9'; allowed: 0, 1, 2 or 3 "
                                                     "(explain); it is ignored"));
  mine_.set("TORC_LIMITS", "cache=x");
  mine_.set("TORC_STRICT", "1");
  mine_.set("TORC_TUNE", "2");
  const AgreedSettings agreed = agree();
  EXPECT_EQ(
      agreed.fault,
      "TORC_LIMITS is 'cache=x'; allowed: cache=bytes, as 4096, 64K, 256M or 1G, up to 1024G; "
      "TORC_TUNE is '2'; allowed: 0 or 1");
  EXPECT_TRUE(agreed.strict);
}

TEST_F(SettingsAgreementTest, ADifferenceNamesVariableRanksAndValues) {
  if (size_ < 2) return;
  setOn(size_ - 1, "TORC_LIBRARY", "/opt/other");
  setOn(size_ - 1, "TORC_STRICT", "1");
  const std::string last = std::to_string(size_ - 1);
  AgreedSettings agreed = agree();
  EXPECT_EQ(
      agreed.fault,
      "TORC_LIBRARY differs between ranks: '/opt/library' on rank 0, '/opt/other' on rank " + last);
  EXPECT_TRUE(agreed.strict);  // of any rank

  setOn(size_ - 1, "TORC_LIBRARY", "");
  EXPECT_EQ(
      agree().fault,
      "TORC_LIBRARY differs between ranks: '/opt/library' on rank 0, not set on rank " + last);

  mine_.set("TORC_LIBRARY", rank_ == 0 ? "" : "/opt/library");
  EXPECT_EQ(agree().fault,
            "TORC_LIBRARY differs between ranks: not set on rank 0, '/opt/library' on rank 1");
}

TEST_F(SettingsAgreementTest, TheLowestRankWithTheFirstDifferenceIsNamed) {
  if (size_ < 4) return;
  setOn(1, "TORC_CORES", "2");
  setOn(2, "TORC_LIMITS", "memory=2M");
  setOn(3, "TORC_LIMITS", "memory=3M");
  EXPECT_EQ(agree().fault,
            "TORC_LIMITS differs between ranks: 'memory=1M' on rank 0, 'memory=2M' on rank 2");
}

// What is not set has its default's value.
TEST_F(SettingsAgreementTest, TheDefaultSpeltOutIsNoDifference) {
  setOn(0, "TORC_CORES", "1");
  setOn(size_ - 1, "TORC_STRICT", "0");
  const AgreedSettings agreed = agree();
  EXPECT_EQ(agreed.fault, "");
  EXPECT_EQ(agreed.settings.cores, 1u);
}

TEST_F(SettingsAgreementTest, DisabledNothingElseIsCompared) {
  mine_.set("TORC_DISABLE", "1");
  mine_.set("TORC_CORES", std::to_string(rank_));
  AgreedSettings agreed = agree();
  EXPECT_EQ(agreed.fault, "");
  EXPECT_TRUE(agreed.settings.disable);

  if (size_ < 2) return;
  setOn(1, "TORC_DISABLE", "");
  agreed = agree();
  EXPECT_EQ(agreed.fault, "TORC_DISABLE differs between ranks: '1' on rank 0, '0' on rank 1");
}

TEST_F(SettingsAgreementTest, NoMemoryToReadTheSettingsIsAFaultEverywhere) {
  if (!canRunOut()) GTEST_SKIP();
  const std::string mapping = "TORC_MAPPING=" + std::string(kLong, 'x');
  const char* const environment[] = {"TORC_LIBRARY=/opt/library", "TORC_STRICT=1", mapping.c_str(),
                                     nullptr};
  OwnSettings own = readOwnSettings(environment);
  EXPECT_TRUE(own.status.ok());
  EXPECT_EQ(own.reading.settings.library, "/opt/library");
  if (rank_ == size_ - 1) {
    const LittleMemory little;
    own = readOwnSettings(environment);
    EXPECT_EQ(own.status.code(), StatusCode::kNoMemory);
    EXPECT_EQ(own.reading.settings, Settings());
  }
  const AgreedSettings agreed = agreeSettings(own, MPI_COMM_WORLD);
  EXPECT_EQ(agreed.fault, kNoMemory);
  EXPECT_EQ(agreed.settings, Settings());
  EXPECT_EQ(agreed.strict, size_ > 1);  // of those that could read it
}

TEST_F(SettingsAgreementTest, NoMemoryForRank0sSettingsIsAFaultEverywhere) {
  if (!canRunOut() || size_ < 2) GTEST_SKIP();
  setOn(0, "TORC_STATS", std::string(kLong, 'x'));
  const OwnSettings own{mine_, readSettings(mine_), {}};
  std::optional<LittleMemory> little;
  if (rank_ == size_ - 1) little.emplace();
  EXPECT_EQ(agreeSettings(own, MPI_COMM_WORLD).fault, kNoMemory);
}

}  // namespace
}  // namespace torc::runtime::pmpi
