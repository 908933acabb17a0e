// Whole files in and out: contents, permissions, links, devices; a failure gives one line and
// leaves nothing behind.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "schedules/format/file.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

namespace fs = std::filesystem;

/// Root may write anything: for the scope, be nobody, where the system has one.
class Unprivileged {
 public:
  Unprivileged() : user_(::geteuid()), done_(user_ != 0 || ::seteuid(kNobody) == 0) {}
  ~Unprivileged() { EXPECT_EQ(::seteuid(user_), 0); }

  bool done() const { return done_; }

 private:
  static constexpr uid_t kNobody = 65534;
  const uid_t user_;
  const bool done_;
};

class FileIo : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("file_io_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return folder_ / name; }

  static Status write(const std::string& path, std::string_view text) {
    return writeFileAtomically(path, std::as_bytes(std::span(text)));
  }
  static std::string read(const std::string& path) {
    const StatusOr<std::vector<std::byte>> bytes = readFile(path);
    if (!bytes.ok()) return "error: " + bytes.status().message();
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }
  std::size_t filesInFolder() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static mode_t permissions(const std::string& path) {
    struct stat facts {};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0);
    return facts.st_mode & 07777;
  }

  fs::path folder_;
};

TEST_F(FileIo, WritesAndReads) {
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 1000000}) {
    const std::string text(size, 'x');
    ASSERT_TRUE(write(path("a"), text).ok());
    EXPECT_EQ(read(path("a")), text);
  }
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(FileIo, MissingFile) {
  const Status status = readFile(path("none.torc")).status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_EQ(status.message(), "cannot read '" + path("none.torc") + "': No such file or directory");
}

TEST_F(FileIo, ReadingAFolder) {
  EXPECT_EQ(readFile(folder_).status().message(),
            "cannot read '" + folder_.string() + "': Is a directory");
}

TEST_F(FileIo, ReadsFilesWithoutASize) {
  EXPECT_EQ(read("/dev/null"), "");
  EXPECT_NE(read("/proc/self/status").find("Name:"), std::string::npos);
}

TEST_F(FileIo, RefusesWhatIsTooLarge) {
  ASSERT_TRUE(write(path("sparse"), "").ok());
  fs::resize_file(path("sparse"), kMaxFileBytes + 1);
  EXPECT_EQ(readFile(path("sparse")).status().message(),
            "cannot read '" + path("sparse") + "': larger than 1073741824 bytes");
}

TEST_F(FileIo, NewFilesFollowTheUmask) {
  const mode_t before = ::umask(027);
  ASSERT_TRUE(write(path("a"), "x").ok());
  ::umask(before);
  EXPECT_EQ(permissions(path("a")), 0640u);
}

TEST_F(FileIo, ExistingFilesKeepTheirPermissions) {
  ASSERT_TRUE(write(path("a"), "old").ok());
  ASSERT_EQ(::chmod(path("a").c_str(), 0604), 0);
  ASSERT_TRUE(write(path("a"), "new").ok());
  EXPECT_EQ(permissions(path("a")), 0604u);
  EXPECT_EQ(read(path("a")), "new");
}

TEST_F(FileIo, ReadersOfTheOldFileKeepIt) {
  ASSERT_TRUE(write(path("a"), "old").ok());
  std::ifstream reader(path("a"));
  ASSERT_TRUE(write(path("a"), "new").ok());
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "old");
}

TEST_F(FileIo, WritesThroughALink) {
  fs::create_directory(folder_ / "elsewhere");
  ASSERT_TRUE(write(path("elsewhere/target"), "old").ok());
  fs::create_symlink("elsewhere/target", folder_ / "link");
  ASSERT_TRUE(write(path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(path("elsewhere/target")), "new");
}

TEST_F(FileIo, LongNames) {
  const std::string name(255, 'n');  // the longest: there is no room for a suffix
  ASSERT_TRUE(write(path(name), "x").ok());
  EXPECT_EQ(read(path(name)), "x");
}

TEST_F(FileIo, FolderThatDoesNotExist) {
  const Status status = write(path("none/a"), "x");
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_EQ(status.message(), "cannot write '" + path("none/a") + "': No such file or directory");
}

TEST_F(FileIo, PathThatIsAFolder) {
  EXPECT_EQ(write(folder_, "x").message(),
            "cannot write '" + folder_.string() + "': Is a directory");
  EXPECT_EQ(write("", "x").message(), "cannot write '': No such file or directory");
}

TEST_F(FileIo, FileThatMayNotBeWritten) {
  ASSERT_TRUE(write(path("a"), "old").ok());
  ASSERT_EQ(::chmod(path("a").c_str(), 0444), 0);
  {
    const Unprivileged nobody;
    if (!nobody.done()) GTEST_SKIP() << "root, and no other user to be";
    EXPECT_EQ(write(path("a"), "new").message(),
              "cannot write '" + path("a") + "': Permission denied");
  }
  EXPECT_EQ(read(path("a")), "old");
}

TEST_F(FileIo, FolderThatMayNotBeWritten) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  {
    const Unprivileged nobody;
    if (!nobody.done()) GTEST_SKIP() << "root, and no other user to be";
    EXPECT_EQ(write(path("a"), "new").message(),
              "cannot write '" + path("a") + "': Permission denied");
  }
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(FileIo, FailedRenameLeavesNothing) {
  // A name that is longer than names may be is found out by the rename alone.
  EXPECT_EQ(write(path(std::string(256, 'n')), "x").code(), StatusCode::kIo);
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(FileIo, Devices) {
  EXPECT_TRUE(write("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(write("/dev/full", "x").message(), "cannot write '/dev/full': No space left on device");
}

TEST_F(FileIo, SharedMemoryIsNoDevice) {
  const std::string file = "/dev/shm/torc_file_io_" + std::to_string(::getpid());
  EXPECT_TRUE(write(file, "x").ok());
  EXPECT_EQ(read(file), "x");
  fs::remove(file);
}

}  // namespace
}  // namespace torc
