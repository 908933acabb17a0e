// SCCL algorithms: addresses become chunks of the collective, sends the steps of links.
#include "ir/exchange/readers/sccl_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include <llvm/ADT/STLExtras.h>

#include "ir/exchange/readers/link_steps.h"
#include "ir/json/document.h"
#include "ir/json/located_json.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

constexpr std::int64_t kHighestAddress = INT64_C(1) << 40;
constexpr std::uint64_t kMostContributions = std::uint64_t{1}
                                             << 32;  // of sums, that are kept as bits

struct Send {
  std::int64_t address = 0;
  std::int32_t from = 0, to = 0;
  std::uint32_t line = 0, step = 0;
};

/// Where the chunks of an address begin and end.
struct Address {
  std::vector<std::int32_t> begins;  // one for each chunk
  std::int32_t ends = -1;            // -1: everywhere
  std::int32_t index = 0;            // in the vector; for pairs, in the blocks of the pair
};

class ScclReader {
 public:
  explicit ScclReader(llvm::StringRef origin) : origin_(origin), json_(origin) {}

  llvm::Expected<RankPrograms> read(llvm::StringRef text) {
    llvm::Expected<LocatedJson> root =
        parseLocatedJson(text, origin_, "steps", [&](const LocatedJson& step) {
          readStep(step);
          return !json_.failed();
        });
    if (!root && !json_.failed()) return root.takeError();
    if (root) {
      readAlgorithm(*root);
    } else {
      consumeError(root.takeError());
    }
    if (!json_.failed()) run();
    if (json_.failed()) return json_.takeError();
    return std::move(programs_);
  }

 private:
  void readStep(const LocatedJson& step) {
    for (const LocatedJson& send : json_.elements(step, "sends")) {
      const auto* const three = std::get_if<LocatedJson::Elements>(&send.value);
      if (three == nullptr || three->size() != 3)
        return json_.refuse(send.line, "a send is an address and two gpus");
      if (sends_.size() == kMaxForeignSteps / 2) {
        return json_.refuse(send.line,
                            "has more than " + llvm::Twine(kMaxForeignSteps / 2) + " sends");
      }
      Send one;
      one.address = json_.numberOf((*three)[0], "an address", 0, kHighestAddress);
      one.from = gpu((*three)[1], kMaxForeignRanks);
      one.to = gpu((*three)[2], kMaxForeignRanks);
      one.line = send.line;
      one.step = step_;
      if (one.from == one.to) json_.refuse(send.line, "a gpu sends to itself");
      if (json_.failed()) return;
      sends_.push_back(one);
    }
    ++step_;
  }

  std::int32_t gpu(const LocatedJson& value, std::int64_t below) {
    return static_cast<std::int32_t>(json_.numberOf(value, "a gpu", 0, below - 1));
  }

  void readAlgorithm(const LocatedJson& root) {
    const bool is_of_sccl = root.find("sccl_type") != nullptr;  // as it was called until 2021
    const llvm::StringRef type = json_.text(root, is_of_sccl ? "sccl_type" : "msccl_type");
    if (!json_.failed() && type != "algorithm")
      return json_.refuse(root.line, "is of type " + shownName(type) + "; algorithms are imported");
    programs_.origin = origin_.str();
    programs_.line = root.line;
    const LocatedJson& collective = json_.member(root, "collective");
    line_ = collective.line;
    const std::int64_t ranks = json_.number(collective, "nodes", 1, kMaxForeignRanks);
    parts_ = json_.number(json_.member(root, "instance"), "chunks", 1, kMaxForeignChunks);
    if (json_.failed()) return;
    programs_.ranks.resize(static_cast<std::size_t>(ranks));
    for (const LocatedJson& chunk : json_.elements(collective, "chunks")) {
      readChunk(chunk);
      if (json_.failed()) return;
    }
    if (addresses_.empty()) return json_.refuse(line_, "has no chunks");
    if (const LocatedJson* const topology = root.find("topology")) links_ = topology->find("links");
    findCollective();
  }

  void readChunk(const LocatedJson& chunk) {
    const std::size_t ranks = programs_.ranks.size();
    const LocatedJson::Elements& pre = json_.elements(chunk, "pre");
    const LocatedJson::Elements& post = json_.elements(chunk, "post");
    const std::int64_t number = json_.number(chunk, "addr", 0, kHighestAddress);
    if (json_.failed()) return;
    if (pre.size() != 1 || (post.size() != 1 && post.size() != ranks)) {
      return json_.refuse(chunk.line, "a chunk begins on " + llvm::Twine(pre.size()) +
                                          " gpus and ends on " + llvm::Twine(post.size()) +
                                          ", as in no collective that is imported");
    }
    const auto [address, is_new] = addresses_.try_emplace(number);
    std::set<std::int32_t> ends;
    for (const LocatedJson& one : post)
      ends.insert(gpu(one, static_cast<std::int64_t>(ranks)));
    address->second.begins.push_back(gpu(pre[0], static_cast<std::int64_t>(ranks)));
    const std::int32_t end = ends.size() == ranks && ranks > 1 ? -1 : *ends.begin();
    if (json_.failed()) return;
    if (ends.size() != post.size() || (!is_new && end != address->second.ends))
      return json_.refuse(
          chunk.line, "the chunks of address " + llvm::Twine(number) + " end on different gpus");
    address->second.ends = end;
  }

  /// What it is, and the place of each address in the vector.
  void findCollective() {
    const auto ranks = static_cast<std::int32_t>(programs_.ranks.size());
    const Address& first = addresses_.begin()->second;
    sums_ = first.begins.size() > 1 || (ranks == 1 && first.begins.size() == 1);
    const bool to_all = first.ends == -1;
    const bool from_one = llvm::all_of(
        addresses_, [&](const auto& address) { return address.second.begins == first.begins; });
    programs_.collective =
        sums_    ? to_all || ranks == 1 ? Collective::kAllreduce : Collective::kReduceScatter
        : to_all ? from_one ? Collective::kBroadcast : Collective::kAllgather
                 : Collective::kAlltoall;
    const Collective collective = programs_.collective;
    if (collective == Collective::kBroadcast && first.begins[0] != 0) {
      return json_.refuse(
          line_, "a broadcast comes from gpu 0, not from gpu " + llvm::Twine(first.begins[0]));
    }
    // Addresses of one block, or of one pair of gpus, are its parts.
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> of_block;
    for (auto& [number, address] : addresses_) {
      llvm::sort(address.begins);
      const bool fits =
          (address.ends == -1) == to_all &&
          (sums_ ? address.begins.size() == static_cast<std::size_t>(ranks) &&
                       std::ranges::adjacent_find(address.begins) == address.begins.end()
                 : address.begins.size() == 1);
      if (!fits) {
        return json_.refuse(line_, "address " + llvm::Twine(number) +
                                       " begins or ends as in no collective that is imported");
      }
      address.index = of_block[blockOf(address)]++;
    }
    const std::int64_t per_block = of_block.begin()->second;
    const bool has_blocks =
        collective != Collective::kAllreduce && collective != Collective::kBroadcast;
    const std::int64_t blocks = collective == Collective::kAlltoall ? std::int64_t{ranks} * ranks
                                : has_blocks                        ? ranks
                                                                    : 1;
    if (static_cast<std::int64_t>(of_block.size()) != blocks ||
        llvm::any_of(of_block, [&](const auto& block) { return block.second != per_block; })) {
      return json_.refuse(line_, "the " + llvm::Twine(addresses_.size()) +
                                     " addresses are not shared evenly by the gpus");
    }
    const std::int64_t chunks = per_block * parts_ * (has_blocks ? ranks : 1);
    if (chunks > kMaxForeignChunks) {
      return json_.refuse(line_, "has " + llvm::Twine(chunks) + " chunks of a vector; at most " +
                                     llvm::Twine(kMaxForeignChunks) + " are imported");
    }
    per_block_ = static_cast<std::int32_t>(per_block * parts_);
    programs_.chunks = static_cast<std::int32_t>(chunks);
    programs_.in_place = collective != Collective::kAlltoall;
  }

  std::pair<std::int32_t, std::int32_t> blockOf(const Address& address) const {
    switch (programs_.collective) {
      case Collective::kAllgather:
        return {address.begins[0], 0};
      case Collective::kReduceScatter:
        return {address.ends, 0};
      case Collective::kAlltoall:
        return {address.begins[0], address.ends};
      default:
        return {0, 0};
    }
  }

  /// Whether the topology says so, which has chunks per step by receiver, then by sender; or
  /// nothing.
  bool hasLink(const Send& send) const {
    const LocatedJson* at = links_;
    for (const std::int32_t gpu : {send.to, send.from}) {
      if (links_ == nullptr) return true;
      const auto* const row = std::get_if<LocatedJson::Elements>(&at->value);
      if (row == nullptr || row->size() <= static_cast<std::size_t>(gpu)) return false;
      at = &(*row)[static_cast<std::size_t>(gpu)];
    }
    const auto* const chunks = std::get_if<std::int64_t>(&at->value);
    const auto* const some = std::get_if<double>(&at->value);
    return (chunks != nullptr && *chunks > 0) || (some != nullptr && *some > 0);
  }

  /// A part of an address.
  struct Chunk {
    const Address* address = nullptr;
    std::int32_t part = 0;
  };
  /// Nothing: there is no such address.
  std::optional<Chunk> chunkOf(const Send& send) const {
    const auto found = addresses_.find(send.address / parts_);
    if (found == addresses_.end()) return std::nullopt;
    return Chunk{&found->second, static_cast<std::int32_t>(send.address % parts_)};
  }

  /// Where a chunk lies on a gpu.
  ChunkRun placeOf(const Chunk& chunk, std::int32_t rank) {
    const Address& address = *chunk.address;
    const auto part = static_cast<std::int32_t>(address.index * parts_ + chunk.part);
    if (programs_.collective != Collective::kAlltoall) {
      return {programs_.collective == Collective::kAllgather ? ChunkBuffer::kOutput
                                                             : ChunkBuffer::kInput,
              blockOf(address).first * per_block_ + part};
    }
    if (rank == address.ends) return {ChunkBuffer::kOutput, address.begins[0] * per_block_ + part};
    if (rank == address.begins[0]) return {ChunkBuffer::kInput, address.ends * per_block_ + part};
    return scratchOf(rank, {&address, chunk.part});
  }
  ChunkRun scratchOf(std::int32_t rank, const std::pair<const void*, std::int32_t>& what) {
    auto& of_rank = scratch_[static_cast<std::size_t>(rank)];
    const auto slot = static_cast<std::int32_t>(of_rank.size());
    return {ChunkBuffer::kScratch, of_rank.try_emplace(what, slot).first->second};
  }

  void run() {
    const auto ranks = static_cast<std::int32_t>(programs_.ranks.size());
    scratch_.resize(programs_.ranks.size());
    if (sums_) beginSums();
    if (json_.failed()) return;
    LinkSteps steps(programs_);
    if (programs_.collective == Collective::kAlltoall) {
      for (const auto& [number, address] : addresses_) {
        for (std::int32_t part = 0; address.begins[0] == address.ends && part < parts_; ++part) {
          const ChunkRun place = placeOf({&address, part}, address.ends);
          steps.work(static_cast<std::size_t>(address.ends), {ChunkBuffer::kInput, place.first},
                     place, false, line_, 0);
        }
      }
    }
    for (std::size_t begin = 0; begin < sends_.size();) {
      std::size_t end = begin;
      while (end < sends_.size() && sends_[end].step == sends_[begin].step)
        ++end;
      const llvm::ArrayRef<Send> sends = llvm::ArrayRef(sends_).slice(begin, end - begin);
      for (const Send& send : sends) {
        if (send.from >= ranks || send.to >= ranks) {
          return json_.refuse(send.line,
                              nameOf(send) + "there are " + llvm::Twine(ranks) + " gpus");
        }
        if (!chunkOf(send)) {
          return json_.refuse(send.line,
                              nameOf(send) + "there is no address " + llvm::Twine(send.address));
        }
        if (!hasLink(send))
          return json_.refuse(send.line, nameOf(send) + "the topology has no such link");
      }
      addStep(steps, sends);
      if (json_.failed()) return;
      if (steps.steps() > kMaxForeignSteps) {
        return json_.refuse(
            sends[0].line, "has more than " + llvm::Twine(kMaxForeignSteps) + " steps of all gpus");
      }
      begin = end;
    }
    for (std::size_t rank = 0; rank < programs_.ranks.size(); ++rank) {
      programs_.ranks[rank].chunks = {programs_.chunks, programs_.chunks,
                                      static_cast<std::int32_t>(scratch_[rank].size())};
    }
  }

  /// All that is sent is what was there before: what comes where something is sent waits in
  /// scratch.
  void addStep(LinkSteps& steps, llvm::ArrayRef<Send> sends) {
    std::set<std::pair<std::int32_t, std::int64_t>> sent;
    for (const Send& send : sends)
      sent.insert({send.from, send.address});
    struct Waiting {
      const Send* send;
      ChunkRun from, to;
      bool adds;
    };
    std::vector<Waiting> waiting;
    std::map<std::int32_t, std::int32_t> slots;  // used in this step
    std::vector<std::uint64_t> before;           // the sums that are sent
    for (const Send& send : sends) {
      const std::vector<std::uint64_t>& words = sumOf(send.from, send.address);
      before.insert(before.end(), words.begin(), words.end());
    }
    const std::size_t width = before.size() / sends.size();
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const Send& send = sends[i];
      const bool adds = sums_ && addSum(send, llvm::ArrayRef(before).slice(i * width, width));
      if (json_.failed()) return;
      const Chunk chunk = *chunkOf(send);
      const ChunkRun from = placeOf(chunk, send.from), to = placeOf(chunk, send.to);
      const auto source = static_cast<std::size_t>(send.from),
                 target = static_cast<std::size_t>(send.to);
      if (!sent.contains({send.to, send.address})) {
        steps.move(source, from, target, to, adds, send.line, send.step);
        continue;
      }
      const ChunkRun slot = scratchOf(send.to, {nullptr, slots[send.to]++});
      steps.move(source, from, target, slot, false, send.line, send.step);
      waiting.push_back({&send, slot, to, adds});
    }
    for (const Waiting& one : waiting)
      steps.work(static_cast<std::size_t>(one.send->to), one.from, one.to, one.adds, one.send->line,
                 one.send->step);
  }

  static std::string nameOf(const Send& send) {
    return "link " + std::to_string(send.from) + " to " + std::to_string(send.to) + " step " +
           std::to_string(send.step) + ": ";
  }

  // Whose contributions a gpu has at an address, a bit for each; its own where there is nothing.

  void beginSums() {
    const std::uint64_t ranks = programs_.ranks.size();
    const std::uint64_t all =
        ranks * ranks * addresses_.size() * static_cast<std::uint64_t>(parts_);
    if (all > kMostContributions) {
      json_.refuse(line_, "its sums have " + llvm::Twine(all) + " shares on all gpus; at most " +
                              llvm::Twine(kMostContributions) + " are imported");
    }
    sum_of_.resize(programs_.ranks.size());
  }
  const std::vector<std::uint64_t>& sumOf(std::int32_t rank, std::int64_t address) {
    static const std::vector<std::uint64_t> kNone;
    return sums_ ? sum(rank, address) : kNone;
  }
  std::vector<std::uint64_t>& sum(std::int32_t rank, std::int64_t address) {
    const auto own = static_cast<std::size_t>(rank);
    const auto [words, is_new] = sum_of_[own].try_emplace(address);
    if (is_new) {
      words->second.resize((programs_.ranks.size() + 63) / 64);
      words->second[own / 64] |= std::uint64_t{1} << (own % 64);
    }
    return words->second;
  }
  /// Whether what arrives is added; it replaces what is there otherwise.
  bool addSum(const Send& send, llvm::ArrayRef<std::uint64_t> arriving) {
    std::vector<std::uint64_t>& there = sum(send.to, send.address);
    bool is_apart = true, has_all = true;
    for (std::size_t i = 0; i < there.size(); ++i) {
      is_apart &= (there[i] & arriving[i]) == 0;
      has_all &= (there[i] & ~arriving[i]) == 0;
    }
    if (!is_apart && !has_all) {
      json_.refuse(send.line, nameOf(send) + "double sum: address " + llvm::Twine(send.address) +
                                  " on gpu " + llvm::Twine(send.to) +
                                  " has some of what arrives, and something else");
    }
    for (std::size_t i = 0; i < there.size(); ++i)
      there[i] |= arriving[i];
    return is_apart;
  }

  llvm::StringRef origin_;
  LocatedJsonReader json_;
  RankPrograms programs_;
  std::uint32_t line_ = 1, step_ = 0;
  std::vector<Send> sends_;
  const LocatedJson* links_ = nullptr;  // of the topology; null: it says nothing
  std::map<std::int64_t, Address> addresses_;
  std::int64_t parts_ = 1;      // of an address
  std::int32_t per_block_ = 1;  // chunks
  bool sums_ = false;
  /// Of each gpu: slots by what is in them, chunks on their way or the how manieth of a step.
  std::vector<std::map<std::pair<const void*, std::int32_t>, std::int32_t>> scratch_;
  std::vector<std::unordered_map<std::int64_t, std::vector<std::uint64_t>>> sum_of_;
};

}  // namespace

llvm::Expected<RankPrograms> readSccl(llvm::StringRef text, llvm::StringRef origin) {
  return ScclReader(origin).read(text);
}

}  // namespace torc::ir
