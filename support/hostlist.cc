// Lists of hosts: splits names at commas and white space, and expands brackets from the left.
#include "support/hostlist.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "support/message.h"
#include "support/setting_values.h"

namespace torc {
namespace {

constexpr std::size_t kMostDigits = 18;
constexpr std::size_t kLongestHost = 255;
constexpr std::size_t kMostCoordinates = 5;  // of a box

/// Temporary state of one list: the remaining text, and the hosts so far.
class Reader {
 public:
  Reader(std::string_view text, std::size_t most) : text_(text), most_(most) {}

  StatusOr<std::vector<std::string>> read() {
    skipBlanks();
    for (bool is_last = false; !is_last;) {
      std::vector<std::string> hosts{""};
      const std::size_t begin = at_;
      while (at_ < text_.size() && kBetween.find(text_[at_]) == kBetween.npos) {
        if (Status status = text_[at_] == '[' ? addBracket(hosts) : addText(hosts); !status.ok())
          return status;
      }
      if (at_ == begin) return fault("a host is missing");
      if (hosts.size() > most_ - hosts_.size()) return tooMany();
      std::ranges::move(hosts, std::back_inserter(hosts_));
      skipBlanks();
      is_last = at_ == text_.size();
      if (!is_last && text_[at_] == ',') {
        ++at_;
        skipBlanks();
      }
    }
    return std::move(hosts_);
  }

 private:
  static constexpr std::string_view kBlanks = " \t\r\n", kBetween = ", \t\r\n";

  void skipBlanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }
  Status fault(const std::string& what) const {
    return malformed("hostlist '", shown(text_), "': ", what, " (column ", at_ + 1, ")");
  }
  Status tooMany() const {
    return malformed("hostlist '", shown(text_), "': has more than ", most_, " hosts");
  }

  Status addText(std::vector<std::string>& hosts) {
    const std::size_t end =
        std::min({text_.find_first_of(kBetween, at_), text_.find('[', at_), text_.size()});
    const std::string_view piece = text_.substr(at_, end - at_);
    const auto isNoLetter = [](unsigned char c) { return c <= ' ' || c == 0x7f || c == ']'; };
    if (const auto bad = std::ranges::find_if(piece, isNoLetter); bad != piece.end()) {
      at_ += static_cast<std::size_t>(bad - piece.begin());
      return fault(message("'", shown({&*bad, 1}), "' is in no host's name"));
    }
    for (std::string& host : hosts)
      host += piece;
    if (hosts.front().size() > kLongestHost) return fault("a host's name is too long");
    at_ = end;
    return {};
  }

  /// Combines every host of `hosts` with every item of the bracket.
  Status addBracket(std::vector<std::string>& hosts) {
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) return fault("'[' is not closed");
    std::vector<std::string> ends;
    ++at_;
    while (true) {
      const std::size_t stop = std::min(text_.find(',', at_), end);
      const std::string_view range = text_.substr(at_, stop - at_);
      const bool is_box = range.find('x') != std::string_view::npos;
      if (Status status = is_box ? addBox(range, ends) : addRange(range, ends); !status.ok())
        return status;
      at_ = stop + 1;
      if (stop == end) break;
    }
    if (ends.size() > most_ / hosts.size()) return tooMany();
    std::vector<std::string> longer;
    longer.reserve(hosts.size() * ends.size());
    for (const std::string& host : hosts) {
      for (const std::string& last : ends)
        longer.push_back(host + last);
    }
    hosts = std::move(longer);
    if (hosts.back().size() > kLongestHost) return fault("a host's name is too long");
    return {};
  }

  /// "07" or "08-10".
  Status addRange(std::string_view range, std::vector<std::string>& ends) {
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
    const auto first = parseNumber(low, UINT64_MAX), last = parseNumber(high, UINT64_MAX);
    if (!first || !last || low.size() > kMostDigits || high.size() > kMostDigits) {
      return fault(message("'", shown(range), "' is no range of numbers"));
    }
    if (*last < *first) return fault(message("'", shown(range), "' ends before it begins"));
    if (*last - *first >= most_ - ends.size()) return tooMany();
    for (std::uint64_t number = *first; number <= *last; ++number) {
      const std::string digits = std::to_string(number);
      ends.push_back(std::string(low.size() - std::min(low.size(), digits.size()), '0') + digits);
    }
    return {};
  }

  /// "000x733": all coordinates from the lowest to the highest corner.
  Status addBox(std::string_view box, std::vector<std::string>& ends) {
    const std::string_view low = box.substr(0, box.find('x')), high = box.substr(low.size() + 1);
    bool sound = low.size() == high.size() && !low.empty() && low.size() <= kMostCoordinates;
    std::size_t count = 1;
    for (std::size_t i = 0; sound && i < low.size(); ++i) {
      const int first = base36Digit(low[i]), last = base36Digit(high[i]);
      sound = first >= 0 && last >= first;
      count *= static_cast<std::size_t>(last - first + 1);
    }
    if (!sound) {
      return fault(
          message("'", shown(box), "' is no box of coordinates, which are digits of base 36"));
    }
    if (count > most_ - ends.size()) return tooMany();
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (std::string at(low);;) {
      ends.push_back(at);
      std::size_t i = low.size();
      for (; i > 0 && at[i - 1] == high[i - 1]; --i)
        at[i - 1] = low[i - 1];
      if (i == 0) return {};
      at[i - 1] = kDigits[static_cast<std::size_t>(base36Digit(at[i - 1])) + 1];
    }
  }

  std::string_view text_;
  std::size_t most_;
  std::size_t at_ = 0;
  std::vector<std::string> hosts_;
};

}  // namespace

int base36Digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'A' && digit <= 'Z' ? digit - 'A' + 10 : -1;
}

StatusOr<std::vector<std::string>> expandHostlist(std::string_view text, std::size_t most) {
  return Reader(text, most).read();
}

}  // namespace torc
