// Command lines: each option is one row beside the value that it sets. The rows provide parsing,
// help, and the table for man pages, completion and docs/users/options.md.
#ifndef TORC_SUPPORT_OPTIONS_H_
#define TORC_SUPPORT_OPTIONS_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/status.h"

namespace torc::options {

class Command;

/// Headings of help. An option without a heading is parsed, but hidden.
inline constexpr std::string_view kWhat = "What", kMachine = "Size and machine", kOutput = "Output",
                                  kHidden = "";
/// Options of this group are also keys of `--with KEY=VALUE,...`.
inline constexpr std::string_view kExperts = "Experts: keys of --with";

/// The texts of a row, which must live as long as the program.
struct Row {
  std::string_view group;
  std::string_view names;  // "output,o"; of a positional argument "FILE", "FILE...", "[FILE]"
  std::string_view value;  // the value in help: "SHAPE"; of a flag ""
  std::string_view help;   // a noun phrase or an imperative, at most 60 characters
  std::string_view standard = "";    // the default, in a user's notation
  std::string (*words)() = nullptr;  // values for completion, with spaces between
};

/// The commands of an option: one, or a list of pointers to them.
struct Commands {
  Commands(Command& command) : list{&command} {}
  Commands(std::initializer_list<Command*> commands) : list(commands) {}
  std::vector<Command*> list;
};

/// An option of some commands, or a positional argument. It registers itself, and must outlive
/// them.
class Option {
 public:
  Option(Commands commands, const Row& row);
  virtual ~Option() = default;
  Option(const Option&) = delete;
  Option& operator=(const Option&) = delete;

  const Row& row() const { return row_; }
  bool isGiven() const { return is_given_; }
  bool isFlag() const { return row_.value.empty() && !isPositional(); }
  bool isPositional() const;
  /// "--torus", "-o": its name in messages.
  std::string shownName() const;
  virtual bool mayRepeat() const { return false; }
  virtual bool takesRest() const { return false; }

 protected:
  /// Sets the value. Returns an empty text, or the fault, to follow the option's name: " takes 0 or
  /// 1, not 'x'".
  virtual std::string set(std::string_view text) = 0;

 private:
  friend class Command;
  Row row_;
  bool is_given_ = false;
};

class Flag : public Option {
 public:
  Flag(Commands commands, const Row& row, bool standard = false)
      : Option(std::move(commands), row), value_(standard) {}
  operator bool() const { return value_; }

 private:
  std::string set(std::string_view text) override;
  bool value_;
};

class Text : public Option, public std::string {
 public:
  Text(Commands commands, const Row& row)
      : Option(std::move(commands), row), std::string(row.standard) {}
  const std::string& text() const { return *this; }
  using std::string::operator=;

 private:
  std::string set(std::string_view text) override;
};

/// One of some words, listed in the row's value: "torc|json".
class Word : public Text {
 public:
  using Text::Text;
  using std::string::operator=;
  /// The index of the value among the words.
  std::size_t index() const;

 private:
  std::string set(std::string_view text) override;
};

/// An option that may be repeated. Unless `separator` is 0, a value is a list of values.
class List : public Option, public std::vector<std::string> {
 public:
  List(Commands commands, const Row& row, char separator = 0)
      : Option(std::move(commands), row), separator_(separator) {}
  bool mayRepeat() const override { return true; }

 private:
  std::string set(std::string_view text) override;
  char separator_;
};

/// A positional argument that takes all words from the first one on: another program's.
class Rest : public List {
 public:
  using List::List;
  bool takesRest() const override { return true; }
};

/// An integer; the suffixes K, M and G are units of 1024.
class Integer : public Option {
 public:
  Integer(Commands commands, const Row& row, std::uint64_t low, std::uint64_t high);
  operator std::uint64_t() const { return value_; }

 private:
  std::string set(std::string_view text) override;
  std::uint64_t low_, high_, value_ = 0;
};

/// `--with KEY=VALUE,...`: sets options of the group kExperts.
class With : public Option {
 public:
  explicit With(Command& command);
  bool mayRepeat() const override { return true; }

 private:
  std::string set(std::string_view text) override;
  Command& command_;
};

/// A command of a program, or a program without commands: `name` is then the program's.
class Command {
 public:
  /// `about`: a sentence on its purpose, without subject and full stop. `run` returns the exit
  /// code. `example`: a command line. `exit_status`: its meaning, if not that of most commands.
  Command(std::string_view name, std::string_view about, int (*run)() = nullptr,
          std::string_view example = "", std::string_view exit_status = "")
      : name_(name), about_(about), run_(run), example_(example), exit_status_(exit_status) {}

  std::string_view name() const { return name_; }
  std::string_view about() const { return about_; }
  int run() const { return run_(); }

  /// Whether the command line names it.
  explicit operator bool() const { return is_chosen_; }

  /// The words after the command's name without those of another program: up to the first
  /// positional argument, if that takes the rest.
  std::span<const char* const> ownWords(std::span<const char* const> words) const;

  /// Sets the options from the words after the command's name. Errors are one line, and refer to
  /// the help of `shown_name`, "torc compile".
  Status parse(std::span<const char* const> words, std::string_view shown_name);
  /// The text of --help, in lines of at most `columns`.
  std::string help(std::string_view shown_name, std::size_t columns) const;
  /// A line for the command (its name, two empty columns, example, exit status, an empty column,
  /// purpose) and one for each option that is not hidden: command, heading, names, value, default,
  /// words and help, with tabulators between.
  std::string table() const;

  /// Completions after the word `before` for the text `begin`: pairs of a word and its description.
  /// A word that needs a value ends in `=`.
  std::vector<std::pair<std::string, std::string>> completions(std::string_view before,
                                                               std::string_view begin) const;

  Option* find(std::string_view name) const;

 private:
  friend class Option;
  friend class With;
  Status parseOption(std::string_view word, std::span<const char* const>& rest,
                     std::string_view shown_name);
  Status parsePositional(std::string_view word);
  Status set(Option& option, std::string_view text);

  std::string_view name_, about_;
  int (*run_)();
  std::string_view example_, exit_status_;
  bool is_chosen_ = false;
  std::vector<Option*> options_;
};

/// Whether --help or -h, or for `name` --version, is among the words.
bool asksFor(std::string_view name, std::span<const char* const> words);

/// The width of the terminal on stdout, at least 40; 80 if there is none.
std::size_t columnsOfHelp();

}  // namespace torc::options

#endif  // TORC_SUPPORT_OPTIONS_H_
