// Runs MSCCL++ plans, operation by operation.
#include "tests/ir/exchange/mscclpp_machine.h"

#include <algorithm>
#include <numeric>

#include "support/hash.h"

namespace torc::ir {
namespace {

constexpr std::uint64_t kNothingInCell = 0x5eed;

bool isAny(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* one) { return name == one; });
}

}  // namespace

MscclppMachine::MscclppMachine(const Json& plan) : plan_(plan), gpus_(plan["gpus"].size()) {
  for (const Json& gpu : plan["gpus"]) {
    std::vector<std::vector<const Json*>>& blocks = ops_.emplace_back();
    for (const Json& block : gpu["threadblocks"]) {
      std::vector<const Json*>& ops = blocks.emplace_back();
      for (const Json& op : block["ops"]) {
        ops.push_back(&op);
        if (op.contains("tbg_info")) {
          shares_ = std::lcm(shares_, op["tbg_info"]["tbg_size"].get<std::size_t>());
        }
      }
    }
  }
  const Json& first = plan["gpus"][0];
  chunks_ = shares_ * std::max(first["input_chunks"].get<std::size_t>(),
                               first["output_chunks"].get<std::size_t>());
  for (const char* const type : {"memory", "port"}) {
    auto& of_gpus = channels_[type];
    of_gpus.resize(gpus_);
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      for (const Json& channel : plan["gpus"][gpu]["channels"]) {
        if (channel["channel_type"] != type) continue;
        for (const std::size_t peer : channel["connected_to"])
          of_gpus[gpu].emplace_back(peer, 0);
      }
    }
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      std::map<std::size_t, std::size_t> turn;
      for (auto& [peer, back] : of_gpus[gpu]) {
        std::size_t left = turn[peer]++;
        back = ~std::size_t{0};
        for (std::size_t i = 0; i < of_gpus[peer].size(); ++i) {
          if (of_gpus[peer][i].first == gpu && left-- == 0) back = i;
        }
      }
    }
  }
}

MscclppMachine::Cell MscclppMachine::cellOf(std::size_t gpu, char buffer, std::size_t cell) const {
  if (!plan_["inplace"] || buffer == 's') return {gpu, buffer, cell};
  const bool is_own = plan_["collective"] == "allgather" && buffer == 'i';
  return {gpu, 'o', cell + (is_own ? gpu * (chunks_ / gpus_) : 0)};
}

std::uint64_t MscclppMachine::input(std::size_t gpu, std::size_t cell) const {
  return hashNumbers(gpu, cell);
}

std::uint64_t MscclppMachine::result(std::size_t gpu, std::size_t cell) const {
  const std::size_t block = chunks_ / gpus_;
  if (plan_["collective"] == "allgather") return input(cell / block, cell % block);
  if (plan_["collective"] == "alltoall") return input(cell / block, gpu * block + cell % block);
  std::uint64_t sum = 0;
  for (std::size_t other = 0; other < gpus_; ++other)
    sum += input(other, cell);
  return sum;
}

std::pair<MscclppMachine::Cell, std::size_t> MscclppMachine::cells(std::size_t gpu,
                                                                   const Json& block,
                                                                   const Json& op,
                                                                   const Json& chunks) const {
  const std::size_t all = chunks["size"].get<std::size_t>() * shares_;
  std::size_t first = chunks["index"].get<std::size_t>() * shares_, count = all;
  if (op.contains("tbg_info")) {
    count = all / op["tbg_info"]["tbg_size"].get<std::size_t>();
    first += op["tbg_info"]["tb_id"].get<std::size_t>() * count;
  }
  std::size_t owner = gpu;
  std::string type;
  if (chunks.contains("buffer_id")) {
    for (const Json& refs : block["remote_buffer_refs"]) {
      if (refs["access_channel_type"] != op["channel_type"]) continue;
      const std::size_t id = refs["remote_buffer_ids"][chunks["buffer_id"].get<std::size_t>()];
      const Json& remote = plan_["gpus"][gpu]["remote_buffers"][id];
      owner = remote["rank"];
      type = remote["type"];
    }
  } else {
    type = chunks["type"];
  }
  return {cellOf(owner, type[0], first), count};
}

std::size_t MscclppMachine::channel(const Json& block, const Json& op, std::size_t index) const {
  for (const Json& channels : block["channels"]) {
    if (channels["channel_type"] == op["channel_type"])
      return channels["channel_ids"][op["channel_ids"][index].get<std::size_t>()];
  }
  return 0;
}

std::uint64_t& MscclppMachine::at(const Cell& first, std::size_t i) {
  const auto& [gpu, buffer, cell] = first;
  return memory_.try_emplace({gpu, buffer, cell + i}, kNothingInCell).first->second;
}

bool MscclppMachine::hasPackets(const Cell& first, std::size_t count) const {
  const auto& [gpu, buffer, cell] = first;
  for (std::size_t i = 0; i < count; ++i) {
    if (!flags_.contains({gpu, buffer, cell + i})) return false;
  }
  return true;
}

/// A proxy does the next thing that it was asked for.
bool MscclppMachine::proxy(std::size_t gpu, std::size_t channel) {
  auto& requests = proxies_[{gpu, channel}];
  if (requests.empty()) return false;
  const Request request = requests.front();
  requests.pop_front();
  if (request.signals) {
    const auto [peer, back] = channels_["port"][gpu][channel];
    ++signals_[{"port", peer, back}];
  }
  for (std::size_t i = 0; i < request.count; ++i) {
    at(request.to, i) = at(request.from, i);
    const auto& [owner, buffer, cell] = request.to;
    if (request.packets) flags_[{owner, buffer, cell + i}] = true;
  }
  return true;
}

/// Whether the next operation could be done.
bool MscclppMachine::step(std::size_t gpu, std::size_t number) {
  std::size_t& next = next_[gpu][number];
  if (next == ops_[gpu][number].size()) return false;
  const Json& op = *ops_[gpu][number][next];
  const Json& block = plan_["gpus"][gpu]["threadblocks"][number];
  const std::string name = op["name"];
  const auto list = [&](const char* key) { return op.contains(key) ? op[key] : Json::array(); };
  const Json sources = list("src_buff"), targets = list("dst_buff");
  const auto place = [&](const Json& chunks) { return cells(gpu, block, op, chunks); };
  const auto flag = [&](const Cell& first, std::size_t count) {
    const auto& [owner, buffer, cell] = first;
    for (std::size_t i = 0; i < count; ++i)
      flags_[{owner, buffer, cell + i}] = true;
  };
  const auto copy = [&](const Json& from, const Json& to, bool packets) {
    const auto [source, count] = place(from);
    const Cell target = place(to).first;
    for (std::size_t i = 0; i < count; ++i)
      at(target, i) = at(source, i);
    if (packets) flag(target, count);
  };
  if (name == "barrier") {
    const std::size_t id = op["barrier_id"], blocks = op["num_threadblocks"];
    std::size_t& turn = progress_[gpu][number];
    std::size_t& arrivals = barriers_[{gpu, id}];
    if (turn == 0) turn = ++arrivals;  // who comes as the how manieth
    if (arrivals < (turn + blocks - 1) / blocks * blocks) return false;
    turn = 0;
  } else if (isAny(name, {"wait", "rlxwait"})) {
    std::map<std::tuple<std::string, std::size_t, std::size_t>, std::size_t> needed;
    for (std::size_t i = 0; i < op["channel_ids"].size(); ++i)
      ++needed[{op["channel_type"], gpu, channel(block, op, i)}];
    for (const auto& [key, count] : needed) {
      if (signals_[key] < count) return false;
    }
    for (const auto& [key, count] : needed)
      signals_[key] -= count;
  } else if (isAny(name, {"signal", "rlxsignal"})) {
    for (std::size_t i = 0; i < op["channel_ids"].size(); ++i) {
      const std::size_t id = channel(block, op, i);
      if (op["channel_type"] == "port") {
        proxies_[{gpu, id}].push_back({{}, {}, 0, true, false});
      } else {
        const auto [peer, back] = channels_["memory"][gpu][id];
        ++signals_[{"memory", peer, back}];
      }
    }
  } else if (name == "flush") {
    for (std::size_t i = 0; op["channel_type"] == "port" && i < op["channel_ids"].size(); ++i) {
      if (!proxies_[{gpu, channel(block, op, i)}].empty()) return false;
    }
  } else if (name == "sem_acquire") {
    for (const std::size_t id : op["semaphore_ids"]) {
      if (semaphores_[{gpu, id}] == 0) return false;
    }
    for (const std::size_t id : op["semaphore_ids"])
      --semaphores_[{gpu, id}];
  } else if (name == "sem_release") {
    for (const std::size_t id : op["semaphore_ids"])
      ++semaphores_[{gpu, id}];
  } else if (isAny(name, {"copy", "cpkt", "upkt", "get"})) {
    for (std::size_t i = 0; name == "upkt" && i < sources.size(); ++i) {
      const auto [source, count] = place(sources[i]);
      if (!hasPackets(source, count)) return false;
    }
    for (std::size_t i = 0; i < sources.size(); ++i)
      copy(sources[i], targets[i], name == "cpkt");
  } else if (isAny(name, {"put", "pws", "pwsf", "ppkt", "rppkt"})) {
    if (name == "rppkt") {
      const auto [source, count] = place(sources[0]);
      if (!hasPackets(source, count)) return false;
    }
    const bool packets = isAny(name, {"ppkt", "rppkt"});
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Json& source = sources[i % sources.size()];
      if (op["channel_type"] != "port") {
        copy(source, targets[i], packets);
        continue;
      }
      const auto [from, count] = place(source);
      auto& requests = proxies_[{gpu, channel(block, op, i)}];
      requests.push_back({from, place(targets[i]).first, count, false, packets});
      if (isAny(name, {"pws", "pwsf"})) requests.push_back({{}, {}, 0, true, false});
      // Its flush: the requests of one channel are done in order.
      while (name == "pwsf" && proxy(gpu, channel(block, op, i))) {
      }
    }
  } else if (name != "nop") {
    const bool packets = name.ends_with("pkt");
    std::vector<std::uint64_t> sums;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const auto [source, count] = place(sources[s]);
      if (packets && s > 0 && !hasPackets(source, count)) return false;
    }
    for (const Json& source : sources) {
      const auto [first, count] = place(source);
      sums.resize(count);
      for (std::size_t i = 0; i < count; ++i)
        sums[i] += at(first, i);
    }
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const Cell target = place(targets[t]).first;
      for (std::size_t i = 0; i < sums.size(); ++i)
        at(target, i) = sums[i];
      if (packets && t > 0) flag(target, sums.size());
    }
  }
  ++next;
  return true;
}

std::string MscclppMachine::run(unsigned seed) {
  std::mt19937 random(seed);
  memory_.clear();
  flags_.clear();
  signals_.clear();
  proxies_.clear();
  semaphores_.clear();
  barriers_.clear();
  next_.assign(gpus_, {});
  progress_.assign(gpus_, {});
  struct Actor {
    std::size_t gpu, number;
    bool is_proxy;
  };
  std::vector<Actor> actors;
  const std::size_t inputs = plan_["collective"] == "allgather" ? chunks_ / gpus_ : chunks_;
  for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
    for (std::size_t cell = 0; cell < inputs; ++cell)
      memory_[cellOf(gpu, 'i', cell)] = input(gpu, cell);
    next_[gpu].resize(ops_[gpu].size());
    progress_[gpu].resize(ops_[gpu].size());
    for (std::size_t block = 0; block < ops_[gpu].size(); ++block)
      actors.push_back({gpu, block, false});
    for (std::size_t channel = 0; channel < channels_["port"][gpu].size(); ++channel)
      actors.push_back({gpu, channel, true});
    const Json& semaphores = plan_["gpus"][gpu]["semaphores"];
    for (std::size_t id = 0; id < semaphores.size(); ++id)
      semaphores_[{gpu, id}] = semaphores[id]["init_value"];
  }
  const auto act = [&](const Actor& actor) {
    return actor.is_proxy ? proxy(actor.gpu, actor.number) : step(actor.gpu, actor.number);
  };
  for (bool moves = true; moves;) {
    moves = false;
    std::ranges::shuffle(actors, random);
    for (const Actor& actor : actors)
      moves |= random() % 2 == 0 && act(actor);
    for (const Actor& actor : actors)
      moves |= !moves && act(actor);
  }
  for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
    for (std::size_t block = 0; block < ops_[gpu].size(); ++block) {
      if (next_[gpu][block] < ops_[gpu][block].size()) return "deadlock";
    }
    for (std::size_t cell = 0; cell < chunks_; ++cell) {
      if (at(cellOf(gpu, 'o', cell), 0) != result(gpu, cell)) return "a wrong result";
    }
  }
  return {};
}

}  // namespace torc::ir
