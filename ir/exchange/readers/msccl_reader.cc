// MSCCL XML: expat tells of elements, which stand in one another in one way only. Writers add
// elements and attributes that MSCCL's parsers do not look for; here they get a warning.
#include "ir/exchange/readers/msccl_reader.h"

#include <algorithm>
#include <expat.h>
#include <optional>
#include <set>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>

#include "ir/exchange/readers/foreign_collective.h"
#include "ir/make_error.h"

namespace torc::ir {
namespace {

constexpr std::size_t kMaxBlocks = 4096;  // of a rank
constexpr int kBytesAtATime = 1 << 20;

/// An element, which stands in the one before it, and the attributes that some parser of MSCCL or
/// RCCL reads; src is torc's own (tools/convert).
struct Element {
  llvm::StringLiteral name;
  llvm::ArrayRef<llvm::StringLiteral> attributes;
};
constexpr llvm::StringLiteral kOfAlgorithm[] = {
    "name",    "proto",      "nchannels", "nchunksperloop", "ngpus", "coll",
    "inplace", "outofplace", "minBytes",  "maxBytes",       "redop"};
constexpr llvm::StringLiteral kOfRank[] = {"id", "i_chunks", "o_chunks", "s_chunks"};
constexpr llvm::StringLiteral kOfBlock[] = {"id", "send", "recv", "chan"};
constexpr llvm::StringLiteral kOfStep[] = {"s",   "type",  "srcbuf", "srcoff", "dstbuf", "dstoff",
                                           "cnt", "depid", "deps",   "hasdep", "src"};
const Element kNested[] = {
    {"algo", kOfAlgorithm}, {"gpu", kOfRank}, {"tb", kOfBlock}, {"step", kOfStep}};

std::optional<StepKind> kindOf(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<StepKind>>(name)
      .Case("nop", StepKind::kNothing)
      .Case("s", StepKind::kSend)
      .Case("r", StepKind::kReceive)
      .Case("cpy", StepKind::kCopy)
      .Case("re", StepKind::kReduce)
      .Case("rcs", StepKind::kReceiveSend)
      .Case("rrc", StepKind::kReceiveReduce)
      .Case("rrs", StepKind::kReceiveReduceSend)
      .Case("rrcs", StepKind::kReduceStoreSend)
      .Default(std::nullopt);
}

class Reader {
 public:
  Reader(llvm::StringRef origin, std::optional<Collective> collective)
      : origin_(origin), collective_(collective), parser_(XML_ParserCreate(nullptr)) {
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, &onStart, &onEnd);
    XML_SetEntityDeclHandler(parser_, &onEntity);
    XML_SetCharacterDataHandler(parser_, &onText);
  }
  ~Reader() { XML_ParserFree(parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  llvm::Expected<RankPrograms> read(llvm::StringRef text) {
    // A declaration may stand at the very beginning only.
    const llvm::StringRef all = text;
    text = text.ltrim();
    skipped_ = static_cast<std::uint32_t>(all.drop_back(text.size()).count('\n'));
    for (bool is_last = false; !is_last && fault_.empty();) {
      const llvm::StringRef some = text.take_front(kBytesAtATime);
      text = text.drop_front(some.size());
      is_last = text.empty();
      if (XML_Parse(parser_, some.data(), static_cast<int>(some.size()), is_last) ==
              XML_STATUS_ERROR &&
          fault_.empty()) {
        refuse(llvm::Twine("is no XML that can be read: ") +
               XML_ErrorString(XML_GetErrorCode(parser_)));
      }
    }
    if (!fault_.empty()) return makeError(fault_);
    return std::move(programs_);
  }

 private:
  using Attributes = const XML_Char**;

  static void onStart(void* self, const XML_Char* name, Attributes attributes) {
    auto& reader = *static_cast<Reader*>(self);
    if (reader.fault_.empty()) reader.start(name, attributes);
  }
  static void onEnd(void* self, const XML_Char* name) {
    auto& reader = *static_cast<Reader*>(self);
    if (reader.fault_.empty()) reader.end(name);
  }
  static void onEntity(void* self, const XML_Char* name, int, const XML_Char*, int, const XML_Char*,
                       const XML_Char*, const XML_Char*, const XML_Char*) {
    static_cast<Reader*>(self)->refuse(llvm::Twine("declares the entity '") + name +
                                       "', which no schedule needs");
  }
  static void onText(void* self, const XML_Char* text, int length) {
    auto& reader = *static_cast<Reader*>(self);
    const llvm::StringRef all(text, static_cast<std::size_t>(length));
    if (reader.ignored_ == 0 && !all.trim().empty()) {
      reader.refuse("has text between elements: '" + all.trim().take_front(20) + "'");
    }
  }

  std::uint32_t line() const {
    return static_cast<std::uint32_t>(XML_GetCurrentLineNumber(parser_)) + skipped_;
  }

  std::string here(llvm::StringRef kind, const llvm::Twine& what) const {
    return (origin_ + ":" + llvm::Twine(line()) + ": " + kind + ": " + printable(what.str())).str();
  }

  /// An attribute may hold what no terminal should get.
  static std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return !llvm::isPrint(c); }, '?');
    return text;
  }

  /// The first fault counts.
  void refuse(const llvm::Twine& what) {
    if (!fault_.empty()) return;
    fault_ = here("error", what);
    XML_StopParser(parser_, XML_FALSE);
  }

  /// The first of its kind counts.
  void ignore(const std::string& kind) {
    if (!kinds_.insert(kind).second) return;
    programs_.warnings.push_back(here("warning", kind + " is ignored: MSCCL does not know it"));
  }

  static std::optional<llvm::StringRef> find(Attributes attributes, llvm::StringRef name) {
    for (; *attributes != nullptr; attributes += 2) {
      if (name == attributes[0]) return llvm::StringRef(attributes[1]);
    }
    return std::nullopt;
  }

  llvm::StringRef text(Attributes attributes, llvm::StringRef name) {
    const std::optional<llvm::StringRef> value = find(attributes, name);
    if (!value) refuse(element_ + " has no " + name);
    return value.value_or("");
  }

  std::int32_t number(Attributes attributes, llvm::StringRef name, std::int64_t lowest,
                      std::int64_t highest) {
    const llvm::StringRef value = text(attributes, name);
    std::int64_t number = 0;
    if (fault_.empty() && (value.getAsInteger(10, number) || number < lowest || number > highest)) {
      refuse(element_ + ": " + name + " is '" + value.take_front(20) +
             "'; allowed: " + llvm::Twine(lowest) + " to " + llvm::Twine(highest));
    }
    return static_cast<std::int32_t>(fault_.empty() ? number : lowest);
  }

  void start(llvm::StringRef name, Attributes attributes) {
    const bool is_known = llvm::is_contained(
        llvm::map_range(kNested, [](const Element& of) { return llvm::StringRef(of.name); }), name);
    if (ignored_ > 0 || (depth_ > 0 && !is_known)) {
      if (ignored_++ == 0) ignore("<" + name.str() + ">");
      return;
    }
    if (depth_ >= std::size(kNested) || name != kNested[depth_].name) {
      refuse("<" + name + "> stands where " +
             (depth_ < std::size(kNested)
                  ? "<" + llvm::Twine(kNested[depth_].name) + "> is expected"
                  : llvm::Twine("a step has nothing inside")));
      return;
    }
    for (Attributes at = attributes; *at != nullptr; at += 2) {
      if (!llvm::is_contained(kNested[depth_].attributes, llvm::StringRef(*at))) {
        ignore("the attribute " + std::string(*at) + " of <" + name.str() + ">");
      }
    }
    element_ = "<" + name.str() + ">";
    switch (depth_++) {
      case 0:
        return startAlgorithm(attributes);
      case 1:
        return startRank(attributes);
      case 2:
        return startBlock(attributes);
      default:
        return addStep(attributes);
    }
  }

  void startAlgorithm(Attributes attributes) {
    programs_.origin = origin_.str();
    programs_.line = line();
    const std::optional<llvm::StringRef> collective = find(attributes, "coll");
    const std::optional<Collective> known =
        collective ? foreignCollective(*collective) : collective_;
    if (!known) {
      return refuse(collective ? "coll is '" + *collective + "'; " + kForeignCollectives
                               : "<algo> has no coll: --collective says which");
    }
    programs_.collective = *known;
    // Before SCCL 0.6 there was no such attribute; programs were in place where NCCL's calls can
    // be.
    programs_.in_place = find(attributes, "inplace") ? number(attributes, "inplace", 0, 1) != 0
                                                     : *known != Collective::kAlltoall;
    programs_.chunks = number(attributes, "nchunksperloop", 1, kMaxForeignChunks);
    programs_.ranks.resize(
        static_cast<std::size_t>(number(attributes, "ngpus", 1, kMaxForeignRanks)));
    seen_.resize(programs_.ranks.size());
  }

  void startRank(Attributes attributes) {
    rank_ = static_cast<std::size_t>(
        number(attributes, "id", 0, static_cast<std::int64_t>(programs_.ranks.size()) - 1));
    if (!fault_.empty()) return;
    if (seen_[rank_]) return refuse("gpu " + llvm::Twine(rank_) + " is there twice");
    seen_[rank_] = true;
    static constexpr llvm::StringLiteral kNames[] = {"i_chunks", "o_chunks", "s_chunks"};
    for (std::size_t i = 0; i < 3; ++i)
      programs_.ranks[rank_].chunks[i] = number(attributes, kNames[i], 0, kMaxForeignChunks);
  }

  void startBlock(Attributes attributes) {
    std::vector<ThreadBlock>& blocks = programs_.ranks[rank_].blocks;
    block_ = static_cast<std::size_t>(number(attributes, "id", 0, kMaxBlocks - 1));
    if (!fault_.empty()) return;
    if (block_ >= blocks.size()) blocks.resize(block_ + 1);
    ThreadBlock& block = blocks[block_];
    if (block.line != 0) {
      return refuse("gpu " + llvm::Twine(rank_) + " has tb " + llvm::Twine(block_) + " twice");
    }
    block.line = line();
    const auto highest = static_cast<std::int64_t>(programs_.ranks.size()) - 1;
    block.send_peer = number(attributes, "send", -1, highest);
    block.receive_peer = number(attributes, "recv", -1, highest);
    block.channel = number(attributes, "chan", 0, kMaxBlocks - 1);
    const auto own = static_cast<std::int32_t>(rank_);
    if (block.send_peer == own || block.receive_peer == own) {
      refuse("gpu " + llvm::Twine(rank_) + " tb " + llvm::Twine(block_) +
             " has its own gpu as a peer");
    }
  }

  ChunkRun run(Attributes attributes, llvm::StringRef buffer, llvm::StringRef offset) {
    const llvm::StringRef name = text(attributes, buffer);
    ChunkRun run;
    run.buffer = name == "o"   ? ChunkBuffer::kOutput
                 : name == "s" ? ChunkBuffer::kScratch
                               : ChunkBuffer::kInput;
    if (name != "i" && name != "o" && name != "s") {
      refuse("<step>: " + buffer + " is '" + name.take_front(20) + "'; allowed: i, o, s");
    }
    run.first = number(attributes, offset, -1, kMaxForeignChunks);
    return run;
  }

  /// Where the step was in the file that the XML was made of, FILE:LINE: faults name that.
  void place(Attributes attributes, ThreadBlock& block, RankStep& step) {
    const llvm::StringRef src = find(attributes, "src").value_or("");
    const auto [file, line] = src.rsplit(':');
    if (steps_ == 1) source_ = file.str();
    if (file != source_ || (!src.empty() && line.getAsInteger(10, step.line))) {
      return refuse("<step>: src is '" + src.take_back(40) + "'; allowed: FILE:LINE, of one file" +
                    (source_.empty() ? "" : ", '" + source_ + "'"));
    }
    if (src.empty()) return;
    if (block.steps.empty()) block.line = step.line;
    if (steps_ == 1) programs_.origin = printable(source_);
  }

  void addStep(Attributes attributes) {
    if (++steps_ > kMaxForeignSteps) {
      return refuse("has more than " + llvm::Twine(kMaxForeignSteps) + " steps");
    }
    ThreadBlock& block = programs_.ranks[rank_].blocks[block_];
    const std::int32_t index = number(attributes, "s", 0, kMaxForeignSteps);
    if (fault_.empty() && static_cast<std::size_t>(index) != block.steps.size()) {
      refuse("gpu " + llvm::Twine(rank_) + " tb " + llvm::Twine(block_) + " has step " +
             llvm::Twine(index) + " where step " + llvm::Twine(block.steps.size()) +
             " is expected");
    }
    const llvm::StringRef type = text(attributes, "type");
    const std::optional<StepKind> kind = kindOf(type);
    if (fault_.empty() && !kind) {
      refuse("<step>: type is '" + type.take_front(20) +
             "'; allowed: s, r, cpy, re, rcs, rrc, rrs, rrcs, nop");
    }
    RankStep step;
    step.kind = kind.value_or(StepKind::kNothing);
    step.line = line();
    step.number = static_cast<std::uint32_t>(index);
    place(attributes, block, step);
    step.src = run(attributes, "srcbuf", "srcoff");
    step.dst = run(attributes, "dstbuf", "dstoff");
    step.count = number(attributes, "cnt", 0, kMaxForeignChunks);
    step.after_block = number(attributes, "depid", -1, kMaxBlocks - 1);
    step.after = number(attributes, "deps", -1, kMaxForeignSteps);
    if (step.after < 0) step.after_block = -1;
    if (step.count == 0) step.kind = StepKind::kNothing;
    if (hasSend(step.kind) && block.send_peer < 0) refuse("step sends, but its tb has send=\"-1\"");
    if (hasReceive(step.kind) && block.receive_peer < 0) {
      refuse("step receives, but its tb has recv=\"-1\"");
    }
    block.steps.push_back(step);
  }

  void end(llvm::StringRef) {
    if (ignored_ > 0) {
      --ignored_;
      return;
    }
    if (--depth_ == 1) {
      const std::vector<ThreadBlock>& blocks = programs_.ranks[rank_].blocks;
      const auto missing = llvm::find_if(blocks, [](const auto& block) { return block.line == 0; });
      if (missing != blocks.end()) {
        refuse("gpu " + llvm::Twine(rank_) + " has tb " + llvm::Twine(blocks.size() - 1) +
               ", and no tb " + llvm::Twine(missing - blocks.begin()));
      }
    }
    if (depth_ > 0) return;
    for (std::size_t rank = 0; rank < seen_.size(); ++rank) {
      if (!seen_[rank]) {
        refuse("ngpus is " + llvm::Twine(seen_.size()) + ", but there is no gpu " +
               llvm::Twine(rank));
      }
    }
  }

  llvm::StringRef origin_;
  std::optional<Collective> collective_;  // of a file that does not say
  XML_Parser parser_;
  std::string fault_;
  std::string element_;
  std::string source_;  // that steps name; empty: none
  RankPrograms programs_;
  std::vector<bool> seen_;
  std::uint32_t skipped_ = 0;    // lines of white space before it
  std::set<std::string> kinds_;  // of what is ignored
  std::size_t depth_ = 0, ignored_ = 0, rank_ = 0, block_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace

llvm::Expected<RankPrograms> readMsccl(llvm::StringRef text, llvm::StringRef origin,
                                       std::optional<Collective> collective) {
  return Reader(origin, collective).read(text);
}

}  // namespace torc::ir
