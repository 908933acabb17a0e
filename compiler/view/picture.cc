// Starts Chromium with a fixed list of arguments, without a shell.
#include "compiler/view/picture.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <llvm/ADT/ScopeExit.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>

#include "compiler/tool.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace {

constexpr std::chrono::seconds kMostTime(60);
constexpr std::chrono::milliseconds kBetweenLooks(20);
constexpr llvm::StringLiteral kPngBegin("\x89PNG\r\n\x1a\n");

/// The URL of a file; special characters are escaped.
std::string addressOf(llvm::StringRef path) {
  std::string address = "file://";
  for (const char letter : path) {
    if (llvm::isAlnum(letter) || llvm::StringRef("/-._~").contains(letter)) {
      address += letter;
    } else {
      address += '%';
      address += llvm::toHex(llvm::StringRef(&letter, 1));
    }
  }
  return address;
}

/// Blocks signals that end torc during its lifetime: they take effect after torc has ended its
/// child processes.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
      struct sigaction action {};
      sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) sigaddset(&held_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& before() const { return before_; }
  bool oneHasCome() const {
    sigset_t pending;
    sigpending(&pending);
    sigandset(&pending, &pending, &held_);
    return sigisemptyset(&pending) == 0;
  }

 private:
  sigset_t held_{}, before_{};
};

/// Runs a program without input and output, and returns a description of its failure; empty on
/// success. The processes that it started are in its process group, and end with it.
std::string run(llvm::ArrayRef<std::string> arguments, const HeldSignals& signals) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &signals.before());
  pid_t process = 0;
  const int error =
      posix_spawn(&process, pointers[0], &files, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return std::generic_category().message(error);
  const auto last = std::chrono::steady_clock::now() + kMostTime;
  siginfo_t end{};
  // Its process ID stays reserved until the group has ended.
  while (waitid(P_PID, static_cast<id_t>(process), &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         end.si_pid == 0 && !signals.oneHasCome() && std::chrono::steady_clock::now() < last) {
    std::this_thread::sleep_for(kBetweenLooks);
  }
  kill(-process, SIGKILL);
  waitpid(process, nullptr, 0);
  if (signals.oneHasCome()) return "interrupted";
  if (end.si_pid == 0) return "has not ended in " + std::to_string(kMostTime.count()) + " s";
  if (end.si_code != CLD_EXITED) return "ended by signal " + std::to_string(end.si_status);
  return end.si_status == 0 ? "" : "exit code " + std::to_string(end.si_status);
}

}  // namespace

llvm::Expected<std::string> findChromium() {
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("chromium");
  if (!path) return makeError("view: --png needs chromium, and there is none on PATH");
  return *path;
}

llvm::Expected<std::string> pictureOf(llvm::StringRef page, llvm::StringRef chromium) {
  namespace fs = llvm::sys::fs;
  llvm::SmallString<128> file(page);
  if (const std::error_code error = fs::make_absolute(file))
    return makeError("cannot find '" + page.str() + "': " + error.message());
  const HeldSignals signals;
  llvm::SmallString<128> folder;
  if (const std::error_code error = fs::createUniqueDirectory("torc-view", folder))
    return makeError("cannot make a folder for chromium: " + error.message());
  const auto remove = llvm::make_scope_exit([&] { fs::remove_directories(folder); });
  llvm::SmallString<128> picture = folder;
  llvm::sys::path::append(picture, "page.png");
  std::vector<std::string> arguments = {chromium.str(),
                                        "--headless=new",
                                        "--disable-gpu",
                                        "--hide-scrollbars",
                                        "--host-resolver-rules=MAP * ~NOTFOUND",
                                        "--window-size=1400,1850",
                                        "--virtual-time-budget=8000",
                                        "--user-data-dir=" + folder.str().str(),
                                        "--screenshot=" + picture.str().str()};
  if (geteuid() == 0) arguments.push_back("--no-sandbox");  // else Chromium refuses root
  arguments.push_back(addressOf(file));
  const auto fault = [](const std::string& why) {
    return makeError("chromium has drawn no picture: " + why);
  };
  if (const std::string why = run(arguments, signals); !why.empty()) return fault(why);
  llvm::Expected<std::string> png = readBytes(picture);
  if (!png) {
    llvm::consumeError(png.takeError());
    return fault("it has written no file");
  }
  if (!llvm::StringRef(*png).starts_with(kPngBegin)) return fault("its file is no PNG");
  return png;
}

}  // namespace torc::compiler
