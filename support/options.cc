// Command lines: parses options, and prints help and the table from rows.
#include "support/options.h"

#include <algorithm>
#include <cctype>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/columns.h"
#include "support/message.h"
#include "support/setting_values.h"

namespace torc::options {
namespace {

/// The parts of "output,o" or "torc|json".
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
  }
  return parts;
}

std::string_view withoutDashes(std::string_view word) {
  for (int dash = 0; dash < 2 && word.starts_with('-'); ++dash)
    word.remove_prefix(1);
  return word;
}

/// "-o, --output=FILE", "weights=KIND": the first column of help.
std::string term(const Row& row) {
  std::string text, last;
  if (row.group == kExperts) return message(row.names, '=', row.value);
  for (const std::string_view name : split(row.names, ',')) {
    if (name.size() == 1) text += message('-', name, ", ");
    if (name.size() > 1) last = message("--", name);
  }
  if (last.empty()) text.resize(text.size() - 2);
  const std::string_view between = row.value.empty() ? "" : last.empty() ? " " : "=";
  return message(text, last, between, row.value);
}

/// The values for completion, with spaces between.
std::string wordsOf(const Row& row) {
  if (row.words != nullptr) return row.words();
  std::string words(row.value.find('|') == row.value.npos ? "" : row.value);
  std::ranges::replace(words, '|', ' ');
  return words;
}

std::string takes(std::string_view allowed, std::string_view text) {
  return message(" takes ", allowed, ", not '", shown(text), "'");
}

}  // namespace

Option::Option(Commands commands, const Row& row) : row_(row) {
  for (Command* command : commands.list)
    command->options_.push_back(this);
}

bool Option::isPositional() const {
  const char first = row_.names.front();
  return first == '[' || std::isupper(static_cast<unsigned char>(first)) != 0;
}

std::string Option::shownName() const {
  const std::string_view name = split(row_.names, ',').front();
  return message(name.size() == 1 ? "-" : "--", name);
}

std::string Flag::set(std::string_view text) {
  value_ = text == "1" || text == "true";
  return value_ || text == "0" || text == "false" ? "" : takes("0 or 1", text);
}

std::string Text::set(std::string_view text) {
  assign(text);
  return {};
}

std::size_t Word::index() const {
  const std::vector<std::string_view> words = split(row().value, '|');
  return static_cast<std::size_t>(std::ranges::find(words, std::string_view(*this)) -
                                  words.begin());
}

std::string Word::set(std::string_view text) {
  const std::vector<std::string_view> words = split(row().value, '|');
  if (std::ranges::count(words, text) == 0) return takes(row().value, text);
  assign(text);
  return {};
}

std::string List::set(std::string_view text) {
  if (separator_ == 0) return emplace_back(text), "";
  for (const std::string_view part : split(text, separator_))
    emplace_back(part);
  return {};
}

Integer::Integer(Commands commands, const Row& row, std::uint64_t low, std::uint64_t high)
    : Option(std::move(commands), row), low_(low), high_(high) {
  value_ = parseNumber(row.standard, high).value_or(0);
}

std::string Integer::set(std::string_view text) {
  std::optional<std::uint64_t> value = parseNumber(text, high_);
  if (!value) value = parseBytes(text);
  if (!value || *value > high_ || *value < low_)
    return takes(message("an integer from ", low_, " to ", high_), text);
  value_ = *value;
  return {};
}

With::With(Command& command)
    : Option(command, {kWhat, "with", "KEY=VALUE,...", "Fix more of the schedule, see below"}),
      command_(command) {}

std::string With::set(std::string_view text) {
  for (const std::string_view item : split(text, ',')) {
    const std::string_view key = item.substr(0, item.find('='));
    Option* const option = command_.find(key);
    if (option == nullptr || option->row().group != kExperts || key == item) {
      return takes("KEY=VALUE,... with keys that --help lists", text);
    }
    const Status status = command_.set(*option, item.substr(key.size() + 1));
    if (!status.ok()) return message(": ", status.message());
  }
  return {};
}

Option* Command::find(std::string_view name) const {
  for (Option* option : options_) {
    if (!option->isPositional() && std::ranges::count(split(option->row().names, ','), name) > 0)
      return option;
  }
  return nullptr;
}

Status Command::set(Option& option, std::string_view text) {
  const std::string name =
      option.isPositional() ? std::string(option.row().names) : option.shownName();
  if (option.is_given_ && !option.mayRepeat())
    return Status(StatusCode::kInvalidArgument, message(name, " is given twice"));
  option.is_given_ = true;
  const std::string fault = option.set(text);
  return fault.empty() ? Status() : Status(StatusCode::kInvalidArgument, name + fault);
}

Status Command::parseOption(std::string_view word, std::span<const char* const>& rest,
                            std::string_view shown_name) {
  const std::size_t equals = word.find('=');
  const std::string_view dashed = word.substr(0, equals);
  Option* const option = find(withoutDashes(dashed));
  if (option == nullptr) {
    std::vector<std::string> shown_names = {"--help", "--version"};
    for (const Option* each : options_) {
      if (!each->isPositional()) shown_names.push_back(each->shownName());
    }
    return Status(
        StatusCode::kInvalidArgument,
        unknownNameText("option", dashed,
                        std::vector<std::string_view>(shown_names.begin(), shown_names.end()),
                        message(shown_name, " --help has them")));
  }
  if (equals != word.npos) return set(*option, word.substr(equals + 1));
  if (option->isFlag()) return set(*option, "1");
  if (rest.empty() || std::string_view(rest.front()).starts_with("--")) {
    return Status(StatusCode::kInvalidArgument,
                  message(option->shownName(), ": a value is missing, ", option->row().value));
  }
  const std::string_view value = rest.front();
  rest = rest.subspan(1);
  return set(*option, value);
}

Status Command::parsePositional(std::string_view word) {
  for (Option* option : options_) {
    if (option->isPositional() && (!option->is_given_ || option->mayRepeat()))
      return set(*option, word);
  }
  return Status(StatusCode::kInvalidArgument, message("too many arguments: '", shown(word), "'"));
}

std::span<const char* const> Command::ownWords(std::span<const char* const> words) const {
  if (std::ranges::none_of(options_, &Option::takesRest)) return words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.size() < 2 || word[0] != '-' || word == "--") return words.first(i);
    const Option* const option = find(withoutDashes(word));
    if (option != nullptr && !option->isFlag()) ++i;  // its value
  }
  return words;
}

Status Command::parse(std::span<const char* const> words, std::string_view shown_name) {
  const char* const* const rest = words.data() + ownWords(words).size();
  bool has_options = true;
  is_chosen_ = true;
  while (!words.empty()) {
    const std::string_view word = words.front();
    words = words.subspan(1);
    if (has_options && word == "--") {
      has_options = false;
      continue;
    }
    has_options = has_options && words.data() <= rest;
    const Status status = has_options && word.size() > 1 && word[0] == '-'
                              ? parseOption(word, words, shown_name)
                              : parsePositional(word);
    if (!status.ok()) return status;
  }
  return {};
}

std::string Command::help(std::string_view shown_name, std::size_t columns) const {
  constexpr std::size_t kIndent = 26;
  std::string usage = message("usage: ", shown_name, " [OPTION]...");
  std::vector<std::string_view> groups;
  for (const Option* option : options_) {
    const std::string_view group = option->row().group;
    if (option->isPositional()) {
      usage += message(' ', option->row().names);
    } else if (group != kHidden && std::ranges::count(groups, group) == 0) {
      groups.push_back(group);
    }
  }
  std::string text = wrapped(message(shown_name, ": ", about_), 0, columns) + "\n\n" + usage + '\n';
  for (const std::string_view group : groups) {
    text += message('\n', group, '\n');
    for (const Option* option : options_) {
      const Row& row = option->row();
      if (row.group != group || option->isPositional()) continue;
      std::string line = "  " + term(row);
      line += line.size() + 2 > kIndent ? "\n" + std::string(kIndent, ' ')
                                        : std::string(kIndent - line.size(), ' ');
      const std::string standard =
          row.standard.empty() ? "" : message(" (default ", row.standard, ')');
      text += line + wrapped(message(row.help, standard), kIndent, columns) + '\n';
    }
  }
  return example_.empty() ? text : text + message("\nExample\n  ", example_, '\n');
}

std::string Command::table() const {
  std::string text = message(name_, "\t\t\t", example_, '\t', exit_status_, "\t\t", about_, '\n');
  for (const Option* option : options_) {
    const Row& row = option->row();
    if (row.group == kHidden && !option->isPositional()) continue;
    text += message(name_, '\t', row.group, '\t', row.names, '\t', row.value, '\t', row.standard,
                    '\t', wordsOf(row), '\t', row.help, '\n');
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> Command::completions(
    std::string_view before, std::string_view begin) const {
  std::vector<std::pair<std::string, std::string>> found;
  const auto addWords = [&](std::string_view ahead, const Option& option) {
    const std::string words = wordsOf(option.row());
    for (const std::string_view word : split(words, ' '))
      if (!word.empty()) found.emplace_back(message(ahead, word), option.row().help);
  };
  const std::size_t equals = begin.find('=');
  const auto optionOf = [&](std::string_view word) -> const Option* {
    return word.starts_with('-') ? find(withoutDashes(word)) : nullptr;
  };
  if (const Option* option = optionOf(begin.substr(0, equals)); equals != begin.npos) {
    if (option != nullptr) addWords(begin.substr(0, equals + 1), *option);
  } else if (const Option* value_of = optionOf(before);
             value_of != nullptr && !value_of->isFlag()) {
    addWords("", *value_of);
  } else {
    for (const Option* each : options_) {
      if (each->isPositional() && !begin.starts_with('-')) addWords("", *each);
      if (each->isPositional() || !begin.starts_with('-') || each->row().group == kHidden) continue;
      found.emplace_back(message(each->shownName(), each->isFlag() ? "" : "="), each->row().help);
    }
  }
  return found;
}

bool asksFor(std::string_view name, std::span<const char* const> words) {
  for (const std::string_view word : words) {
    if (word == "--") return false;
    if (word.starts_with('-') && (withoutDashes(word) == name || (name == "help" && word == "-h")))
      return true;
  }
  return false;
}

std::size_t columnsOfHelp() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::max<std::size_t>(size.ws_col, 40);
}

}  // namespace torc::options
