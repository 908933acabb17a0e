// Lists of hosts in Slurm's notation, `node[01-16,20],rack[1-2]n[1-4]`, and boxes of coordinates in
// base 36, `tux[000x733]`; also plain lists with white space or commas between names.
#ifndef TORC_SUPPORT_HOSTLIST_H_
#define TORC_SUPPORT_HOSTLIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/status.h"

namespace torc {

/// The hosts of `text`, in its order; of several brackets the last one varies fastest, like the
/// last coordinate of a box. Numbers keep the digits of their range's start: `[08-10]` is 08, 09,
/// 10. Errors name the fault and its place, `hostlist 'n[1-': ...`; more than `most` hosts are an
/// error.
StatusOr<std::vector<std::string>> expandHostlist(std::string_view text, std::size_t most);

/// The value of a digit in base 36, 0 to 35, with capital letters as in Slurm's names; -1 for
/// others.
int base36Digit(char digit);

}  // namespace torc

#endif  // TORC_SUPPORT_HOSTLIST_H_
