// Lists of hosts as Slurm writes them: `node[01-16,20],rack[1-2]n[1-4]`, and boxes of coordinates
// in base 36, `tux[000x733]`; or as people do, with white space or commas between names.
#ifndef TORC_SUPPORT_HOSTLIST_H_
#define TORC_SUPPORT_HOSTLIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/status.h"

namespace torc {

/// The hosts of `text`, in its order; with several brackets the last one counts fastest, and so
/// does the last coordinate of a box. Numbers keep the digits of their range's start: `[08-10]` is
/// 08, 09, 10. Errors are of what is wrong and where, `hostlist 'n[1-': ...`; more than `most`
/// hosts are one.
StatusOr<std::vector<std::string>> expandHostlist(std::string_view text, std::size_t most);

/// 0 to 35 of a digit in base 36, capital letters as in Slurm's names; -1 for others.
int base36Digit(char digit);

}  // namespace torc

#endif  // TORC_SUPPORT_HOSTLIST_H_
