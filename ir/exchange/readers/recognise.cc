// Formats by their beginnings.
#include "ir/exchange/readers/recognise.h"

#include <string>

#include <llvm/ADT/StringExtras.h>

#include "ir/exchange/readers/msccl_reader.h"
#include "ir/exchange/readers/mscclpp_reader.h"
#include "ir/exchange/readers/sccl_reader.h"
#include "ir/exchange/readers/tacos_reader.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

/// ` of rank 3`, of a file PREFIX.3.et.
std::string rankOf(llvm::StringRef origin) {
  const llvm::StringRef rank = origin.rsplit('.').first.rsplit('.').second;
  const bool is_number = !rank.empty() && rank.find_first_not_of("0123456789") == rank.npos;
  return is_number ? " of rank " + rank.str() : "";
}

}  // namespace

llvm::Expected<RankPrograms> readForeign(llvm::StringRef text, llvm::StringRef origin,
                                         bool wants_links) {
  text.consume_front("\xef\xbb\xbf");  // a byte order mark
  const llvm::StringRef begin = text.ltrim().take_front(1 << 16);
  const auto refuse = [&](const llvm::Twine& what) { return makeError(origin + ": " + what); };
  const auto refuseChakra = [&] {
    return refuse("is a Chakra trace" + rankOf(origin) + ", which says nothing of data");
  };
  if (begin.starts_with("<")) return readMsccl(text, origin);
  if (begin.empty()) return refuse("is empty");
  if (begin.starts_with("schedule") || begin.starts_with("TORC")) {
    return refuse("is a schedule of torc's already (torc assemble, torc verify)");
  }
  if (begin.starts_with("{")) {
    if (begin.contains("\"torc_schedule\"")) {
      return refuse("is a schedule of torc's already (torc assemble, torc verify)");
    }
    if (begin.contains("\"msccl_type\"")) return readSccl(text, origin);
    if (begin.contains("\"workload_graph\"")) return refuseChakra();
    if (text.contains("\"gpus\"")) return readMscclpp(text, origin);
    return refuse("is JSON, but no MSCCL++ plan and no SCCL algorithm");
  }
  if (begin.starts_with("NPUs Count")) return readTacos(text, origin, wants_links);
  if (origin.ends_with(".et") || begin.contains("chakra") || begin.contains("COMM_SEND")) {
    return refuseChakra();
  }
  if (begin.contains("num_ranks")) {
    return refuse("is a GOAL schedule, which says nothing of data");
  }
  return refuse("no MSCCL XML, MSCCL++ plan, SCCL algorithm or TACOS result");
}

}  // namespace torc::ir
