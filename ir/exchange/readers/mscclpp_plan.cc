// MSCCL++ plans: gpu by gpu, so that the values of only one are in memory.
#include "ir/exchange/readers/mscclpp_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSwitch.h>

#include "ir/exchange/readers/foreign_collective.h"
#include "ir/json/document.h"
#include "ir/json/located_json.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

constexpr std::int64_t kMostBlocks = 4096;  // of a gpu, and channels of a type, and barriers
constexpr std::uint32_t kMostShares = 4096;
constexpr std::size_t kMostOfList = std::numeric_limits<std::uint16_t>::max();

using Kind = PlanOpKind;
constexpr PlanOpRow kRows[] = {
    {"nop", Kind::kNothing},
    {"pipeline", Kind::kNothing},
    {"copy", Kind::kCopy},
    {"cpkt", Kind::kCopy, false, true},
    {"upkt", Kind::kCopy, true, false},
    {"re", Kind::kReduce},
    {"res", Kind::kReduce},
    {"repkt", Kind::kReduce, true, true},
    {"respkt", Kind::kReduce, true, true},
    {"recpkt", Kind::kReduce, true, true, true},
    {"recspkt", Kind::kReduce, true, true, true},
    {"put", Kind::kPut},
    {"pws", Kind::kPut, false, false, false, true},
    {"pwsf", Kind::kPut, false, false, false, true, true},
    {"ppkt", Kind::kPut, false, true},
    {"rppkt", Kind::kPut, true, true},
    {"get", Kind::kRead},
    {"rre", Kind::kReadReduce},
    {"rres", Kind::kReadReduce},
    {"signal", Kind::kSignal},
    {"rlxsignal", Kind::kSignal},
    {"wait", Kind::kWait},
    {"rlxwait", Kind::kWait},
    {"flush", Kind::kFlush},
    {"barrier", Kind::kBarrier},
    {"sem_acquire", Kind::kAcquire},
    {"sem_release", Kind::kRelease},
};

class PlanReader {
 public:
  explicit PlanReader(llvm::StringRef origin) : origin_(origin), json_(origin) {}

  llvm::Expected<MscclppPlan> read(llvm::StringRef text) {
    llvm::Expected<LocatedJson> root =
        parseLocatedJson(text, origin_, "gpus", [&](const auto& gpu) {
          readGpu(gpu);
          return !json_.failed();
        });
    if (json_.failed()) {
      if (!root) consumeError(root.takeError());
      return json_.takeError();
    }
    if (!root) return root.takeError();
    readHeader(*root);
    if (json_.failed()) return json_.takeError();
    return std::move(plan_);
  }

 private:
  struct Lists {  // of a thread block: into the gpu's
    std::array<std::vector<std::int32_t>, 2> channels, buffers;
  };

  void readHeader(const LocatedJson& root) {
    plan_.line = root.line;
    const llvm::StringRef collective = json_.text(root, "collective");
    const std::optional<Collective> known = foreignCollective(collective);
    if (!known) {
      return json_.refuse(
          root.line, "the collective is " + shownName(collective) + "; " + kForeignCollectives);
    }
    plan_.collective = *known;
    plan_.in_place = json_.boolean(root, "inplace");
    if (plan_.gpus.empty()) json_.refuse(root.line, "has no gpus");
    if (highest_ * plan_.shares > kMaxForeignChunks) {
      json_.refuse(root.line, "names chunk " + llvm::Twine(highest_ - 1) + ", in " +
                                  llvm::Twine(plan_.shares) +
                                  " shares each; buffers have at most " +
                                  llvm::Twine(kMaxForeignChunks));
    }
    if (touched_ * plan_.shares > kMaxForeignTouched) {
      json_.refuse(root.line, "its operations touch " + llvm::Twine(touched_ * plan_.shares) +
                                  " chunks, or shares of them; the limit is " +
                                  llvm::Twine(kMaxForeignTouched));
    }
  }

  std::optional<ChunkBuffer> bufferOf(llvm::StringRef name) {
    return llvm::StringSwitch<std::optional<ChunkBuffer>>(name)
        .Case("i", ChunkBuffer::kInput)
        .Case("o", ChunkBuffer::kOutput)
        .Case("s", ChunkBuffer::kScratch)
        .Default(std::nullopt);
  }
  ChunkBuffer bufferIn(const LocatedJson& object) {
    const llvm::StringRef name = json_.text(object, "type");
    const std::optional<ChunkBuffer> buffer = bufferOf(name);
    if (!buffer) json_.refuse(object.line, "type is " + shownName(name) + "; allowed: i, o, s");
    return buffer.value_or(ChunkBuffer::kInput);
  }
  /// Nothing: of a switch.
  std::optional<PlanChannel> channelIn(const LocatedJson& object, llvm::StringRef key) {
    const llvm::StringRef name = json_.text(object, key);
    if (name == "memory") return PlanChannel::kMemory;
    if (name == "port") return PlanChannel::kPort;
    if (name != "switch") {
      json_.refuse(object.line, key + " is " + shownName(name) + "; allowed: memory, port, switch");
    }
    return std::nullopt;
  }
  static std::size_t indexOf(PlanChannel channel) { return static_cast<std::size_t>(channel); }

  void readGpu(const LocatedJson& value) {
    const auto rank = static_cast<std::int64_t>(plan_.gpus.size());
    if (rank == kMaxForeignRanks) {
      return json_.refuse(value.line, "has more than " + llvm::Twine(kMaxForeignRanks) + " gpus");
    }
    json_.number(value, "id", rank, rank);
    PlanGpu gpu;
    gpu.chunks = {count(value, "input_chunks"), count(value, "output_chunks"),
                  count(value, "scratch_chunks")};
    for (const LocatedJson& channel : json_.elementsIfAny(value, "channels")) {
      const std::optional<PlanChannel> type = channelIn(channel, "channel_type");
      if (!type) continue;
      for (const LocatedJson& peer : json_.elements(channel, "connected_to"))
        gpu.peers[indexOf(*type)].push_back(
            static_cast<std::int32_t>(json_.numberOf(peer, "a peer", 0, kMaxForeignRanks - 1)));
    }
    for (const std::vector<std::int32_t>& peers : gpu.peers) {
      if (peers.size() <= static_cast<std::size_t>(kMostBlocks)) continue;
      return json_.refuse(value.line,
                          "has more than " + llvm::Twine(kMostBlocks) + " channels of a type");
    }
    for (const LocatedJson& buffer : json_.elementsIfAny(value, "remote_buffers")) {
      gpu.remote_buffers.push_back(
          {static_cast<std::int32_t>(json_.number(buffer, "rank", 0, kMaxForeignRanks - 1)),
           bufferIn(buffer)});
    }
    for (const LocatedJson& semaphore : json_.elementsIfAny(value, "semaphores"))
      gpu.semaphores.push_back(count(semaphore, "init_value"));
    const LocatedJson::Elements& blocks = json_.elements(value, "threadblocks");
    if (blocks.size() > static_cast<std::size_t>(kMostBlocks)) {
      return json_.refuse(value.line,
                          "has more than " + llvm::Twine(kMostBlocks) + " thread blocks");
    }
    for (const LocatedJson& block : blocks) {
      if (json_.failed()) return;
      readBlock(gpu, block);
    }
    plan_.gpus.push_back(std::move(gpu));
  }

  std::int32_t count(const LocatedJson& object, llvm::StringRef key) {
    return static_cast<std::int32_t>(json_.number(object, key, 0, kMaxForeignChunks));
  }

  void readBlock(PlanGpu& gpu, const LocatedJson& value) {
    const auto number = static_cast<std::int64_t>(gpu.blocks.size());
    json_.number(value, "id", number, number);
    Lists lists;
    const auto readIds = [&](const LocatedJson& from, llvm::StringRef type_key,
                             llvm::StringRef ids_key, auto& ids, const auto& sizeOf) {
      const std::optional<PlanChannel> type = channelIn(from, type_key);
      for (const LocatedJson& id : json_.elements(from, ids_key)) {
        if (!type) continue;
        ids[indexOf(*type)].push_back(static_cast<std::int32_t>(
            json_.numberOf(id, "an id", 0, static_cast<std::int64_t>(sizeOf(*type)) - 1)));
      }
    };
    for (const LocatedJson& channels : json_.elementsIfAny(value, "channels"))
      readIds(channels, "channel_type", "channel_ids", lists.channels,
              [&](PlanChannel type) { return gpu.peers[indexOf(type)].size(); });
    for (const LocatedJson& buffers : json_.elementsIfAny(value, "remote_buffer_refs"))
      readIds(buffers, "access_channel_type", "remote_buffer_ids", lists.buffers,
              [&](PlanChannel) { return gpu.remote_buffers.size(); });
    PlanGpu::Block block;
    block.line = value.line;
    std::uint32_t index = 0;
    for (const LocatedJson& op : json_.elements(value, "ops")) {
      readOp(gpu, lists, block, op, index);
      // Once: as for chunks of no more bytes than its unit.
      for (const LocatedJson& inner : json_.elementsIfAny(op, "ops"))
        readOp(gpu, lists, block, inner, index);
      if (json_.failed()) return;
      ++index;
    }
    gpu.blocks.push_back(std::move(block));
  }

  void readOp(PlanGpu& gpu, const Lists& lists, PlanGpu::Block& block, const LocatedJson& value,
              std::uint32_t index) {
    const llvm::StringRef name = json_.text(value, "name");
    if (json_.failed()) return;
    where_ = "gpu " + std::to_string(plan_.gpus.size()) + " tb " +
             std::to_string(gpu.blocks.size()) + " step " + std::to_string(index) + ": ";
    const auto* const row = llvm::find_if(kRows, [&](const auto& of) { return of.name == name; });
    if (row == std::end(kRows)) {
      const bool is_switch = llvm::is_contained({"glres", "glre", "gstore", "gstorepkt"}, name);
      return refuse(value, is_switch ? "'" + name + "' is done by a switch, which has no messages"
                                     : "there is no operation " + shownName(name));
    }
    if (row->kind == Kind::kNothing) return;
    if (++ops_ > kMaxForeignSteps) {
      return refuse(value, "more than " + llvm::Twine(kMaxForeignSteps) + " operations");
    }
    PlanOp op;
    op.row = row;
    op.line = value.line;
    op.number = index;
    if (value.find("channel_type") != nullptr) {
      const std::optional<PlanChannel> type = channelIn(value, "channel_type");
      if (!type && !json_.failed())
        refuse(value, "'" + name + "' is on a switch channel, which has no messages");
      op.channel = type.value_or(PlanChannel::kMemory);
    }
    if (json_.failed()) return;
    if (const LocatedJson* const group = value.find("tbg_info"); group != nullptr) {
      op.shares = static_cast<std::uint16_t>(json_.number(*group, "tbg_size", 1, kMostShares));
      op.share = static_cast<std::uint16_t>(json_.number(*group, "tb_id", 0, op.shares - 1));
      plan_.shares = std::lcm(plan_.shares, op.shares);
      if (plan_.shares > kMostShares) refuse(value, "chunks are cut into too many shares");
    }
    if (value.find("reduce_op") != nullptr) {
      const llvm::StringRef reduction = json_.text(value, "reduce_op");
      if (reduction_.empty()) reduction_ = reduction.str();
      if (reduction != reduction_)
        refuse(value,
               "reduces by " + shownName(reduction) + ", and others by " + shownName(reduction_));
    }
    readIds(gpu, lists, value, op);
    op.first_chunks = static_cast<std::uint32_t>(gpu.chunk_list.size());
    op.sources = readChunks(gpu, lists, value, "src_buff", op);
    op.targets = readChunks(gpu, lists, value, "dst_buff", op);
    if (!json_.failed()) check(gpu, value, op);
    block.ops.push_back(op);
  }

  void readIds(PlanGpu& gpu, const Lists& lists, const LocatedJson& value, PlanOp& op) {
    op.first_id = static_cast<std::uint32_t>(gpu.ids.size());
    const auto add = [&](std::int64_t id) {
      gpu.ids.push_back(static_cast<std::int32_t>(id));
      ++op.ids;
    };
    if (op.row->kind == Kind::kBarrier) {
      add(json_.number(value, "barrier_id", 0, kMostBlocks - 1));
      add(json_.number(value, "num_threadblocks", 1, kMostBlocks));
      return;
    }
    const bool is_semaphore = op.row->kind == Kind::kAcquire || op.row->kind == Kind::kRelease;
    const std::vector<std::int32_t>& channels = lists.channels[indexOf(op.channel)];
    const std::size_t known = is_semaphore ? gpu.semaphores.size() : channels.size();
    const LocatedJson::Elements& ids =
        json_.elementsIfAny(value, is_semaphore ? "semaphore_ids" : "channel_ids");
    if (ids.size() > kMostOfList) return refuse(value, "too many ids");
    for (const LocatedJson& id : ids) {
      const std::int64_t index =
          json_.numberOf(id, where_ + "an id", 0, static_cast<std::int64_t>(known) - 1);
      if (json_.failed()) return;
      add(is_semaphore ? index : channels[static_cast<std::size_t>(index)]);
    }
  }

  std::uint16_t readChunks(PlanGpu& gpu, const Lists& lists, const LocatedJson& value,
                           llvm::StringRef key, const PlanOp& op) {
    const LocatedJson::Elements& all = json_.elementsIfAny(value, key);
    if (all.size() > kMostOfList) refuse(value, "too many chunks");
    for (const LocatedJson& one : all) {
      if (json_.failed()) return 0;
      PlanChunks chunks;
      if (one.find("buffer_id") != nullptr) {
        const std::vector<std::int32_t>& buffers = lists.buffers[indexOf(op.channel)];
        const std::int64_t id =
            json_.number(one, "buffer_id", 0, static_cast<std::int64_t>(buffers.size()) - 1);
        if (json_.failed()) return 0;
        chunks.remote = buffers[static_cast<std::size_t>(id)];
        chunks.buffer = gpu.remote_buffers[static_cast<std::size_t>(chunks.remote)].buffer;
      } else {
        chunks.buffer = bufferIn(one);
      }
      chunks.first = count(one, "index");
      chunks.count = static_cast<std::int32_t>(json_.number(one, "size", 1, kMaxForeignChunks));
      gpu.chunk_list.push_back(chunks);
      touched_ += static_cast<std::uint64_t>(chunks.count);
      highest_ = std::max(highest_, std::int64_t{chunks.first} + chunks.count);
    }
    return static_cast<std::uint16_t>(all.size());
  }

  /// Whether an operation has what its kind needs, so that nobody has to look again.
  void check(const PlanGpu& gpu, const LocatedJson& value, const PlanOp& op) {
    const llvm::ArrayRef<PlanChunks> sources = gpu.sourcesOf(op), targets = gpu.targetsOf(op);
    const auto isRemote = [](const PlanChunks& chunks) { return chunks.remote >= 0; };
    const auto areRemote = [&](llvm::ArrayRef<PlanChunks> all, std::size_t local) {
      return all.size() >= local && llvm::none_of(all.take_front(local), isRemote) &&
             llvm::all_of(all.drop_front(local), isRemote);
    };
    const bool is_one_source = op.row->kind == Kind::kPut && op.row->packets_read;  // rppkt
    bool fits = true;
    switch (op.row->kind) {
      case Kind::kCopy:
        fits = areRemote(sources, sources.size()) && areRemote(targets, targets.size());
        break;
      case Kind::kPut:
        fits = areRemote(sources, sources.size()) && areRemote(targets, 0) &&
               (op.channel == PlanChannel::kMemory || op.ids == targets.size());
        break;
      case Kind::kRead:
        fits = areRemote(sources, 0) && areRemote(targets, targets.size()) &&
               op.channel == PlanChannel::kMemory;
        break;
      case Kind::kReduce:
        fits = areRemote(sources, sources.size()) && !sources.empty() &&
               areRemote(targets, op.row->copies_packets ? 2 : 1) && !op.row->signals;
        break;
      case Kind::kReadReduce:
        fits = areRemote(sources, 1) && areRemote(targets, 1);
        break;
      case Kind::kBarrier:
        break;
      default:
        fits = op.ids > 0;
    }
    const bool is_paired =
        op.row->kind == Kind::kCopy || op.row->kind == Kind::kPut || op.row->kind == Kind::kRead;
    if (is_paired) fits &= is_one_source ? sources.size() == 1 : sources.size() == targets.size();
    const bool is_reduction = op.row->kind == Kind::kReduce || op.row->kind == Kind::kReadReduce;
    if (is_reduction && op.channel == PlanChannel::kPort)
      fits &= llvm::none_of(sources, isRemote) && llvm::none_of(targets, isRemote);
    if (!fits) {
      return refuse(value, "'" + op.row->name +
                               "' has not the sources, targets and channels that "
                               "it needs");
    }
    for (std::size_t i = 0; i < sources.size() + targets.size(); ++i) {
      const bool is_source = i < sources.size();
      const std::int32_t count = is_source ? sources[i].count : targets[i - sources.size()].count;
      const std::int32_t other =
          sources[is_paired && !is_one_source ? i % sources.size() : 0].count;
      if (count != other) {
        return refuse(value, "its sources and targets are of " + llvm::Twine(other) + " and " +
                                 llvm::Twine(count) + " chunks");
      }
    }
  }

  void refuse(const LocatedJson& at, const llvm::Twine& what) {
    json_.refuse(at.line, where_ + what);
  }

  llvm::StringRef origin_;
  LocatedJsonReader json_;
  MscclppPlan plan_;
  std::string where_;                    // the operation that is read
  std::string reduction_;                // of all of them
  std::uint64_t ops_ = 0, touched_ = 0;  // chunks of all operations
  std::int64_t highest_ = 0;             // behind the last chunk that any names
};

}  // namespace

llvm::Expected<MscclppPlan> readMscclppPlan(llvm::StringRef text, llvm::StringRef origin) {
  return PlanReader(origin).read(text);
}

}  // namespace torc::ir
