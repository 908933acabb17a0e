#include "compiler/jobs/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include <llvm/Support/raw_ostream.h>

#include "compiler/tool.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

volatile std::sig_atomic_t child = 0;

/// A terminal has sent its signals to the whole group of processes.
void forward(int number, siginfo_t* info, void*) {
  if (child > 0 && info->si_code != SI_KERNEL) ::kill(child, number);
}

}  // namespace

int runChild(llvm::function_ref<int()> body) {
  llvm::outs().flush();
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO;
  std::vector<int> numbers;  // but those that are ignored, as by nohup
  for (const int number : kForwarded) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) numbers.push_back(number);
  }
  for (const int number : numbers)
    ::sigaction(number, &action, nullptr);
  // Signals wait until the child's number is known.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t process = ::fork();
  child = process;
  if (process == 0) {
    for (const int number : numbers)
      std::signal(number, SIG_DFL);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (process == 0) ::_exit(body());
  int status = 126 << 8;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int becomeProgram(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  (void)inputFault(makeError("cannot run '" + words.front() + "': " + std::strerror(errno)));
  return 127;
}

}  // namespace torc::compiler
