#include "compiler/commands/compile_json.h"

#include <span>

#include <llvm/ADT/StringExtras.h>

#include "compiler/view/page_data.h"
#include "ir/json/topology_json.h"
#include "model/bounds/bounds.h"
#include "schedules/format/file.h"
#include "schedules/library/index.h"
#include "support/version.h"

namespace torc::compiler {
namespace {

/// The options, with the words of the command line.
Json optionsJson(const PipelineOptions& options) {
  return {{"weights", passes::word(options.weights)},
          {"directions", passes::word(options.directions)},
          {"chunks", options.chunks == 0 ? Json("auto") : Json(options.chunks)},
          {"dependences", passes::word(options.dependences)},
          {"in_flight", options.in_flight},
          {"segments", options.segments},
          {"segment_order", passes::word(options.segment_order)},
          {"cuts", options.cuts == CutRings::kDetours ? "detours" : "lines"},
          {"sends", options.synchronous_sends ? "synchronous" : "standard"},
          {"peers", passes::word(options.peers)},
          {"window", options.window},
          {"leaders", options.led_cores > 0}};
}

}  // namespace

Json compileResult(const CollectiveSpec& spec, const model::Machine& machine) {
  Json result = {{"torc_compile", 1},
                 {"torc", kVersion},
                 {"collective", rowOf(spec.collective).name},
                 {"torus", spec.topology.shape()},
                 {"ranks", spec.topology.ranks()},
                 {"topology", ir::topologyJson(spec.topology)},
                 {"machine", machine.name}};
  for (const char* key : {"bytes", "predicted_s", "bound_s", "reason", "algorithm", "options",
                          "producer", "operations", "streams", "phases", "scratch_slots", "file"}) {
    result[key] = nullptr;
  }
  return result;
}

void addChoice(Json& result, const Choice& choice, const CollectiveSpec& spec,
               const model::Machine& machine, std::uint64_t bytes, const ChoiceLimits& limits,
               bool explain) {
  Json data = choiceData(choice, spec, machine, bytes, limits);
  if (!data["reason"].is_null()) result["predicted_s"] = choice.best().predicted_s;
  if (!explain) {
    data.erase("candidates");
    data.erase("left_out");
  }
  result.update(data);
}

void addAlgorithm(Json& result, const Algorithm& algorithm, const PipelineOptions& options) {
  result["algorithm"] = algorithm.name;
  result["options"] = optionsJson(options);
}

void addFile(Json& result, const ScheduleView& schedule, llvm::StringRef name, llvm::StringRef form,
             llvm::StringRef bytes) {
  result["producer"] = schedule.producer;
  result["operations"] = schedule.operations.size();
  result["streams"] = schedule.streams.size();
  result["phases"] = schedule.operations.empty() ? 0 : schedule.operations.back().phase + 1u;
  result["scratch_slots"] = schedule.slot_count;
  const std::uint64_t checksum = checksumOf(std::as_bytes(std::span(bytes.data(), bytes.size())));
  result["file"] = {{"name", name},
                    {"form", form},
                    {"format_version", form == "torc" ? Json(kFormatVersion) : Json()},
                    {"bytes", bytes.size()},
                    {"checksum", llvm::utohexstr(checksum, /*LowerCase=*/true, /*Width=*/16)}};
}

}  // namespace torc::compiler
