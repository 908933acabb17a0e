// Readers of torc's export formats, written from the formats' descriptions, independently of the
// writers, for tests. Their errors are in `fault`.
#ifndef TORC_TESTS_IR_EXCHANGE_READ_FORMS_H_
#define TORC_TESTS_IR_EXCHANGE_READ_FORMS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torc {

/// An operation of a rank in GOAL, or a node of a Chakra trace.
struct ReadOperation {
  char kind = 0;  // 's' send, 'r' receive, 'c' computation
  std::int64_t peer = -1;
  std::int64_t tag = -1;
  std::uint64_t bytes = 0;           // of a message
  std::uint64_t time = 0;            // of a computation: ns in GOAL, us in Chakra
  std::vector<std::uint64_t> after;  // operations of the rank, sorted; each is an earlier one

  bool operator==(const ReadOperation&) const = default;
};

struct ReadProgram {
  std::string fault;
  std::vector<std::vector<ReadOperation>> ranks;
};

ReadProgram readGoal(std::string_view text);
/// One file a rank.
ReadProgram readChakra(const std::vector<std::string>& files);

/// A tag `<name a="b" ...>` of a text consisting of such tags; `/name` ends one.
struct ReadTag {
  std::string name;
  bool is_empty = false;  // `/>`
  std::map<std::string, std::string> attributes;

  std::int64_t number(const std::string& attribute) const {
    return std::stoll(attributes.at(attribute));
  }
};
std::vector<ReadTag> readTags(std::string_view xml);

}  // namespace torc

#endif  // TORC_TESTS_IR_EXCHANGE_READ_FORMS_H_
