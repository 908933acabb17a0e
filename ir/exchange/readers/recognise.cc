// Formats by their beginnings.
#include "ir/exchange/readers/recognise.h"

#include "ir/exchange/readers/msccl_reader.h"
#include "ir/exchange/readers/mscclpp_reader.h"
#include "ir/make_error.h"

namespace torc::ir {

llvm::Expected<RankPrograms> readForeign(llvm::StringRef text, llvm::StringRef origin) {
  text.consume_front("\xef\xbb\xbf");  // a byte order mark
  const llvm::StringRef begin = text.ltrim().take_front(1 << 16);
  const auto refuse = [&](const llvm::Twine& what) { return makeError(origin + ": " + what); };
  if (begin.starts_with("<")) return readMsccl(text, origin);
  if (begin.empty()) return refuse("is empty");
  if (begin.starts_with("schedule") || begin.starts_with("TORC")) {
    return refuse("is a schedule of torc's already (torc assemble, torc verify)");
  }
  if (begin.contains("num_ranks")) {
    return refuse("is a GOAL schedule, which says nothing of data");
  }
  if (begin.starts_with("{")) {
    if (begin.contains("\"msccl_type\"")) return refuse("is an SCCL algorithm, which is not read");
    if (begin.contains("\"workload_graph\"")) {
      return refuse("is a Chakra trace, which says nothing of data");
    }
    if (begin.contains("\"gpus\"")) return readMscclpp(text, origin);
  }
  if (begin.contains("chakra") || begin.contains("COMM_SEND_NODE")) {
    return refuse("is a Chakra trace, which says nothing of data");
  }
  if (begin.starts_with("NPUs Count")) return refuse("is a TACOS result, which is not read");
  return refuse("is of no format that is read (MSCCL XML)");
}

}  // namespace torc::ir
