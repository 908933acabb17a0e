// MSCCL++ plans, read gpu by gpu, so that the values of only one are in memory.
#include "ir/exchange/readers/mscclpp_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/exchange/readers/readers.h"
#include "ir/json/document.h"
#include "ir/json/located_json.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

constexpr std::int32_t kMostBlocks = 4096;  // of a gpu, and channels of a type, and barriers
constexpr std::int32_t kMostShares = 4096;
constexpr std::size_t kMostOfList = std::numeric_limits<std::uint16_t>::max();

using Kind = PlanOpKind;
constexpr std::size_t kAll = PlanOpRow::kAll;
constexpr PlanOpRow kRows[] = {
    {"nop", Kind::kNothing},
    {"pipeline", Kind::kNothing},
    {"copy", Kind::kCopy},
    {"cpkt", Kind::kCopy, kAll, kAll, false, true},
    {"upkt", Kind::kCopy, kAll, kAll, true, false},
    {"re", Kind::kReduce, kAll, 1},
    {"res", Kind::kReduce, kAll, 1},
    {"repkt", Kind::kReduce, kAll, 1, true, true},
    {"respkt", Kind::kReduce, kAll, 1, true, true},
    {"recpkt", Kind::kReduce, kAll, 2, true, true},
    {"recspkt", Kind::kReduce, kAll, 2, true, true},
    {"put", Kind::kPut, kAll, 0},
    {"pws", Kind::kPut, kAll, 0, false, false, true},
    {"pwsf", Kind::kPut, kAll, 0, false, false, true, true},
    {"ppkt", Kind::kPut, kAll, 0, false, true},
    {"rppkt", Kind::kPut, kAll, 0, true, true},
    {"get", Kind::kRead, 0, kAll},
    {"rre", Kind::kReadReduce, 1, 1},
    {"rres", Kind::kReadReduce, 1, 1},
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
    takeShares();
    return std::move(plan_);
  }

 private:
  struct Lists {  // in a thread block: indices into the gpu's lists
    std::array<std::vector<std::int32_t>, 2> channels, buffers;
  };

  void readHeader(const LocatedJson& root) {
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
    const std::uint64_t touched = touched_ * static_cast<std::uint64_t>(plan_.shares);
    if (touched > kMaxForeignTouched) {
      json_.refuse(root.line, "its operations touch " + llvm::Twine(touched) +
                                  " chunks, or shares of them; the limit is " +
                                  llvm::Twine(kMaxForeignTouched));
    }
  }

  /// Divides all chunks into the shares that operations name.
  void takeShares() {
    for (PlanGpu& gpu : plan_.gpus) {
      for (PlanGpu::Block& block : gpu.blocks) {
        for (PlanOp& op : block.ops) {
          for (std::vector<PlanChunks>* list : {&op.sources, &op.targets}) {
            for (PlanChunks& chunks : *list) {
              chunks.count *= plan_.shares / op.shares;
              chunks.first = chunks.first * plan_.shares + op.share * chunks.count;
            }
          }
        }
      }
    }
  }

  ChunkBuffer bufferIn(const LocatedJson& object) {
    const llvm::StringRef name = json_.text(object, "type");
    const std::optional<ChunkBuffer> buffer = foreignBuffer(name);
    if (!buffer) json_.refuse(object.line, "type is " + shownName(name) + "; allowed: i, o, s");
    return buffer.value_or(ChunkBuffer::kInput);
  }
  /// 0: memory, 1: a port; nothing: a switch.
  std::optional<std::size_t> channelIn(const LocatedJson& object, llvm::StringRef key) {
    const llvm::StringRef name = json_.text(object, key);
    if (name == "memory" || name == "port") return name == "port" ? 1 : 0;
    if (name != "switch") {
      json_.refuse(object.line, key + " is " + shownName(name) + "; allowed: memory, port, switch");
    }
    return std::nullopt;
  }

  void readGpu(const LocatedJson& value) {
    const auto rank = static_cast<std::int32_t>(plan_.gpus.size());
    const auto refuseMore = [&](std::size_t count, std::int32_t most, llvm::StringRef what) {
      if (count > static_cast<std::size_t>(most))
        json_.refuse(value.line, "has more than " + llvm::Twine(most) + " " + what);
    };
    refuseMore(plan_.gpus.size() + 1, kMaxForeignRanks, "gpus");
    json_.number(value, "id", rank, rank);
    PlanGpu gpu;
    gpu.chunks = {count(value, "input_chunks"), count(value, "output_chunks"),
                  count(value, "scratch_chunks")};
    std::array<std::map<std::int32_t, std::int32_t>, 2> numbers;
    for (const LocatedJson& channel : json_.elementsIfAny(value, "channels")) {
      const std::optional<std::size_t> type = channelIn(channel, "channel_type");
      if (!type) continue;
      for (const LocatedJson& one : json_.elements(channel, "connected_to")) {
        const std::int32_t peer = json_.numberOf(one, "a peer", 0, kMaxForeignRanks - 1);
        gpu.channels[*type].push_back({peer, numbers[*type][peer]++});
      }
    }
    for (const std::vector<PlanGpu::Channel>& channels : gpu.channels)
      refuseMore(channels.size(), kMostBlocks, "channels of a type");
    for (const LocatedJson& buffer : json_.elementsIfAny(value, "remote_buffers")) {
      gpu.remote_buffers.push_back(
          {json_.number(buffer, "rank", 0, kMaxForeignRanks - 1), bufferIn(buffer)});
    }
    for (const LocatedJson& semaphore : json_.elementsIfAny(value, "semaphores"))
      gpu.semaphores.push_back(count(semaphore, "init_value"));
    const LocatedJson::Elements& blocks = json_.elements(value, "threadblocks");
    refuseMore(blocks.size(), kMostBlocks, "thread blocks");
    for (const LocatedJson& block : blocks) {
      if (json_.failed()) return;
      readBlock(gpu, block);
    }
    plan_.gpus.push_back(std::move(gpu));
  }

  std::int32_t count(const LocatedJson& object, llvm::StringRef key) {
    return json_.number(object, key, 0, kMaxForeignChunks);
  }
  std::int32_t indexOf(const LocatedJson& value, const llvm::Twine& what, std::size_t size) {
    return json_.numberOf(value, what, 0, static_cast<std::int32_t>(size) - 1);
  }

  void readBlock(PlanGpu& gpu, const LocatedJson& value) {
    const auto number = static_cast<std::int32_t>(gpu.blocks.size());
    json_.number(value, "id", number, number);
    Lists lists;
    for (const LocatedJson& from : json_.elementsIfAny(value, "channels")) {
      const std::optional<std::size_t> type = channelIn(from, "channel_type");
      for (const LocatedJson& id : json_.elements(from, "channel_ids"))
        if (type) lists.channels[*type].push_back(indexOf(id, "an id", gpu.channels[*type].size()));
    }
    for (const LocatedJson& from : json_.elementsIfAny(value, "remote_buffer_refs")) {
      const std::optional<std::size_t> type = channelIn(from, "access_channel_type");
      for (const LocatedJson& id : json_.elements(from, "remote_buffer_ids"))
        if (type) lists.buffers[*type].push_back(indexOf(id, "an id", gpu.remote_buffers.size()));
    }
    PlanGpu::Block block;
    block.line = value.line;
    std::uint32_t index = 0;
    for (const LocatedJson& op : json_.elements(value, "ops")) {
      where_ = "gpu " + std::to_string(plan_.gpus.size()) + " tb " + std::to_string(number) +
               " step " + std::to_string(index) + ": ";
      readOp(gpu, lists, block, op, index);
      // Once: as for chunks of at most the pipeline's unit.
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
    const auto* const row = llvm::find_if(kRows, [&](const auto& of) { return of.name == name; });
    if (row == std::end(kRows)) {
      const bool is_switch = llvm::is_contained({"glres", "glre", "gstore", "gstorepkt"}, name);
      return refuse(value, is_switch ? "'" + name + "' is done by a switch, which has no messages"
                                     : "there is no operation " + shownName(name));
    }
    if (row->kind == Kind::kNothing) return;
    if (++ops_ > kMaxForeignSteps)
      return refuse(value, "more than " + llvm::Twine(kMaxForeignSteps) + " operations");
    PlanOp op;
    op.row = row;
    op.line = value.line;
    op.number = index;
    std::optional<std::size_t> type = 0;
    if (value.find("channel_type") != nullptr) {
      type = channelIn(value, "channel_type");
      if (!type) refuse(value, "'" + name + "' is on a switch channel, which has no messages");
    }
    if (json_.failed()) return;
    op.by_port = *type == 1;
    if (const LocatedJson* const group = value.find("tbg_info"); group != nullptr) {
      op.shares = json_.number(*group, "tbg_size", 1, kMostShares);
      op.share = json_.number(*group, "tb_id", 0, op.shares - 1);
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
    readIds(gpu, lists.channels[*type], value, op);
    readChunks(gpu, lists.buffers[*type], value, "src_buff", op.sources);
    readChunks(gpu, lists.buffers[*type], value, "dst_buff", op.targets);
    if (!json_.failed()) check(value, op);
    block.ops.push_back(std::move(op));
  }

  const LocatedJson::Elements& listIn(const LocatedJson& value, llvm::StringRef key,
                                      llvm::StringRef what) {
    const LocatedJson::Elements& all = json_.elementsIfAny(value, key);
    if (all.size() > kMostOfList) refuse(value, "too many " + what);
    return all;
  }

  void readIds(const PlanGpu& gpu, llvm::ArrayRef<std::int32_t> channels, const LocatedJson& value,
               PlanOp& op) {
    if (op.row->kind == Kind::kBarrier) {
      op.ids = {json_.number(value, "barrier_id", 0, kMostBlocks - 1),
                json_.number(value, "num_threadblocks", 1, kMostBlocks)};
      return;
    }
    const bool is_semaphore = op.row->kind == Kind::kAcquire || op.row->kind == Kind::kRelease;
    const std::size_t known = is_semaphore ? gpu.semaphores.size() : channels.size();
    for (const LocatedJson& id :
         listIn(value, is_semaphore ? "semaphore_ids" : "channel_ids", "ids")) {
      const std::int32_t index = indexOf(id, where_ + "an id", known);
      if (json_.failed()) return;
      op.ids.push_back(is_semaphore ? index : channels[static_cast<std::size_t>(index)]);
    }
  }

  void readChunks(const PlanGpu& gpu, llvm::ArrayRef<std::int32_t> buffers,
                  const LocatedJson& value, llvm::StringRef key, std::vector<PlanChunks>& list) {
    for (const LocatedJson& one : listIn(value, key, "chunks")) {
      if (json_.failed()) return;
      PlanChunks chunks;
      if (const LocatedJson* const id = one.find("buffer_id"); id != nullptr) {
        const std::int32_t index = indexOf(*id, "'buffer_id'", buffers.size());
        if (json_.failed()) return;
        chunks =
            gpu.remote_buffers[static_cast<std::size_t>(buffers[static_cast<std::size_t>(index)])];
      } else {
        chunks.buffer = bufferIn(one);
      }
      chunks.first = count(one, "index");
      chunks.count = json_.number(one, "size", 1, kMaxForeignChunks);
      list.push_back(chunks);
      touched_ += static_cast<std::uint64_t>(chunks.count);
      highest_ = std::max(highest_, std::int64_t{chunks.first} + chunks.count);
    }
  }

  /// Checks the operands that the operation's kind needs, for all later uses.
  void check(const LocatedJson& value, const PlanOp& op) {
    const PlanOpRow& row = *op.row;
    const auto lie = [](const std::vector<PlanChunks>& list, std::size_t own) {
      const auto is_own = [](const PlanChunks& chunks) { return chunks.rank < 0; };
      const auto first_remote = llvm::find_if_not(list, is_own);
      const auto count = static_cast<std::size_t>(first_remote - list.begin());
      return (own == kAll ? count == list.size() : count == own) &&
             std::none_of(first_remote, list.end(), is_own);
    };
    const bool is_one_source = row.kind == Kind::kPut && row.packets_read;  // rppkt
    const bool is_paired = row.isPaired() && !is_one_source;
    bool fits = row.kind == Kind::kBarrier || !op.ids.empty();
    if (row.isPaired() || row.isReduction())
      fits = lie(op.sources, row.own_sources) && lie(op.targets, row.own_targets);
    if (is_paired) fits &= op.sources.size() == op.targets.size();
    if (is_one_source) fits &= op.sources.size() == 1;
    if (row.isReduction()) fits &= !op.sources.empty();
    if (op.by_port && row.kind == Kind::kPut) fits &= op.ids.size() == op.targets.size();
    if (op.by_port && row.kind == Kind::kRead) fits = false;
    if (op.by_port && row.isReduction()) fits &= lie(op.sources, kAll) && lie(op.targets, kAll);
    if (!fits) {
      return refuse(value, "'" + row.name +
                               "' has not the sources, targets and channels that "
                               "it needs");
    }
    std::vector<PlanChunks> all = op.sources;
    all.insert(all.end(), op.targets.begin(), op.targets.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int32_t other = all[is_paired ? i % op.sources.size() : 0].count;
      if (all[i].count != other) {
        return refuse(value, "its sources and targets are of " + llvm::Twine(other) + " and " +
                                 llvm::Twine(all[i].count) + " chunks");
      }
    }
  }

  void refuse(const LocatedJson& at, const llvm::Twine& what) {
    json_.refuse(at.line, where_ + what);
  }

  llvm::StringRef origin_;
  LocatedJsonReader json_;
  MscclppPlan plan_;
  std::string where_;                    // the current operation
  std::string reduction_;                // of all of them
  std::uint64_t ops_ = 0, touched_ = 0;  // chunks of all operations
  std::int64_t highest_ = 0;             // one past the last chunk of all operations
};

}  // namespace

llvm::Expected<MscclppPlan> readMscclppPlan(llvm::StringRef text, llvm::StringRef origin) {
  return PlanReader(origin).read(text);
}

}  // namespace torc::ir
