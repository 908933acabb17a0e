// Progress on stderr.
#include "compiler/progress.h"

#include <cstdio>
#include <unistd.h>

#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

namespace torc::compiler {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// What is done sooner needs no line.
constexpr auto kFirst = std::chrono::seconds(1);
constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(5);
// Before that an estimate says nothing.
constexpr double kLeastSeconds = 2;
constexpr double kLeastShare = 0.02;
// Columns of the narrowest terminal.
constexpr std::size_t kColumns = 79;

}  // namespace

Progress::Progress(bool quiet)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      shown_(start_) {}

double Progress::elapsedSeconds() const {
  return Seconds(Clock::now() - start_).count();
}

void Progress::expect(double work) {
  const std::lock_guard lock(mutex_);
  expected_ += work;
}

void Progress::begin(llvm::StringRef what) {
  const std::lock_guard lock(mutex_);
  what_ = what.str();
  show();
}

void Progress::done(double work) {
  const std::lock_guard lock(mutex_);
  done_ += work;
  show();
}

std::string Progress::line() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  const double share = expected_ > 0 ? done_ / expected_ : 0;
  const double elapsed = elapsedSeconds();
  out << "torc: ";
  if (expected_ > 0) out << llvm::format("%3.0f %%, ", 100 * share);
  out << llvm::format("%.0f s", elapsed);
  if (elapsed > kLeastSeconds && share > kLeastShare) {
    out << llvm::format(", about %.0f s left", elapsed / share - elapsed);
  }
  out << "; " << what_;
  if (text.size() > kColumns && terminal_) text.resize(kColumns);
  return text;
}

void Progress::show() {
  const auto now = Clock::now();
  if (quiet_ || now - start_ < kFirst ||
      now - shown_ < (terminal_ ? Clock::duration(kTerminalInterval) : kLineInterval)) {
    return;
  }
  shown_ = now;
  // Back to the first column; what was there is cleared to the end of the line.
  const std::string text = terminal_ ? "\r" + line() + "\x1b[K" : line() + "\n";
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  line_is_there_ = terminal_;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (line_is_there_) std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  line_is_there_ = false;
}

}  // namespace torc::compiler
