// Converts the verifier's result to JSON.
#include "compiler/tool.h"
#include "compiler/view/page_data.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "model/bounds/link_loads.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

Json loadsData(const Topology& topology, llvm::ArrayRef<model::ExactLoad> loads) {
  Json data = Json::object();
  for (const model::ExactLoad& load : loads)
    data[linkName(topology.axes[load.link.axis], load.link.sign > 0)] = {load.share.text(),
                                                                         load.share.value()};
  return data;
}

}  // namespace

Json proofData(const ViewedSchedule& viewed) {
  const ScheduleView schedule = viewed.written();
  const Topology& topology = schedule.topology;
  const ir::VerifyResult result = ir::verify(schedule);
  Json data = {{"ok", result.ok()},
               {"cells", result.cells},
               {"scratch_share", result.scratch_share},
               {"slots", result.slots}};
  Json& faults = data["faults"] = Json::array();
  for (const ir::Fault& fault : result.faults) {
    Json entry = {{"rule", name(fault.rule).str()}, {"message", fault.message}};
    if (fault.operation != kNone) entry["operation"] = fault.operation;
    faults.push_back(std::move(entry));
  }
  Json& phases = data["phases"] = Json::array();
  llvm::Expected<model::LinkLoads> exact = model::exactLinkLoads(schedule);
  if (exact) {
    for (const model::LinkLoads::Phase& phase : exact->phases)
      phases.push_back({{"phase", phase.phase}, {"loads", loadsData(topology, phase.loads)}});
    data["total"] = loadsData(topology, exact->totals);
  } else {
    llvm::consumeError(exact.takeError());
    for (const ir::LinkLoad& load : result.loads) {
      if (phases.empty() || phases.back()["phase"] != load.phase)
        phases.push_back({{"phase", load.phase}, {"loads", Json::object()}});
      phases.back()["loads"][linkName(topology.axes[load.axis], load.sign > 0)] = {Json(),
                                                                                   load.share};
    }
  }
  if (const auto bound = model::equalLinkBound(schedule.collective, topology))
    data["bound"] = {bound->text(), bound->value()};
  return data;
}

}  // namespace torc::compiler
