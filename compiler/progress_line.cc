// Writes progress lines on stderr.
#include "compiler/progress_line.h"

#include <system_error>
#include <unistd.h>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/program_name.h"

namespace torc::compiler {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Lines on a terminal in a second, and seconds between lines elsewhere.
constexpr int kTerminalLines = 10;
constexpr int kLineSeconds = 5;
// Earlier estimates are meaningless.
constexpr double kLeastSeconds = 2;
constexpr double kLeastShare = 0.02;
// Columns of the narrowest terminal.
constexpr std::size_t kColumns = 79;

}  // namespace

Progress::Progress(bool quiet, std::FILE* out, std::chrono::milliseconds second)
    : quiet_(quiet),
      out_(out),
      terminal_(::isatty(::fileno(out)) == 1),
      second_(second),
      start_(Clock::now()),
      shown_(start_) {
  if (quiet_) return;
  try {
    timer_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // No thread is available: only events write lines.
  }
}

Progress::~Progress() {
  clear();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (timer_.joinable()) timer_.join();
}

void Progress::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, second_, [this] { return ends_; }))
    show();
}

double Progress::elapsedSeconds() const {
  return Seconds(Clock::now() - start_).count();
}

void Progress::expect(std::size_t things, double work) {
  const std::lock_guard lock(mutex_);
  things_ += things;
  work_ += static_cast<double>(things) * work;
}

void Progress::begin(llvm::StringRef what) {
  const std::lock_guard lock(mutex_);
  const std::thread::id self = std::this_thread::get_id();
  llvm::erase_if(under_way_, [&](const auto& other) { return other.first == self; });
  under_way_.emplace_back(self, what.str());
  show();
}

void Progress::advance(double work) {
  const std::lock_guard lock(mutex_);
  work_done_ += work;
  show();
}

void Progress::done(double work) {
  const std::lock_guard lock(mutex_);
  const std::thread::id self = std::this_thread::get_id();
  ++things_done_;
  work_done_ += work;
  show();
  llvm::erase_if(under_way_, [&](const auto& other) { return other.first == self; });
}

std::string Progress::line() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  const double share = work_ > 0 ? work_done_ / work_ : 0;
  const double elapsed = elapsedSeconds();
  out << g_program << ": ";
  if (work_ > 0) out << llvm::format("%3.0f %%, ", 100 * share);
  if (things_ > 1) out << things_done_ << " of " << things_ << ", ";
  out << llvm::format("%.0f s", elapsed);
  if (elapsed > kLeastSeconds && share > kLeastShare) {
    out << llvm::format(", about %.0f s left", elapsed / share - elapsed);
  }
  out << "; " << under_way_.back().second;
  if (text.size() > kColumns && terminal_) text.resize(kColumns);
  return text;
}

void Progress::show() {
  const auto now = Clock::now();
  if (quiet_ || under_way_.empty() || now - start_ < second_ ||
      now - shown_ < (terminal_ ? second_ / kTerminalLines : second_ * kLineSeconds)) {
    return;
  }
  shown_ = now;
  // Back to the first column; clears the rest of the previous line.
  const std::string text = terminal_ ? "\r" + line() + "\x1b[K" : line() + "\n";
  std::fputs(text.c_str(), out_);
  std::fflush(out_);
  line_is_there_ = terminal_;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  under_way_.clear();
  if (line_is_there_) std::fputs("\r\x1b[K", out_);
  std::fflush(out_);
  line_is_there_ = false;
}

}  // namespace torc::compiler
