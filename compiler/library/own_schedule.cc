// Reads, fits and proves users' schedules.
#include "compiler/library/own_schedule.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Path.h>

#include "compiler/tool.h"
#include "ir/make_error.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {
namespace {

// Length of the producer's description.
constexpr std::size_t kMostDescribed = 200;
// Shapes of a library in an error.
constexpr std::size_t kMostNamed = 8;

/// `topology` with links as fast as those of `other`, which has as many axes.
Topology withLinksOf(Topology topology, const Topology& other) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    topology.axes[i].bandwidth = other.axes[i].bandwidth;
    topology.axes[i].latency = other.axes[i].latency;
  }
  return topology;
}

/// Sizes and kinds of the axes, in any order.
std::vector<std::pair<std::uint32_t, AxisKind>> sortedAxes(const Topology& topology) {
  std::vector<std::pair<std::uint32_t, AxisKind>> axes;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > 1) axes.emplace_back(topology.axes[i].size, topology.axes[i].kind);
  }
  llvm::sort(axes);
  return axes;
}

std::string axisNames(const Topology& topology) {
  std::string names;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    names += topology.axes[i].name;
  return names;
}

}  // namespace

llvm::Expected<OwnSchedule> OwnSchedule::read(llvm::StringRef path) {
  const StatusOr<std::vector<std::byte>> bytes = readFile(path.str());
  if (!bytes.ok()) return toError(bytes.status());
  if (!isScheduleFile(*bytes)) {
    return makeError(
        path + ": is no schedule file (torc assemble makes one of a schedule in text or JSON)");
  }
  StatusOr<LoadedSchedule> loaded = readSchedule(*bytes, path.str());
  if (!loaded.ok()) return toError(loaded.status());
  return OwnSchedule(path.str(), std::move(*loaded));
}

std::string OwnSchedule::description() const {
  std::string text = llvm::sys::path::filename(path_).str();
  if (!view().producer.empty()) {
    text += ", " + std::string(view().producer);
  } else if (!view().name.empty()) {
    text += ", schedule @" + std::string(view().name);
  }
  if (text.size() > kMostDescribed) text = text.substr(0, kMostDescribed - 3) + "...";
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x80 && !llvm::isPrint(c); }, '?');
  return text;
}

llvm::Expected<std::vector<std::uint32_t>> OwnSchedule::shapesIn(const LibraryIndex& index) const {
  std::vector<std::uint32_t> shapes;
  for (std::uint32_t i = 0; i < index.shapes.size(); ++i) {
    const Topology& shape = index.shapes[i].topology;
    if (shape == withLinksOf(view().topology, shape)) shapes.push_back(i);
  }
  if (shapes.empty()) return noShapeIn(index);
  return shapes;
}

/// The error that no shape matches; names the nearest shapes.
llvm::Error OwnSchedule::noShapeIn(const LibraryIndex& index) const {
  const Topology& own = view().topology;
  std::string text = path_ + ": is for " + own.shape();
  for (const LibraryShape& of : index.shapes) {
    const Topology& shape = of.topology;
    if (sortedAxes(shape) != sortedAxes(own)) continue;
    if (shape.shape() != own.shape()) {
      text += "; the library's axes go by size, the largest first: it takes one for ";
      text += shape.shape();
    } else if (axisNames(shape) != axisNames(own)) {
      text += " with axes " + axisNames(own) + ", the library's has axes " + axisNames(shape);
    } else if (shape.order != own.order) {
      text += " with ranks in order " + own.orderString() + ", the library's are in order " +
              shape.orderString();
    } else {
      text += " with other dead links or nodes than the library's";
    }
    return makeError(text);
  }
  text += ", which is no sub-torus of the library's partitions; there are ";
  std::vector<std::string> named;
  for (const LibraryShape& of : index.shapes) {
    const std::string name = of.topology.shape();
    if (!llvm::is_contained(named, name)) named.push_back(name);
  }
  const std::size_t more = named.size() > kMostNamed ? named.size() - kMostNamed : 0;
  named.resize(named.size() - more);
  text += llvm::join(named, ", ");
  if (more > 0) text += " and " + std::to_string(more) + " more";
  return makeError(text);
}

llvm::Expected<ProvedFile> OwnSchedule::provedFor(const Topology& shape) const {
  ScheduleView fitted = view();
  fitted.topology = shape;
  std::vector<std::byte> bytes = writeSchedule(fitted);
  StatusOr<LoadedSchedule> loaded = readSchedule(bytes, path_);
  if (!loaded.ok()) return toError(loaded.status());
  const ir::VerifyResult proof = ir::verify(loaded->view());
  if (proof.ok()) return ProvedFile{std::move(bytes), std::move(*loaded)};
  return makeError(path_ + ": is not proved: " + proof.faults.front().message);
}

}  // namespace torc::compiler
