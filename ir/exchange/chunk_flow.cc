// Chunk flow: the program is gone through step by step with the numbers of chunks in its cells.
#include "ir/exchange/chunk_flow.h"

#include <algorithm>
#include <utility>

#include "ir/make_error.h"

namespace torc::ir {
namespace {

// A frame that is to be made for the operation.
constexpr FlowPlace kNewFrame{Buffer::kScratch, ~std::uint32_t{0}};
constexpr FlowPlace kIn{Buffer::kIn, 0}, kOut{Buffer::kOut, 0};

}  // namespace

llvm::Expected<ChunkFlow> ChunkFlow::of(const RankPrograms& programs, const ProgramOrder& order,
                                        const ChunkCells& cells) {
  ChunkFlow flow(programs, order, cells);
  flow.operations_.resize(programs.ranks.size());
  flow.frames_.resize(programs.ranks.size());
  flow.also_before_.resize(programs.ranks.size());
  flow.may_alias_ = !programs.in_place && rowOf(programs.collective).inPlaceAliases();
  flow.readers_of_in_.resize(programs.ranks.size());
  flow.reads_left_.resize(programs.ranks.size());
  flow.fillInputs();
  if (flow.may_alias_) {
    if (llvm::Error error = flow.countReads()) return error;
  }
  for (const StepId step : order.order()) {
    if (llvm::Error error = flow.run(step)) return error;
  }
  for (std::size_t rank = 0; rank < programs.ranks.size(); ++rank) {
    if (llvm::Error error = flow.checkResults(rank)) return error;
  }
  return flow;
}

void ChunkFlow::fillInputs() {
  values_.resize(programs_.ranks.size());
  for (std::size_t rank = 0; rank < values_.size(); ++rank) {
    values_[rank].resize(cells_.count(rank));
    for (std::uint32_t cell = 0; cell < values_[rank].size(); ++cell) {
      const ChunkNumber chunk = cells_.inputOf(rank, cell);
      if (chunk != kNoChunk) values_[rank][cell] = {chunk, kIn, kNoStep};
    }
  }
}

llvm::Error ChunkFlow::countReads() {
  for (const StepId step : order_.order()) {
    Accesses actions[2];
    if (llvm::Error error = findAccesses(order_, cells_, step, actions)) return error;
    const std::size_t rank = order_.rankOf(step);
    for (const Accesses& action : actions) {
      for (std::int32_t i = 0; action.reads != Accesses::kNone && i < order_.step(step).count;
           ++i) {
        const ChunkNumber chunk =
            cells_.inputOf(rank, action.reads + static_cast<std::uint32_t>(i));
        if (chunk != kNoChunk) ++reads_left_[rank][chunk];
      }
    }
  }
  return llvm::Error::success();
}

/// A step's reads are done.
void ChunkFlow::countDown(StepId step, const Accesses (&actions)[2]) {
  const std::size_t rank = order_.rankOf(step);
  for (const Accesses& action : actions) {
    for (std::int32_t i = 0; action.reads != Accesses::kNone && i < order_.step(step).count; ++i) {
      const ChunkNumber chunk = cells_.inputOf(rank, action.reads + static_cast<std::uint32_t>(i));
      if (chunk != kNoChunk && --reads_left_[rank][chunk] == 0) reads_left_[rank].erase(chunk);
    }
  }
}

llvm::Error ChunkFlow::run(StepId id) {
  Accesses actions[2];
  if (llvm::Error error = findAccesses(order_, cells_, id, actions)) return error;
  if (may_alias_) countDown(id, actions);
  const RankStep& step = order_.step(id);
  if (hasReduction(step.kind) && !rowOf(programs_.collective).reduces()) {
    return makeError(order_.at(id) + "reduces, in an " +
                     llvm::StringRef(rowOf(programs_.collective).name));
  }
  if (hasReceive(step.kind)) {
    if (llvm::Error error = receive(id, actions[0])) return error;
  } else if (step.kind == StepKind::kCopy || step.kind == StepKind::kReduce) {
    if (llvm::Error error = work(id, actions[0])) return error;
  }
  // What rrs sends has been noted with what it received.
  if (!hasSend(step.kind) || step.kind == StepKind::kReceiveReduceSend) {
    return llvm::Error::success();
  }
  return send(id, actions[1].reads);
}

llvm::Error ChunkFlow::checkReads(StepId id, std::uint32_t first) const {
  const std::vector<Value>& values = values_[order_.rankOf(id)];
  for (std::uint32_t cell = first; cell < first + static_cast<std::uint32_t>(order_.step(id).count);
       ++cell) {
    if (values[cell].chunk == kNoChunk) {
      return makeError(order_.at(id) + "reads " + cells_.nameOf(cell) + ", which holds nothing");
    }
  }
  return llvm::Error::success();
}

void ChunkFlow::noteRead(ActionId action, const Value& value) {
  if (may_alias_ && value.place == kIn) {
    readers_of_in_[order_.rankOf(action / 2)][value.chunk].push_back(action);
  }
}

void ChunkFlow::noteWrite(ActionId action, ChunkNumber chunk) {
  if (!may_alias_) return;
  const std::size_t rank = order_.rankOf(action / 2);
  // Who writes it again waits for who has written it.
  const auto readers = readers_of_in_[rank].find(chunk);
  if (readers == readers_of_in_[rank].end()) return;
  for (const ActionId reader : readers->second) {
    if (reader != action) also_before_[rank].push_back({action, reader});
  }
  readers_of_in_[rank].erase(readers);
}

/// Where a chunk that is written to a cell goes: to `out`, if it is the one that belongs there.
FlowPlace ChunkFlow::placeFor(std::size_t rank, std::uint32_t cell, ChunkNumber chunk) const {
  return cells_.resultOf(rank, cell) == chunk && !reads_left_[rank].contains(chunk) ? kOut
                                                                                    : kNewFrame;
}

void ChunkFlow::add(std::size_t rank, FlowOperation operation, llvm::ArrayRef<ChunkNumber> chunks) {
  operation.first_chunk = chunks_.size();
  operation.chunks = static_cast<std::uint32_t>(chunks.size());
  chunks_.insert(chunks_.end(), chunks.begin(), chunks.end());
  operations_[rank].push_back(operation);
}

llvm::Error ChunkFlow::send(StepId id, std::uint32_t cell) {
  if (llvm::Error error = checkReads(id, cell)) return error;
  const std::vector<Value>& values = values_[order_.rankOf(id)];
  const auto first = values.begin() + cell;
  sent_[id].assign(first, first + order_.step(id).count);
  for (const Value& value : sent_[id])
    noteRead(2 * id + 1, value);
  return llvm::Error::success();
}

/// Both ends of a message, in as many parts as its chunks lie in different places at either.
llvm::Error ChunkFlow::receive(StepId id, const Accesses& accesses) {
  const RankStep& step = order_.step(id);
  const std::size_t rank = order_.rankOf(id);
  std::vector<Value>& values = values_[rank];
  const StepId sender = order_.senderOf(id);
  const std::vector<Value> message = std::move(sent_[sender]);
  sent_.erase(sender);
  const bool reduces = hasReduction(step.kind);
  if (reduces) {
    if (llvm::Error error = checkReads(id, accesses.reads)) return error;
  }
  std::vector<Sites> sites(message.size());
  std::vector<ChunkNumber> chunks(message.size());
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    Sites& site = sites[i];
    const ChunkNumber chunk = chunks[i] = message[i].chunk;
    site.sent = message[i].place;
    if (reduces) {
      const Value& own = values[accesses.reads + i];
      if (own.chunk != chunk) {
        return makeError(order_.at(id) + "adds " + cells_.textOf(chunk) + ", which " +
                         order_.name(sender) + " sends, to " + cells_.textOf(own.chunk) + " in " +
                         cells_.nameOf(accesses.reads + i));
      }
      noteRead(2 * id, own);
      site.a = own.place;
      site.b = kNewFrame;
    }
    site.dst = kNewFrame;
    if (accesses.writes != Accesses::kNone) {
      site.dst = placeFor(rank, accesses.writes + i, chunk);
      // A sum that grows in scratch stays where it is.
      if (reduces && accesses.writes == accesses.reads && site.dst == kNewFrame &&
          site.a.buffer == Buffer::kScratch) {
        site.dst = site.a;
      }
    }
    if (site.dst == kOut) noteWrite(2 * id, chunk);
  }
  const std::size_t from = order_.rankOf(sender);
  const std::int32_t channel = order_.block(id).channel;
  std::vector<Value> held(message.size());
  for (std::uint32_t begin = 0, part = 0; begin < message.size(); ++part) {
    std::uint32_t end = begin + 1;
    while (end < message.size() && sites[end] == sites[begin])
      ++end;
    Sites site = sites[begin];
    for (FlowPlace* place : {&site.dst, &site.b}) {
      if (*place == kNewFrame) place->frame = frames_[rank]++;
    }
    const llvm::ArrayRef<ChunkNumber> some = llvm::ArrayRef(chunks).slice(begin, end - begin);
    FlowOperation operation;
    operation.channel = channel;
    operation.part = part;
    operation.kind = OperationKind::kSend;
    operation.peer = static_cast<std::int32_t>(rank);
    operation.action = 2 * sender + 1;
    operation.a = site.sent;
    add(from, operation, some);
    operation.kind = reduces ? OperationKind::kRecvReduce : OperationKind::kRecv;
    operation.peer = static_cast<std::int32_t>(from);
    operation.action = 2 * id;
    operation.dst = site.dst;
    operation.a = site.a;
    operation.b = site.b;
    add(rank, operation, some);
    for (; begin < end; ++begin) {
      held[begin] = {chunks[begin], site.dst, id};
      if (accesses.writes != Accesses::kNone) values[accesses.writes + begin] = held[begin];
    }
  }
  if (step.kind == StepKind::kReceiveReduceSend) sent_[id] = std::move(held);
  return llvm::Error::success();
}

/// A copy or a reduction.
llvm::Error ChunkFlow::work(StepId id, const Accesses& accesses) {
  const RankStep& step = order_.step(id);
  const std::size_t rank = order_.rankOf(id);
  std::vector<Value>& values = values_[rank];
  const bool reduces = step.kind == StepKind::kReduce;
  if (accesses.writes == Accesses::kNone) return llvm::Error::success();  // onto itself
  if (llvm::Error error = checkReads(id, accesses.reads)) return error;
  if (reduces) {
    if (llvm::Error error = checkReads(id, accesses.writes)) return error;
  }
  const auto count = static_cast<std::uint32_t>(step.count);
  std::vector<Sites> sites(count);
  std::vector<ChunkNumber> chunks(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Value& src = values[accesses.reads + i];
    const Value& dst = values[accesses.writes + i];
    chunks[i] = src.chunk;
    sites[i].dst = placeFor(rank, accesses.writes + i, src.chunk);
    sites[i].a = src.place;
    // What is copied to its place is there in place, too.
    const bool is_there =
        !reduces && src.place == kIn && cells_.resultOf(rank, accesses.writes + i) == src.chunk;
    if (is_there) {
      sites[i].dst = kOut;
    } else {
      noteRead(2 * id, src);
    }
    if (sites[i].dst == kOut && !is_there) noteWrite(2 * id, src.chunk);
    if (!reduces) continue;
    if (dst.chunk != src.chunk) {
      return makeError(order_.at(id) + "adds " + cells_.textOf(src.chunk) + " to " +
                       cells_.textOf(dst.chunk) + " in " + cells_.nameOf(accesses.writes + i));
    }
    sites[i].a = dst.place;
    sites[i].b = src.place;
    if (sites[i].dst == kNewFrame && dst.place.buffer == Buffer::kScratch) {
      sites[i].dst = dst.place;
    }
  }
  for (std::uint32_t begin = 0, part = 0; begin < count; ++part) {
    std::uint32_t end = begin + 1;
    while (end < count && sites[end] == sites[begin])
      ++end;
    FlowOperation operation;
    operation.kind = reduces ? OperationKind::kReduce : OperationKind::kCopy;
    operation.action = 2 * id;
    operation.part = part;
    operation.dst = sites[begin].dst;
    operation.a = sites[begin].a;
    operation.b = sites[begin].b;
    if (operation.dst == kNewFrame) operation.dst.frame = frames_[rank]++;
    add(rank, operation, llvm::ArrayRef(chunks).slice(begin, end - begin));
    for (; begin < end; ++begin)
      values[accesses.writes + begin] = {chunks[begin], operation.dst, id};
  }
  return llvm::Error::success();
}

/// What the output holds at the end. What is elsewhere is copied; from the input that does nothing
/// in place.
llvm::Error ChunkFlow::checkResults(std::size_t rank) {
  const std::vector<Value>& values = values_[rank];
  FlowOperation copy;
  std::vector<ChunkNumber> copied;
  const auto flush = [&] {
    if (!copied.empty()) add(rank, copy, copied);
    copied.clear();
    copy.after.clear();
  };
  copy.dst = kOut;
  for (std::uint32_t cell = 0; cell < values.size(); ++cell) {
    const ChunkNumber result = cells_.resultOf(rank, cell);
    if (result == kNoChunk) continue;
    const Value& value = values[cell];
    if (value.chunk != result) {
      const std::string where = "gpu " + std::to_string(rank) + " " + cells_.nameOf(cell);
      const std::string wanted = "; it must be " + cells_.textOf(result);
      if (value.writer == kNoStep) {
        return makeError(programs_.at() + where + " is never written" + wanted);
      }
      return makeError(order_.at(value.writer) + "is the last to write " + cells_.nameOf(cell) +
                       ", which ends with " + cells_.textOf(value.chunk) + wanted);
    }
    if (value.place == kOut) continue;
    if (copy.a != value.place) flush();
    copy.a = value.place;
    copied.push_back(result);
    if (value.place == kIn) continue;
    copy.after.push_back(2 * value.writer);
    if (const auto readers = readers_of_in_[rank].find(result);
        readers != readers_of_in_[rank].end()) {
      copy.after.append(readers->second);
    }
  }
  flush();
  return llvm::Error::success();
}

}  // namespace torc::ir
