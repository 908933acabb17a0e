// Detection of the ranks of a host with the library, in a folder like /proc: this process is one of
// its ranks, its parent is the launcher.
#include "runtime/pmpi/process/presence.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace torc::runtime::pmpi {
namespace {

using namespace std::string_literals;

const std::string kProgram = "55d0c0000000-55d0c0001000 r-xp 00000000 08:01 11 /home/a/program\n";
const std::string kMpi =
    kProgram + "7f01c0000000-7f01c0001000 r-xp 00000000 08:01 12 /usr/lib/libmpich.so.12.2.2\n";
const std::string kBoth =
    kMpi + "7f02c0000000-7f02c0001000 r-xp 00000000 08:01 13 /opt/torc/libtorc_pmpi.so.1\n";

class PresenceTest : public testing::Test {
 protected:
  // No process of Linux has such a number.
  static constexpr int kOther = 5000000, kThird = 5000001, kBelow = 5000002;

  void SetUp() override {
    std::filesystem::remove_all(proc_);
    add(kParent, 1, "hydra_pmi_proxy", kProgram);
    add(kSelf, kParent, "program", kBoth);
  }
  void TearDown() override { std::filesystem::remove_all(proc_); }

  std::string path(int process, const std::string& file) const {
    return proc_ + "/" + std::to_string(process) + "/" + file;
  }

  static void write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  /// A process that `parent` has started.
  void add(int process, int parent, const std::string& name, const std::string& maps) {
    const std::string id = std::to_string(process);
    std::filesystem::create_directories(path(process, "task/" + id));
    write(path(process, "comm"), name.substr(0, 15) + "\n");
    write(path(process, "stat"),
          id + " (" + name + ") S " + std::to_string(parent) + " 1 1 0 -1 4194304\n");
    write(path(process, "environ"), "HOME=/home/a\0LD_PRELOAD=libx.so\0"s);
    write(path(process, "maps"), maps);
    write(path(process, "task/" + id + "/children"), "");
    if (parent == 1) return;
    children_[parent] += id + " ";
    write(path(parent, "task/" + std::to_string(parent) + "/children"), children_[parent]);
  }

  /// Reading it fails, as root may read whatever has a mode.
  void makeUnreadable(int process, const std::string& file) {
    std::filesystem::remove(path(process, file));
    std::filesystem::create_directory(path(process, file));
  }

  HostPresence look() {
    return lookAtHost(proc_, [this] {
      ++pauses_;
      if (between_) between_();
    });
  }

  const int kParent = getppid(), kSelf = getpid();
  const std::string proc_ = testing::TempDir() + "/presence_test_proc";
  std::map<int, std::string> children_;
  std::function<void()> between_;  // what happens between two looks
  int pauses_ = 0;
};

TEST_F(PresenceTest, AllHaveIt) {
  add(kOther, kParent, "program", kBoth);
  const HostPresence presence = look();
  EXPECT_EQ(presence.without, 0);
  EXPECT_EQ(presence.ranks, 2);
  EXPECT_TRUE(presence.speaks);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(PresenceTest, TheFirstThatHasItSpeaks) {
  std::filesystem::remove_all(proc_);
  children_.clear();
  add(kParent, 1, "hydra_pmi_proxy", kProgram);
  add(kOther, kParent, "program", kBoth);
  add(kSelf, kParent, "program", kBoth);
  EXPECT_FALSE(look().speaks);
}

TEST_F(PresenceTest, OneIsWithout) {
  add(kOther, kParent, "program", kMpi);
  const HostPresence presence = look();
  EXPECT_EQ(presence.without, kOther);
  EXPECT_EQ(presence.ranks, 2);
  EXPECT_EQ(pauses_, 1);
}

TEST_F(PresenceTest, WithoutMpiItIsNotKnown) {
  add(kOther, kParent, "program", kProgram);
  EXPECT_EQ(look().without, 0);
}

TEST_F(PresenceTest, UnderAnotherName) {
  const std::string other = kMpi + "7f02c0000000-7f02c0001000 r-xp 00000000 08:01 14   /tmp/x.so\n";
  write(path(kSelf, "maps"), kMpi + "0-ffffffffffff r--p 00000000 08:01 14 /tmp/y.so\n");
  add(kOther, kParent, "program", other);
  EXPECT_EQ(look().without, 0);
  EXPECT_TRUE(look().speaks);
  // Another file.
  write(path(kOther, "maps"),
        kMpi + "7f02c0000000-7f02c0001000 r-xp 00000000 08:01 142 /tmp/x.so\n");
  EXPECT_EQ(look().without, kOther);
}

TEST_F(PresenceTest, PreloadedByItsEnvironment) {
  add(kOther, kParent, "program", kMpi);
  write(path(kOther, "environ"), "A=b\0LD_PRELOAD=/opt/libtorc_pmpi.so\0"s);
  EXPECT_EQ(look().without, 0);
  write(path(kOther, "environ"), "LD_PRELOAD=a\0B=/opt/libtorc_pmpi.so\0"s);
  EXPECT_EQ(look().without, kOther);
}

TEST_F(PresenceTest, WhatCannotBeReadIsNotKnown) {
  add(kOther, kParent, "program", kMpi);
  makeUnreadable(kOther, "maps");
  EXPECT_EQ(look().without, 0);
  std::filesystem::remove(path(kOther, "maps"));
  EXPECT_EQ(look().without, 0);
  // Torn within a line: the library might be in the rest of it.
  write(path(kOther, "maps"), kMpi + "7f02c0000000-7f02c0001000 r-xp 000");
  EXPECT_EQ(look().without, 0);
  // Of a process that has ended.
  write(path(kOther, "maps"), "");
  EXPECT_EQ(look().without, 0);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(PresenceTest, ProcessesBelowThatCannotBeReadMayHaveIt) {
  add(kOther, kParent, "program", kMpi);
  makeUnreadable(kOther, "task/" + std::to_string(kOther) + "/children");
  EXPECT_EQ(look().without, 0);
  std::filesystem::remove(path(kOther, "task/" + std::to_string(kOther) + "/children"));
  add(kBelow, kOther, "program", kBoth);
  makeUnreadable(kBelow, "maps");
  EXPECT_EQ(look().without, 0);
  std::filesystem::remove(path(kBelow, "maps"));
  write(path(kBelow, "maps"), kProgram);
  EXPECT_EQ(look().without, kOther);
}

TEST_F(PresenceTest, AShellAroundTheProgram) {
  add(kOther, kParent, "sh", kProgram);
  add(kBelow, kOther, "program (a) 1", kBoth);
  EXPECT_EQ(look().without, 0);
  write(path(kBelow, "maps"), kMpi);
  EXPECT_EQ(look().without, kOther);
}

TEST_F(PresenceTest, ThisRankInAShellSpeaks) {
  std::filesystem::remove_all(proc_);
  children_.clear();
  add(kThird, 1, "hydra_pmi_proxy", kProgram);
  add(kParent, kThird, "sh", kProgram);
  add(kSelf, kParent, "program", kBoth);
  add(kOther, kThird, "program", kMpi);
  const HostPresence presence = look();
  EXPECT_TRUE(presence.speaks);
  EXPECT_EQ(presence.ranks, 2);
  EXPECT_EQ(presence.without, kOther);
}

TEST_F(PresenceTest, TheSecondLookDecides) {
  add(kOther, kParent, "program", kMpi);
  add(kThird, kParent, "program", kMpi);
  // It was about to load the library.
  between_ = [this] { write(path(kOther, "maps"), kBoth); };
  EXPECT_EQ(look().without, kThird);
  EXPECT_EQ(pauses_, 1);
  between_ = [this] { std::filesystem::remove_all(path(kThird, "")); };
  EXPECT_EQ(look().without, 0);  // gone
  EXPECT_EQ(pauses_, 2);
}

TEST_F(PresenceTest, AnotherLauncherSaysNothing) {
  add(kOther, kParent, "program", kMpi);
  write(path(kParent, "comm"), "slurmstepd\n");
  const HostPresence presence = look();
  EXPECT_EQ(presence.without, 0);
  EXPECT_EQ(presence.ranks, 1);
  EXPECT_TRUE(presence.speaks);
}

TEST_F(PresenceTest, TheSystemsOwnFolder) {
  EXPECT_EQ(lookAtHost().without, 0);
  EXPECT_EQ(lookAtHost("/no/such/folder").without, 0);
}

}  // namespace
}  // namespace torc::runtime::pmpi
