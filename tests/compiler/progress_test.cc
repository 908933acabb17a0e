// Output of progress: on a terminal a line that is updated, else lines. The queue of tasks for
// threads.
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/progress_line.h"
#include "support/work_queue.h"

namespace torc::compiler {
namespace {

/// What is written to one end, and read at the other.
class Channel {
 public:
  enum class Kind { kTerminal, kPipe };

  explicit Channel(Kind kind) {
    int ends[2] = {-1, -1};
    if (kind == Kind::kPipe) {
      EXPECT_EQ(::pipe(ends), 0);
    } else {
      ends[0] = ::posix_openpt(O_RDWR | O_NOCTTY);
      EXPECT_EQ(::grantpt(ends[0]), 0);
      EXPECT_EQ(::unlockpt(ends[0]), 0);
      ends[1] = ::open(::ptsname(ends[0]), O_RDWR | O_NOCTTY);
    }
    end_ = ends[0];
    out_ = ::fdopen(ends[1], "w");
    EXPECT_NE(out_, nullptr);
  }
  Channel(const Channel&) = delete;
  ~Channel() {
    close();
    ::close(end_);
  }

  std::FILE* out() const { return out_; }
  void close() {
    if (out_ != nullptr) std::fclose(out_);
    out_ = nullptr;
  }

  /// Reads on until `text` has come, as long as that takes; what was read, up to the end of it or
  /// of all.
  std::string readUntil(const std::string& text) {
    std::string read;
    char letter = 0;
    while (!read.ends_with(text) && ::read(end_, &letter, 1) == 1)
      read += letter;
    return read;
  }
  bool shows(const std::string& text) { return readUntil(text).ends_with(text); }

 private:
  int end_ = -1;
  std::FILE* out_ = nullptr;
};

constexpr std::chrono::milliseconds kSecond(20);

TEST(Progress, SecondsGoOnWhileOneStepTakesLong) {
  Channel terminal(Channel::Kind::kTerminal);
  Progress progress(/*quiet=*/false, terminal.out());
  progress.begin("one long step");
  const std::string first = terminal.readUntil("\x1b[K"), second = terminal.readUntil("\x1b[K");
  EXPECT_TRUE(first.starts_with("\rtorc: ")) << first;
  EXPECT_NE(first.find(" s; one long step\x1b[K"), std::string::npos) << first;
  EXPECT_NE(second.find(" s; one long step\x1b[K"), std::string::npos) << second;
  EXPECT_NE(first, second);
  progress.clear();
  EXPECT_EQ(terminal.readUntil("\r\x1b[K").find("torc: "), std::string::npos);
}

TEST(Progress, CountsWhatIsDone) {
  Channel terminal(Channel::Kind::kTerminal);
  Progress progress(/*quiet=*/false, terminal.out(), kSecond);
  progress.expect(2);
  progress.begin("the first");
  progress.done();
  progress.begin("the second");
  progress.expect(1);
  EXPECT_TRUE(terminal.shows("torc: 1 of 3, "));
  progress.done();
  progress.begin("the third");
  EXPECT_TRUE(terminal.shows("torc: 2 of 3, "));
}

TEST(Progress, SharesOfWorkAreNotNumbers) {
  Channel terminal(Channel::Kind::kTerminal);
  Progress progress(/*quiet=*/false, terminal.out(), kSecond);
  progress.expect(1, 10);
  progress.expect(1, 30);
  progress.begin("a quarter");
  progress.done(10);
  progress.begin("the rest");
  EXPECT_TRUE(terminal.shows("torc:  25 %, 1 of 2, "));
  progress.advance(20);
  EXPECT_TRUE(terminal.shows("torc:  75 %, 1 of 2, "));
}

/// What another thread has begun and not ended is named again.
TEST(Progress, NamesWhatIsStillUnderWay) {
  Channel terminal(Channel::Kind::kTerminal);
  Progress progress(/*quiet=*/false, terminal.out(), kSecond);
  progress.begin("a long one");
  std::thread([&] {
    progress.begin("a short one");
    progress.done();
  }).join();
  EXPECT_TRUE(terminal.shows("a long one"));
}

TEST(Progress, InAPipeThereAreLines) {
  Channel pipe(Channel::Kind::kPipe);
  Progress progress(/*quiet=*/false, pipe.out(), kSecond);
  progress.begin("one long step");
  const std::string line = pipe.readUntil("\n");
  EXPECT_TRUE(line.starts_with("torc: ")) << line;
  EXPECT_TRUE(line.ends_with(" s; one long step\n")) << line;
}

TEST(Progress, QuietIsQuiet) {
  Channel pipe(Channel::Kind::kPipe);
  {
    Progress progress(/*quiet=*/true, pipe.out(), kSecond);
    progress.begin("one step");
    std::this_thread::sleep_for(5 * kSecond);
    progress.done();
  }
  pipe.close();
  EXPECT_EQ(pipe.readUntil("torc: "), "");
}

TEST(WorkQueue, RunsAllTasksAndThoseThatTheyAdd) {
  for (const unsigned threads : {1u, 2u, 7u}) {
    WorkQueue queue;
    std::atomic<int> count = 0;
    std::function<void(int)> task = [&](int depth) {
      ++count;
      for (int i = 0; depth > 0 && i < 3; ++i)
        queue.addNext([&task, depth] { task(depth - 1); });
    };
    for (int i = 0; i < 10; ++i)
      queue.add([&] { task(3); });
    queue.run(threads);
    EXPECT_EQ(count, 10 * (1 + 3 + 9 + 27)) << threads << " threads";
    queue.run(threads);  // nothing left
  }
}

TEST(WorkQueue, StopDropsWhatHasNotBegun) {
  WorkQueue queue;
  int count = 0;
  for (int i = 0; i < 5; ++i) {
    queue.add([&] {
      if (++count == 2) queue.stop();
    });
  }
  queue.run(1);
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace torc::compiler
