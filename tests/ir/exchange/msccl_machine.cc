// Reads and runs MSCCL programs.
#include "tests/ir/exchange/msccl_machine.h"

#include <algorithm>
#include <random>
#include <set>

namespace torc {

std::string MscclMachine::readRank(const std::vector<ReadTag>& tags, std::size_t& at) {
  Rank rank;
  for (const auto& [buffer, name] :
       {std::pair('i', "i_chunks"), std::pair('o', "o_chunks"), std::pair('s', "s_chunks")}) {
    rank.buffers[buffer].resize(static_cast<std::size_t>(tags[at].number(name)));
  }
  for (++at; tags[at].name == "tb"; ++at) {
    if (tags[at].number("id") != static_cast<std::int64_t>(rank.blocks.size())) return "tb ids";
    Block block{tags[at].number("send"), tags[at].number("recv"), tags[at].number("chan"), {}, 0};
    for (++at; tags[at].name == "step"; ++at) {
      const ReadTag& tag = tags[at];
      if (tag.number("s") != static_cast<std::int64_t>(block.steps.size())) return "step numbers";
      block.steps.push_back({tag.attributes.at("type"), tag.attributes.at("srcbuf")[0],
                             tag.attributes.at("dstbuf")[0], tag.number("srcoff"),
                             tag.number("dstoff"), tag.number("cnt"), tag.number("depid"),
                             tag.number("deps"), tag.number("hasdep") == 1});
    }
    if (tags[at].name != "/tb") return "tb does not end";
    rank.blocks.push_back(std::move(block));
  }
  if (tags[at++].name != "/gpu") return "gpu does not end";
  ranks.push_back(std::move(rank));
  return {};
}

std::string MscclMachine::read(std::string_view xml) {
  const std::vector<ReadTag> tags = readTags(xml);
  if (tags.empty() || tags[0].name != "algo") return "no algo";
  algo = tags[0];
  for (const char* name : {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll",
                           "inplace", "outofplace", "minBytes", "maxBytes"}) {
    if (!algo.attributes.contains(name)) return std::string("algo has no ") + name;
  }
  std::size_t at = 1;
  while (tags[at].name == "gpu") {
    if (tags[at].number("id") != static_cast<std::int64_t>(ranks.size())) return "gpu ids";
    if (std::string fault = readRank(tags, at); !fault.empty()) return fault;
  }
  if (tags[at].name != "/algo" || at + 1 != tags.size()) return "algo does not end";
  if (algo.number("ngpus") != static_cast<std::int64_t>(ranks.size())) return "ngpus";
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (std::string fault = checkRank(rank); !fault.empty()) {
      return "gpu " + std::to_string(rank) + ": " + fault;
    }
    for (std::size_t i = 0; i < ranks[rank].blocks.size(); ++i) {
      const Block& block = ranks[rank].blocks[i];
      if (block.recv >= 0) {
        receivers_[{block.recv, static_cast<std::int64_t>(rank), block.channel}] = i;
      }
    }
  }
  return {};
}

std::string MscclMachine::checkRank(std::size_t number) const {
  const Rank& rank = ranks[number];
  std::set<std::vector<std::int64_t>> connections;
  std::set<std::pair<std::int64_t, std::int64_t>> waited_for;
  for (const Block& block : rank.blocks) {
    if (block.channel < 0 || block.channel >= algo.number("nchannels")) return "channel";
    for (const auto& [way, peer] : {std::pair(0, block.send), std::pair(1, block.recv)}) {
      if (peer < 0) continue;
      if (peer == static_cast<std::int64_t>(number)) return "own peer";
      if (!connections.insert({way, peer, block.channel}).second) return "connection twice";
    }
    for (const Step& step : block.steps) {
      const bool is_nop = step.type == "nop";
      if (!is_nop && (step.count < 1 || step.count > 71)) return "cnt";
      for (const auto& [buffer, offset] :
           {std::pair(step.src, step.srcoff), std::pair(step.dst, step.dstoff)}) {
        if (!rank.buffers.contains(buffer)) return "buffer";
        const auto size = static_cast<std::int64_t>(rank.buffers.at(buffer).size());
        if (is_nop ? offset != -1 : offset < 0 || offset + step.count > size) return "offset";
      }
      if (step.depid < 0) continue;
      if (step.depid >= static_cast<std::int64_t>(rank.blocks.size()) || step.deps < 0 ||
          step.deps >= static_cast<std::int64_t>(
                           rank.blocks[static_cast<std::size_t>(step.depid)].steps.size())) {
        return "dependence";
      }
      waited_for.emplace(step.depid, step.deps);
    }
  }
  for (std::size_t b = 0; b < rank.blocks.size(); ++b) {
    for (std::size_t s = 0; s < rank.blocks[b].steps.size(); ++s) {
      const Step& step = rank.blocks[b].steps[s];
      if (!step.hasdep && waited_for.contains({b, s})) return "hasdep";
      if (step.type != "re" && step.hasdep && !waited_for.contains({b, s})) return "hasdep of none";
      // Readers make one of two such sums.
      if (s == 0 || step.type != "re" || step.depid >= 0) continue;
      const Step& last = rank.blocks[b].steps[s - 1];
      if (last.type == "re" && last.dst == step.dst && last.dstoff == step.dstoff &&
          last.src == step.src && !last.hasdep && last.count != step.count) {
        return "sums in a row";
      }
    }
  }
  return {};
}

bool MscclMachine::isReady(const Rank& rank, const Block& block) const {
  if (block.done == block.steps.size()) return false;
  const Step& step = block.steps[block.done];
  return step.depid < 0 || static_cast<std::int64_t>(
                               rank.blocks[static_cast<std::size_t>(step.depid)].done) > step.deps;
}

void MscclMachine::execute(std::size_t number, const Step& step, const std::uint64_t* arrived) {
  std::vector<std::uint64_t>& src = ranks[number].buffers[step.src];
  std::vector<std::uint64_t>& dst = ranks[number].buffers[step.dst];
  for (std::int64_t i = 0; i < step.count; ++i) {
    const std::uint64_t from = src[static_cast<std::size_t>(step.srcoff + i)];
    std::uint64_t& to = dst[static_cast<std::size_t>(step.dstoff + i)];
    if (step.type == "cpy") to = from;
    if (step.type == "re") to += from;
    if (step.type == "r") to = arrived[i];
    if (step.type == "rrc") to = from + arrived[i];
  }
}

bool MscclMachine::tryStep(std::size_t number, std::size_t index) {
  Rank& rank = ranks[number];
  Block& block = rank.blocks[index];
  if (!isReady(rank, block)) return false;
  const Step& step = block.steps[block.done];
  if (step.type == "r" || step.type == "rrc") return false;  // with the send
  if (step.type != "s") {
    execute(number, step, nullptr);
    ++block.done;
    return true;
  }
  const auto found =
      receivers_.find({static_cast<std::int64_t>(number), block.send, block.channel});
  if (found == receivers_.end()) return false;
  const auto peer = static_cast<std::size_t>(block.send);
  Block& other = ranks[peer].blocks[found->second];
  if (!isReady(ranks[peer], other)) return false;
  const Step& receive = other.steps[other.done];
  if ((receive.type != "r" && receive.type != "rrc") || receive.count != step.count) return false;
  const std::vector<std::uint64_t>& src = rank.buffers[step.src];
  const std::vector<std::uint64_t> arrived(src.begin() + step.srcoff,
                                           src.begin() + step.srcoff + step.count);
  execute(peer, receive, arrived.data());
  ++block.done;
  ++other.done;
  return true;
}

std::string MscclMachine::run(std::uint64_t seed) {
  std::vector<std::pair<std::size_t, std::size_t>> blocks;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (auto& [buffer, chunks] : ranks[rank].buffers) {
      for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk)
        chunks[chunk] = buffer == 'i' ? drawn(rank, chunk) : drawn(rank, chunk) ^ 0x5555;
    }
    for (std::size_t i = 0; i < ranks[rank].blocks.size(); ++i) {
      ranks[rank].blocks[i].done = 0;
      blocks.emplace_back(rank, i);
    }
  }
  std::mt19937_64 random(seed);
  bool goes_on = true;
  while (goes_on) {
    goes_on = false;
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (const auto& [rank, block] : blocks) {
      // Now one step at a time, now as many as go.
      while (tryStep(rank, block)) {
        goes_on = true;
        if (random() % 2 == 0) break;
      }
    }
  }
  for (const auto& [rank, block] : blocks) {
    const Block& stuck = ranks[rank].blocks[block];
    if (stuck.done < stuck.steps.size()) {
      return "gpu " + std::to_string(rank) + " tb " + std::to_string(block) + " stays at step " +
             std::to_string(stuck.done);
    }
  }
  return {};
}

}  // namespace torc
