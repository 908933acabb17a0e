// Columns of a flat program, with regions as runs of elements.
#include "compiler/view/page_data.h"

namespace torc::compiler {
namespace {

nlohmann::ordered_json flatRegionJson(const FlatProgram& program, const FlatRegion& region) {
  nlohmann::ordered_json json;
  json["buffer"] = name(region.buffer);
  auto& extents = json["extents"] = nlohmann::ordered_json::array();
  for (const StridedExtent& extent : program.stridedExtentsOf(region)) {
    nlohmann::ordered_json entry = {extent.offset, extent.length};
    for (const RunLoop& loop : program.loopsOf(extent)) {
      if (loop.turns()) {
        entry.push_back({loop.repeat, loop.stride, loop.turn, loop.back});
      } else {
        entry.push_back({loop.repeat, loop.stride});
      }
    }
    extents.push_back(std::move(entry));
  }
  return json;
}

}  // namespace

nlohmann::ordered_json rankData(const FlatProgram& program) {
  nlohmann::ordered_json document;
  document["rank"] = program.rank;
  document["in_elements"] = program.in_elements;
  document["out_elements"] = program.out_elements;
  document["scratch_elements"] = program.scratch_elements;
  auto& operations = document["operations"] = nlohmann::ordered_json::array();
  for (const FlatOperation& operation : program.operations) {
    nlohmann::ordered_json entry;
    entry["kind"] = name(operation.kind);
    entry["phase"] = operation.phase;
    entry["stream"] = operation.stream;
    entry["source"] = operation.source;
    entry["segment"] = operation.segment;
    if (operation.peer >= 0) {
      entry["peer"] = operation.peer;
      entry["tag"] = operation.tag;
    }
    if (operation.dst.buffer != Buffer::kNone) {
      entry["dst"] = flatRegionJson(program, operation.dst);
    }
    if (operation.a.buffer != Buffer::kNone) entry["a"] = flatRegionJson(program, operation.a);
    if (operation.b.buffer != Buffer::kNone) entry["b"] = flatRegionJson(program, operation.b);
    entry["after"] = program.dependencesOf(operation);
    operations.push_back(std::move(entry));
  }
  return document;
}

}  // namespace torc::compiler
