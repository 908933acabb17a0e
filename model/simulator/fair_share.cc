#include "model/simulator/fair_share.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

namespace torc::model {
namespace {

/// Readings of a clock closer than this are equal up to rounding.
constexpr double kRounding = 1e-12;

}  // namespace

std::uint32_t FairShare::addResource(double capacity) {
  resources_.emplace_back().capacity = capacity;
  return static_cast<std::uint32_t>(resources_.size() - 1);
}

std::uint32_t FairShare::addGroup(llvm::ArrayRef<Use> uses, double rate) {
  Group& group = groups_.emplace_back();
  group.uses.assign(uses.begin(), uses.end());
  group.limit = rate;
  next_ends_.push_back(-1);
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

void FairShare::start(std::uint32_t group_index, std::uint32_t flow, double units, double now) {
  if (now > now_) share();  // flows started so far keep their rate until now
  now_ = now;
  Group& group = groups_[group_index];
  if (group.flows.empty()) {
    join(group_index, now);
  } else {
    readClock(group, now);
  }
  group.flows.push({group.clock + units, units, flow});
  makeStale(group_index);
}

double FairShare::nextEnd() {
  share();
  return firstEnd();
}

double FairShare::firstEnd() {
  while (!ends_.empty() && isPast(ends_.front())) {
    std::pop_heap(ends_.begin(), ends_.end());
    ends_.pop_back();
  }
  return ends_.empty() ? kInfinity : ends_.front().time;
}

void FairShare::setEnd(std::uint32_t group, double time) {
  if (next_ends_[group] == time) return;
  next_ends_[group] = time;
  if (ends_.size() > 2 * groups_.size()) {
    std::erase_if(ends_, [&](const End& end) { return isPast(end); });
    std::make_heap(ends_.begin(), ends_.end());
  }
  ends_.push_back({time, group});
  std::push_heap(ends_.begin(), ends_.end());
}

void FairShare::end(std::vector<std::uint32_t>& ended) {
  now_ = nextEnd();
  const std::size_t first = ended.size();
  // All flows due at once end before rates are recomputed.
  while (firstEnd() == now_ || nextEnd() == now_) {
    const std::uint32_t index = ends_.front().group;
    Group& group = groups_[index];
    next_ends_[index] = -1;
    group.clock = group.flows.top().due;
    group.read_at = now_;
    const double last = group.clock * (1 + kRounding);
    while (!group.flows.empty() && group.flows.top().due <= last) {
      const Flow flow = group.flows.top();
      group.flows.pop();
      for (const Use& use : group.uses)
        resources_[use.resource].carried += use.amount * flow.units;
      ended.push_back(flow.id);
    }
    if (group.flows.empty()) leave(index, now_);
    makeStale(index);
  }
  std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
}

void FairShare::join(std::uint32_t index, double now) {
  groups_[index].clock = 0;
  groups_[index].read_at = now;
  for (const Use& use : groups_[index].uses) {
    Resource& resource = resources_[use.resource];
    if (resource.groups.empty()) resource.busy_since = now;
    resource.groups.push_back(index);
  }
}

void FairShare::leave(std::uint32_t index, double now) {
  for (const Use& use : groups_[index].uses) {
    Resource& resource = resources_[use.resource];
    auto at = std::find(resource.groups.begin(), resource.groups.end(), index);
    *at = resource.groups.back();
    resource.groups.pop_back();
    if (resource.groups.empty()) resource.busy += now - resource.busy_since;
  }
}

void FairShare::readClock(Group& group, double now) {
  if (now > group.read_at) group.clock += group.rate * (now - group.read_at);
  group.read_at = now;
}

void FairShare::makeStale(std::uint32_t index) {
  Group& group = groups_[index];
  group.is_new = true;
  if (group.stale) return;
  group.stale = true;
  stale_.push_back(index);
}

void FairShare::share() {
  for (std::size_t i = 0; i < stale_.size(); ++i) {
    if (groups_[stale_[i]].stale) fill(stale_[i]);
  }
  stale_.clear();
}

/// Progressive filling of all groups linked to `first` through shared resources. All rates rise
/// together; a group stops at its own limit, or when one of its resources is full.
void FairShare::fill(std::uint32_t first) {
  Group& alone = groups_[first];
  const auto flows = static_cast<double>(alone.flows.size());
  double rate = alone.limit;
  const auto isUsedAlone = [&](const Use& use) {
    const Resource& resource = resources_[use.resource];
    rate = std::min(rate, resource.capacity / (use.amount * flows));
    return resource.groups.size() == 1;
  };
  if (flows > 0 && llvm::all_of(alone.uses, isUsedAlone)) {
    alone.stale = false;
    return setRate(first, rate);
  }
  ++visit_;
  component_.assign(1, first);
  touched_.clear();
  groups_[first].visited = visit_;
  for (std::size_t i = 0; i < component_.size(); ++i) {
    for (const Use& use : groups_[component_[i]].uses) {
      Resource& resource = resources_[use.resource];
      if (resource.visited == visit_) continue;
      resource.visited = visit_;
      resource.left = resource.capacity;
      resource.wanted = 0;
      resource.waiting = 0;
      touched_.push_back(use.resource);
      for (std::uint32_t other : resource.groups) {
        if (groups_[other].visited == visit_) continue;
        groups_[other].visited = visit_;
        component_.push_back(other);
      }
    }
  }
  // The first may have no flow left.
  std::erase_if(component_, [&](std::uint32_t index) {
    groups_[index].stale = false;
    return groups_[index].flows.empty();
  });
  for (std::uint32_t index : component_) {
    const Group& group = groups_[index];
    for (const Use& use : group.uses) {
      resources_[use.resource].wanted += use.amount * static_cast<double>(group.flows.size());
      ++resources_[use.resource].waiting;
    }
  }
  while (!component_.empty()) {
    double level = kInfinity;
    for (std::uint32_t index : component_)
      level = std::min(level, groups_[index].limit);
    for (std::uint32_t index : touched_) {
      const Resource& resource = resources_[index];
      if (resource.waiting > 0) level = std::min(level, resource.left / resource.wanted);
    }
    // A resource is full if its remaining capacity allows no higher level.
    auto full = [&](const Use& use) {
      const Resource& resource = resources_[use.resource];
      return resource.left <= level * resource.wanted * (1 + kRounding);
    };
    const auto rises = [&](std::uint32_t index) {
      return groups_[index].limit > level && llvm::none_of(groups_[index].uses, full);
    };
    const auto stopped = std::stable_partition(component_.begin(), component_.end(), rises);
    for (std::uint32_t index : llvm::make_range(stopped, component_.end())) {
      setRate(index, level);
      const Group& group = groups_[index];
      for (const Use& use : group.uses) {
        Resource& resource = resources_[use.resource];
        const double wanted = use.amount * static_cast<double>(group.flows.size());
        resource.left = std::max(0.0, resource.left - level * wanted);
        resource.wanted -= wanted;
        --resource.waiting;
      }
    }
    component_.erase(stopped, component_.end());
  }
}

void FairShare::setRate(std::uint32_t index, double rate) {
  Group& group = groups_[index];
  if (rate == group.rate && !group.is_new) return;
  readClock(group, now_);
  group.rate = rate;
  group.is_new = false;
  const double left = std::max(0.0, group.flows.top().due - group.clock);
  setEnd(index, left > 0 ? now_ + left / rate : now_);
}

}  // namespace torc::model
