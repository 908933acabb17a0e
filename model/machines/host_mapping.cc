// Maps hosts to coordinates.
#include <set>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Sequence.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>

#include "ir/json/document.h"
#include "ir/make_error.h"
#include "model/machines/foreign.h"
#include "model/machines/slurm_machine.h"
#include "support/hostlist.h"

namespace torc::model {
namespace {

constexpr std::uint64_t kMostRanks = 1u << 24;

/// Coordinates along an axis, a cyclic interval.
struct Interval {
  std::uint32_t start = 0, length = 0;
};

/// The interval of the `used` coordinates of `size`; length 0 if they are not contiguous.
Interval intervalOf(const std::set<std::uint32_t>& used, std::uint32_t size) {
  const auto length = static_cast<std::uint32_t>(used.size());
  if (length == size) return {0, size};
  for (const std::uint32_t start : used) {
    if (used.contains((start + size - 1) % size)) continue;
    const auto isUsed = [&](std::uint32_t i) { return used.contains((start + i) % size); };
    if (llvm::all_of(llvm::seq(0u, length), isUsed)) return {start, length};
  }
  return {};
}

/// "(0,0,1) of 'pod'".
std::string placeText(const SlurmTorus& torus, std::size_t place) {
  std::string text;
  for (const std::uint32_t coordinate : torus.coordinatesOf(place))
    text += (text.empty() ? "(" : ",") + std::to_string(coordinate);
  return text + ") of " + ir::shownName(torus.name);
}

}  // namespace

llvm::Expected<std::string> mappingOfHosts(llvm::ArrayRef<SlurmTorus> tori,
                                           llvm::StringRef hostlist, std::uint32_t ranks_per_host) {
  const StatusOr<std::vector<std::string>> hosts =
      expandHostlist({hostlist.data(), hostlist.size()}, kMostSlurmHosts);
  if (!hosts.ok()) return makeError(hosts.status());
  if (hosts->size() * std::uint64_t{ranks_per_host} > kMostRanks) {
    return makeError("a mapping of more than " + llvm::Twine(kMostRanks) + " ranks");
  }
  llvm::StringMap<std::pair<const SlurmTorus*, std::size_t>> places;
  for (const SlurmTorus& torus : tori) {
    for (std::size_t i = 0; i < torus.hosts.size(); ++i) {
      if (torus.hosts[i].empty()) continue;
      const auto [first, is_new] = places.try_emplace(torus.hosts[i], &torus, i);
      if (is_new) continue;
      return makeError("host " + ir::shownName(torus.hosts[i]) + " is at " +
                       placeText(*first->second.first, first->second.second) + " and at " +
                       placeText(torus, i));
    }
  }
  // Full names, by their first label.
  llvm::StringMap<llvm::SmallVector<llvm::StringRef, 1>> full_names;
  for (const auto& place : places) {
    if (const auto [label, domain] = place.first().split('.'); !domain.empty())
      full_names[label].push_back(place.first());
  }
  const SlurmTorus* torus = nullptr;
  std::vector<std::vector<std::uint32_t>> at;
  llvm::StringMap<llvm::StringRef> named;  // by the torus's names
  for (const std::string& host : *hosts) {
    auto found = places.find(host);
    if (found == places.end()) found = places.find(llvm::StringRef(host).split('.').first);
    if (const auto full = full_names.find(host);
        found == places.end() && full != full_names.end()) {
      llvm::sort(full->second);
      if (full->second.size() > 1) {
        return makeError("host " + ir::shownName(host) + " may be " +
                         ir::shownName(full->second[0]) + " or " + ir::shownName(full->second[1]) +
                         ": give its full name");
      }
      found = places.find(full->second[0]);
    }
    if (found == places.end()) return makeError("host " + ir::shownName(host) + " is on no torus");
    if (const auto [first, is_new] = named.try_emplace(found->first(), host); !is_new) {
      return makeError("host " + ir::shownName(host) + " is named twice" +
                       (first->second == host ? "" : ", also as " + ir::shownName(first->second)));
    }
    if (torus == nullptr) torus = found->second.first;
    if (found->second.first != torus) {
      return makeError("host " + ir::shownName(host) + " is on torus " +
                       ir::shownName(found->second.first->name) + ", " +
                       ir::shownName(hosts->front()) + " on " + ir::shownName(torus->name));
    }
    at.push_back(torus->coordinatesOf(found->second.second));
  }

  std::vector<Interval> box;
  std::size_t filled = 1;
  for (std::size_t i = 0; i < torus->sizes.size(); ++i) {
    std::set<std::uint32_t> used;
    for (const std::vector<std::uint32_t>& one : at)
      used.insert(one[i]);
    box.push_back(intervalOf(used, torus->sizes[i]));
    filled *= box.back().length;
  }
  const bool is_box = filled == at.size();
  std::string shape, corner;
  for (std::size_t i = 0; i < box.size(); ++i) {
    if (!is_box) box[i] = {0, torus->sizes[i]};
    const auto [start, length] = box[i];
    shape += (i > 0 ? "x" : "") + std::to_string(length);
    if (length > 1 && length < torus->sizes[i]) shape += "m";
    corner += (i > 0 ? "," : "") + std::to_string(start);
  }
  if (ranks_per_host > 1) shape += "+" + std::to_string(ranks_per_host);

  std::string text = "# TORC_TORUS=" + shape + ": " + std::to_string(at.size()) +
                     (at.size() == 1 ? " host of " : " hosts of ") + ir::shownName(torus->name) +
                     ", " + torus->shape() +
                     (is_box ? ", from (" + corner + ") on\n" : ", which fill no box\n");
  for (const std::vector<std::uint32_t>& one : at) {
    std::string line;
    for (std::size_t i = 0; i < box.size(); ++i) {
      const std::uint32_t size = torus->sizes[i];
      line += (i > 0 ? " " : "") + std::to_string((one[i] + size - box[i].start) % size);
    }
    for (std::uint32_t core = 0; core < ranks_per_host; ++core)
      text += line + (ranks_per_host > 1 ? " " + std::to_string(core) : "") + "\n";
  }
  return text;
}

}  // namespace torc::model
