// TACOS results: links go on as chunks arrive where they begin.
#include "ir/exchange/readers/tacos_reader.h"

#include <deque>
#include <set>
#include <unordered_map>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/exchange/readers/graph_reader.h"
#include "ir/exchange/readers/link_steps.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

struct Link {
  std::uint32_t line = 0;
  std::size_t from = 0, to = 0;
  std::vector<std::int32_t> chunks;
  std::size_t sent = 0;
};

class TacosReader {
 public:
  TacosReader(llvm::StringRef text, llvm::StringRef origin, bool wants_links)
      : text_(text), origin_(origin), wants_links_(wants_links) {}

  llvm::Expected<RankPrograms> read() {
    std::int64_t ranks = 0, links = 0, chunks = 0;
    if (llvm::Error error = readCount("NPUs Count", kMaxForeignRanks, ranks)) return error;
    if (llvm::Error error = readCount("Links Count", kMaxForeignSteps, links)) return error;
    if (llvm::Error error = readCount("Chunks Count", kMaxForeignChunks, chunks)) return error;
    if (chunks % ranks != 0) {
      return refuse(llvm::Twine(chunks) + " chunks are not shared evenly by " + llvm::Twine(ranks) +
                    " NPUs");
    }
    for (const llvm::StringRef begin : {"Chunk Size,", "SrcID,"}) {
      if (!nextLine().starts_with(begin)) return refuse("'" + begin + "...' is expected");
    }
    programs_.origin = origin_.str();
    programs_.collective = Collective::kAllgather;
    programs_.in_place = true;
    programs_.chunks = static_cast<std::int32_t>(chunks);
    programs_.ranks.resize(static_cast<std::size_t>(ranks));
    for (RankProgram& rank : programs_.ranks)
      rank.chunks = {0, programs_.chunks, 0};
    std::set<std::pair<std::size_t, std::size_t>> known;
    while (!text_.empty()) {
      const llvm::StringRef line = nextLine();
      if (line.empty()) continue;
      if (llvm::Error error = readLink(line)) return error;
      if (!known.insert({links_.back().from, links_.back().to}).second)
        return refuse("the link is there twice");
    }
    if (links_.size() != static_cast<std::size_t>(links)) {
      return refuse("has " + llvm::Twine(links_.size()) + " links, not " + llvm::Twine(links));
    }
    sortLinks(programs_.links);
    if (llvm::Error error = run()) return error;
    return std::move(programs_);
  }

 private:
  std::string at() const { return origin_.str() + ":" + std::to_string(line_) + ": error: "; }
  llvm::Error refuse(const llvm::Twine& what) const { return refuse(line_, what); }
  llvm::Error refuse(std::uint32_t line, const llvm::Twine& what) const {
    return makeError(origin_ + ":" + llvm::Twine(line) + ": error: " + what);
  }

  llvm::StringRef nextLine() {
    llvm::StringRef line;
    std::tie(line, text_) = text_.split('\n');
    ++line_;
    return line.trim();
  }

  llvm::Error readCount(llvm::StringRef name, std::int64_t most, std::int64_t& value) {
    const auto [key, count] = nextLine().split(',');
    if (key != name) return refuse("'" + name + ",...' is expected");
    llvm::Expected<std::int64_t> read = readNumber(count, name, 1, most, at());
    if (!read) return read.takeError();
    value = *read;
    return llvm::Error::success();
  }

  llvm::Error readLink(llvm::StringRef line) {
    llvm::SmallVector<llvm::StringRef, 16> fields;
    line.split(fields, ',');
    if (fields.size() < 5) return refuse("a link has five fields and more, this line fewer");
    Link& link = links_.emplace_back();
    link.line = line_;
    const auto highest = static_cast<std::int64_t>(programs_.ranks.size()) - 1;
    llvm::Expected<GraphLink> read =
        wants_links_ ? ir::readLink(fields, highest, at()) : readEnds(fields, highest, at());
    if (!read) return read.takeError();
    link.from = read->from;
    link.to = read->to;
    if (wants_links_) programs_.links.push_back(*read);
    if (fields.size() == 5 && fields[4].trim() == "None") return llvm::Error::success();
    for (const llvm::StringRef field : llvm::ArrayRef(fields).drop_front(4)) {
      llvm::Expected<std::int64_t> chunk =
          readNumber(field, "a chunk", 0, programs_.chunks - 1, at());
      if (!chunk) return chunk.takeError();
      if (++moves_ > kMaxForeignSteps / 2) {
        return refuse("more than " + llvm::Twine(kMaxForeignSteps / 2) + " chunks are sent");
      }
      link.chunks.push_back(static_cast<std::int32_t>(*chunk));
    }
    return llvm::Error::success();
  }

  /// Of a NPU's and a chunk.
  std::uint64_t keyOf(std::size_t rank, std::int32_t chunk) const {
    return rank * static_cast<std::uint64_t>(programs_.chunks) + static_cast<std::uint64_t>(chunk);
  }
  std::size_t ownerOf(std::int32_t chunk) const {
    return static_cast<std::size_t>(chunk) % programs_.ranks.size();
  }
  /// Where it lies in all memories.
  ChunkRun placeOf(std::int32_t chunk) const {
    const auto ranks = static_cast<std::int32_t>(programs_.ranks.size());
    return {ChunkBuffer::kOutput, chunk % ranks * (programs_.chunks / ranks) + chunk / ranks};
  }

  llvm::Error run() {
    LinkSteps steps(programs_);
    std::set<std::uint64_t> has;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> waiting;  // links, for a chunk
    std::deque<std::size_t> ready;
    for (std::size_t link = 0; link < links_.size(); ++link)
      ready.push_back(link);
    for (; !ready.empty(); ready.pop_front()) {
      Link& link = links_[ready.front()];
      for (; link.sent < link.chunks.size(); ++link.sent) {
        const std::int32_t chunk = link.chunks[link.sent];
        const std::uint64_t here = keyOf(link.from, chunk), there = keyOf(link.to, chunk);
        if (ownerOf(chunk) != link.from && !has.contains(here)) {
          waiting[here].push_back(ready.front());
          break;
        }
        // TACOS has each chunk come back to where it began.
        has.insert(there);
        steps.move(link.from, placeOf(chunk), link.to, placeOf(chunk), false, link.line,
                   static_cast<std::uint32_t>(link.sent));
        if (const auto found = waiting.find(there); found != waiting.end()) {
          ready.insert(ready.end(), found->second.begin(), found->second.end());
          waiting.erase(found);
        }
      }
    }
    for (const Link& link : links_) {
      if (link.sent == link.chunks.size()) continue;
      return refuse(link.line, nameOf(link) + "deadlock: waits for chunk " +
                                   llvm::Twine(link.chunks[link.sent]) +
                                   ", which does not come to NPU " + llvm::Twine(link.from));
    }
    return llvm::Error::success();
  }
  std::string nameOf(const Link& link) const {
    return "link " + std::to_string(link.from) + " to " + std::to_string(link.to) + " step " +
           std::to_string(link.sent) + ": ";
  }

  llvm::StringRef text_, origin_;
  bool wants_links_;
  std::uint32_t line_ = 0;
  RankPrograms programs_;
  std::vector<Link> links_;
  std::uint64_t moves_ = 0;
};

}  // namespace

llvm::Expected<RankPrograms> readTacos(llvm::StringRef text, llvm::StringRef origin,
                                       bool wants_links) {
  return TacosReader(text, origin, wants_links).read();
}

}  // namespace torc::ir
