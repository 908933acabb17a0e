// Recognises formats by their beginnings.
#include <string>

#include "ir/exchange/readers/readers.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

/// Other files that users keep beside schedules, by a text that only they contain.
struct Other {
  llvm::StringLiteral mark, what;
};
constexpr Other kOthers[] = {
    {"Epoch_Duration\"", "flows of TE-CCL, which its ncclize makes MSCCL XML of"},
    {"\"TopologyParams\"", "a task for TE-CCL's solver, no schedule"},
    {"\"intranode_sketch\"", "a sketch for TACCL's solver, no schedule"},
    {"\"scheduling-policy\"", "a system of ASTRA-sim, no schedule"},
    {"\"logical-dims\"", "a shape of ASTRA-sim's, no schedule"},
    {"\"memory-type\"", "a memory of ASTRA-sim's, no schedule"},
    {"npus_count",
     "a network of ASTRA-sim, no schedule (torc_convert astra makes a machine of it)"},
    {"\"traceEvents\"", "a trace of events, which says nothing of data"},
    {"<platform",
     "a platform of SimGrid, no schedule (torc_convert simgrid makes a machine of it)"},
    {"<system", "a topology of NCCL, no schedule"},
    {"<graphs", "rings and trees of NCCL, which name no steps"},
};

/// ` of rank 3`, of a file PREFIX.3.et.
std::string rankOf(llvm::StringRef origin) {
  const llvm::StringRef rank = origin.rsplit('.').first.rsplit('.').second;
  const bool is_number = !rank.empty() && rank.find_first_not_of("0123456789") == rank.npos;
  return is_number ? " of rank " + rank.str() : "";
}

}  // namespace

llvm::Expected<RankPrograms> readForeign(llvm::StringRef text, llvm::StringRef origin,
                                         std::optional<Collective> collective) {
  text.consume_front("\xef\xbb\xbf");  // a byte order mark
  const llvm::StringRef begin = text.ltrim().take_front(1 << 16);
  const auto refuse = [&](const llvm::Twine& what) { return makeError(origin + ": " + what); };
  if (begin.empty()) return refuse("is empty");
  if (begin.starts_with("schedule") || begin.starts_with("TORC") ||
      begin.contains("\"torc_schedule\"")) {
    return refuse("is a schedule of torc's already (torc assemble, torc verify)");
  }
  if (begin.contains("<algo")) return readMsccl(text, origin, collective);
  const auto convert = [&](llvm::StringRef what, llvm::StringRef format) {
    return refuse(what + ": convert it first: python3 -m torc_convert " + format + " " + origin +
                  " >x.xml");
  };
  if (begin.contains("sccl_type\"")) return convert("is an SCCL algorithm", "sccl");
  const bool is_json = begin.starts_with("{");
  if (is_json && text.contains("\"gpus\"")) return convert("is an MSCCL++ plan", "mscclpp");
  if (begin.starts_with("NPUs Count")) return convert("is a TACOS result", "tacos");
  if (origin.ends_with(".et") || begin.contains("\"workload_graph\"") || begin.contains("chakra") ||
      begin.contains("COMM_SEND")) {
    return refuse("is a Chakra trace" + rankOf(origin) + ", which says nothing of data");
  }
  for (const Other& other : kOthers) {
    if (begin.contains(other.mark)) return refuse("is " + llvm::Twine(other.what));
  }
  if (begin.starts_with("<")) return readMsccl(text, origin, collective);
  if (is_json) return refuse("is JSON, but no MSCCL++ plan");
  if (begin.contains("num_ranks")) {
    return refuse("is a GOAL schedule, which says nothing of data");
  }
  return refuse("no MSCCL XML and no MSCCL++ plan");
}

}  // namespace torc::ir
