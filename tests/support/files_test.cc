// Writing in another program's process: no signal of torc's own writing reaches it.
#include "support/files.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace torc {
namespace {

constexpr std::array<std::byte, 100> kBytes{};

/// How a child ends that runs `work`: its result, or 256 and the signal that ends it.
int endOf(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The end of a pipe that nobody reads.
int brokenPipe() {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  close(ends[0]);
  return ends[1];
}

/// A file that may have 10 bytes from now on.
int limitedFile() {
  const rlimit limit{10, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  return open((testing::TempDir() + "/limited_file").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

int fault(int file) {
  return writeAll(file, kBytes) ? 0 : errno;
}

bool isPending(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

TEST(FilesTest, ABrokenPipeIsAnError) {
  EXPECT_EQ(endOf([] { return fault(brokenPipe()); }), EPIPE);
}

TEST(FilesTest, TheLimitOfAFileIsAnErrorThatNamesIt) {
  EXPECT_EQ(endOf([] { return fault(limitedFile()); }), EFBIG);
  EXPECT_EQ(endOf([] {
              limitedFile();
              return writeFault(EFBIG) == "File too large: files may have 10 bytes (ulimit -f)" &&
                             shortWriteError(10) == EFBIG && shortWriteError(9) == ENOSPC
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_EQ(writeFault(ENOSPC), "No space left on device");
}

TEST(FilesTest, StderrThatNobodyReads) {
  EXPECT_EQ(endOf([] {
              dup2(brokenPipe(), STDERR_FILENO);
              writeToStderr("a line\n");
              return 7;
            }),
            7);
}

TEST(FilesTest, TheProgramsHandlerHearsOfItsOwnWritesAlone) {
  EXPECT_EQ(endOf([] {
              static int calls = 0;
              for (const int signal : {SIGPIPE, SIGXFSZ})
                std::signal(signal, [](int) { ++calls; });
              const int pipe = brokenPipe(), file = limitedFile();
              if (fault(pipe) != EPIPE || fault(file) != EFBIG || calls != 0) return 1;
              if (write(pipe, kBytes.data(), 1) >= 0 || calls != 1) return 2;
              return write(file, kBytes.data(), 1) >= 0 || calls != 2 ? 3 : 0;
            }),
            0);
}

TEST(FilesTest, ASignalThatIsPendingStays) {
  EXPECT_EQ(endOf([] {
              sigset_t pipe_alone;
              sigemptyset(&pipe_alone);
              sigaddset(&pipe_alone, SIGPIPE);
              pthread_sigmask(SIG_BLOCK, &pipe_alone, nullptr);
              const int pipe = brokenPipe();
              if (fault(pipe) != EPIPE || isPending(SIGPIPE)) return 1;
              raise(SIGPIPE);
              if (fault(pipe) != EPIPE || fault(limitedFile()) != EFBIG) return 2;
              return isPending(SIGPIPE) && !isPending(SIGXFSZ) ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace torc
