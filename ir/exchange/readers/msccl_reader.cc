// MSCCL XML, read by expat events; elements nest in one way only. Elements and attributes that
// MSCCL's parsers ignore get a warning.
#include <expat.h>
#include <set>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/exchange/readers/readers.h"
#include "ir/make_error.h"
#include "ir/text/text.h"

namespace torc::ir {
namespace {

constexpr std::size_t kMaxBlocks = 1 << 16;  // of a rank
constexpr std::int32_t kMaxChannels = 5 << 14;
constexpr int kBytesAtATime = 1 << 20;

// The attributes read by some parser of MSCCL or RCCL, and additions of torc (tools/convert):
// shares, name, src, number, arrives, and signal, of a message without chunks.
constexpr llvm::StringLiteral kOfAlgorithm[] = {
    "name",    "proto",      "nchannels", "nchunksperloop", "ngpus", "coll",
    "inplace", "outofplace", "minBytes",  "maxBytes",       "redop", "shares"};
constexpr llvm::StringLiteral kOfRank[] = {"id", "i_chunks", "o_chunks", "s_chunks"};
constexpr llvm::StringLiteral kOfBlock[] = {"id", "send", "recv", "chan", "name"};
constexpr llvm::StringLiteral kOfStep[] = {"s",      "type",   "srcbuf",  "srcoff", "dstbuf",
                                           "dstoff", "cnt",    "depid",   "deps",   "hasdep",
                                           "src",    "number", "arrives", "signal"};

std::optional<ChunkBuffer> foreignBuffer(llvm::StringRef name) {
  const std::size_t number = kBufferNames.find(name.empty() ? ' ' : name[0]);
  if (name.size() != 1 || number == kBufferNames.npos) return std::nullopt;
  return static_cast<ChunkBuffer>(number);
}

using Attributes = const XML_Char**;

class Reader {
 public:
  Reader(llvm::StringRef origin, std::optional<Collective> collective)
      : origin_(origin), collective_(collective), parser_(XML_ParserCreate(nullptr)) {
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(
        parser_,
        [](void* self, const XML_Char* name, Attributes attributes) {
          static_cast<Reader*>(self)->attributes_ = attributes;
          static_cast<Reader*>(self)->start(name);
        },
        [](void* self, const XML_Char*) { static_cast<Reader*>(self)->end(); });
    XML_SetEntityDeclHandler(parser_, [](void* self, const XML_Char* name, auto...) {
      static_cast<Reader*>(self)->refuse(llvm::Twine("declares the entity '") + name +
                                         "', which no schedule needs");
    });
    XML_SetCharacterDataHandler(parser_, [](void* self, const XML_Char* text, int length) {
      static_cast<Reader*>(self)->checkText({text, static_cast<std::size_t>(length)});
    });
  }
  ~Reader() { XML_ParserFree(parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  llvm::Expected<RankPrograms> read(llvm::StringRef text) {
    // A declaration is allowed at the very beginning only.
    const llvm::StringRef all = text;
    text = text.ltrim();
    skipped_ = static_cast<std::uint32_t>(all.drop_back(text.size()).count('\n'));
    for (bool is_last = false; !is_last && !failed();) {
      const llvm::StringRef some = text.take_front(kBytesAtATime);
      text = text.drop_front(some.size());
      is_last = text.empty();
      if (XML_Parse(parser_, some.data(), static_cast<int>(some.size()), is_last) ==
          XML_STATUS_ERROR) {
        refuse(llvm::Twine("is no XML that can be read: ") +
               XML_ErrorString(XML_GetErrorCode(parser_)));
      }
    }
    if (failed()) return makeError(fault_);
    return std::move(programs_);
  }

 private:
  /// An element, nested in the one before it.
  struct Element {
    llvm::StringLiteral name;
    llvm::ArrayRef<llvm::StringLiteral> attributes;
    void (Reader::*start)();
  };
  static const Element kNested[4];

  std::uint32_t line() const {
    return static_cast<std::uint32_t>(XML_GetCurrentLineNumber(parser_)) + skipped_;
  }

  std::string here(llvm::StringRef kind, const llvm::Twine& what) const {
    return (origin_ + ":" + llvm::Twine(line()) + ": " + kind + ": " +
            printable(what.str(), llvm::StringRef::npos))
        .str();
  }

  bool failed() const { return !fault_.empty(); }

  /// The first fault is reported.
  void refuse(const llvm::Twine& what) {
    if (failed()) return;
    fault_ = here("error", what);
    XML_StopParser(parser_, XML_FALSE);
  }
  void refuseValue(llvm::StringRef name, llvm::StringRef value, const llvm::Twine& allowed) {
    refuse(element_ + ": " + name + " is '" + value.take_front(20) + "'; allowed: " + allowed);
  }

  /// Warns once for each kind.
  void ignore(const std::string& kind) {
    if (!kinds_.insert(kind).second) return;
    programs_.warnings.push_back(here("warning", kind + " is ignored: MSCCL does not know it"));
  }

  std::optional<llvm::StringRef> find(llvm::StringRef name) const {
    for (Attributes at = attributes_; *at != nullptr; at += 2) {
      if (name == at[0]) return llvm::StringRef(at[1]);
    }
    return std::nullopt;
  }

  llvm::StringRef text(llvm::StringRef name) {
    const std::optional<llvm::StringRef> value = find(name);
    if (!value) refuse(element_ + " has no " + name);
    return value.value_or("");
  }

  std::int32_t number(llvm::StringRef name, std::int64_t lowest, std::int64_t highest) {
    const llvm::StringRef value = text(name);
    std::int64_t number = 0;
    if (value.getAsInteger(10, number) || number < lowest || number > highest)
      refuseValue(name, value, llvm::Twine(lowest) + " to " + llvm::Twine(highest));
    return static_cast<std::int32_t>(failed() ? lowest : number);
  }

  /// A number that may be missing.
  std::int32_t numberOr(std::int32_t missing, llvm::StringRef name, std::int64_t lowest,
                        std::int64_t highest) {
    return find(name) ? number(name, lowest, highest) : missing;
  }

  void checkText(llvm::StringRef text) {
    if (ignored_ == 0 && !text.trim().empty())
      refuse("has text between elements: '" + text.trim().take_front(20) + "'");
  }

  void start(llvm::StringRef name) {
    if (failed()) return;
    const bool is_known = llvm::any_of(kNested, [&](const auto& one) { return one.name == name; });
    if (ignored_ > 0 || (depth_ > 0 && !is_known)) {
      if (ignored_++ == 0) ignore("<" + name.str() + ">");
      return;
    }
    if (depth_ >= std::size(kNested) || name != kNested[depth_].name) {
      return refuse("<" + name + "> stands where " +
                    (depth_ < std::size(kNested)
                         ? "<" + llvm::Twine(kNested[depth_].name) + "> is expected"
                         : llvm::Twine("a step has nothing inside")));
    }
    const Element& element = kNested[depth_++];
    for (Attributes at = attributes_; *at != nullptr; at += 2) {
      if (!llvm::is_contained(element.attributes, llvm::StringRef(*at)))
        ignore("the attribute " + std::string(*at) + " of <" + name.str() + ">");
    }
    element_ = "<" + name.str() + ">";
    (this->*element.start)();
  }

  void startAlgorithm() {
    programs_.origin = origin_.str();
    programs_.line = line();
    const std::optional<llvm::StringRef> collective = find("coll");
    const std::optional<Collective> known =
        collective ? foreignCollective(*collective) : collective_;
    if (!known) {
      return refuse(collective ? "coll is '" + *collective + "'; " + kForeignCollectives
                               : "<algo> has no coll: --collective says which");
    }
    programs_.collective = *known;
    // Files from before SCCL 0.6 lack this attribute; their programs are in place if the NCCL call
    // can be.
    programs_.in_place = numberOr(*known != Collective::kAlltoall ? 1 : 0, "inplace", 0, 1) != 0;
    programs_.shares = numberOr(1, "shares", 1, kMaxBlocks);
    programs_.chunks = number("nchunksperloop", 1, kMaxForeignChunks);
    programs_.ranks.resize(static_cast<std::size_t>(number("ngpus", 1, kMaxForeignRanks)));
    seen_.resize(programs_.ranks.size());
  }

  std::string rankName() const { return "gpu " + std::to_string(rank_); }
  std::string blockName() const { return rankName() + " tb " + std::to_string(block_); }

  void startRank() {
    rank_ = static_cast<std::size_t>(number("id", 0, programs_.rankCount() - 1));
    if (failed()) return;
    if (seen_[rank_]) return refuse(rankName() + " is there twice");
    seen_[rank_] = true;
    for (std::size_t i = 0; i < 3; ++i)
      programs_.ranks[rank_].chunks[i] = number(kOfRank[1 + i], 0, kMaxForeignChunks);
  }

  void startBlock() {
    std::vector<ThreadBlock>& blocks = programs_.ranks[rank_].blocks;
    block_ = static_cast<std::size_t>(number("id", 0, kMaxBlocks - 1));
    if (failed()) return;
    if (block_ >= blocks.size()) blocks.resize(block_ + 1);
    ThreadBlock& block = blocks[block_];
    if (block.line != 0) return refuse(rankName() + " has tb " + llvm::Twine(block_) + " twice");
    block.line = line();
    block.send_peer = number("send", -1, programs_.rankCount() - 1);
    block.receive_peer = number("recv", -1, programs_.rankCount() - 1);
    block.channel = number("chan", 0, kMaxChannels - 1);
    block.name = printable(find("name").value_or("").take_front(40));
    const auto own = static_cast<std::int32_t>(rank_);
    if (block.send_peer == own || block.receive_peer == own)
      refuse(blockName() + " has its own gpu as a peer");
  }

  ChunkRun run(llvm::StringRef buffer, llvm::StringRef offset) {
    const llvm::StringRef name = text(buffer);
    const std::optional<ChunkBuffer> known = foreignBuffer(name);
    if (!known) refuseValue(buffer, name, "i, o, s");
    return {known.value_or(ChunkBuffer::kInput), number(offset, -1, kMaxForeignChunks)};
  }

  /// Sets the step's place in the source of the XML, FILE:LINE: faults name that.
  void place(ThreadBlock& block, RankStep& step) {
    const llvm::StringRef src = find("src").value_or("");
    const auto [file, line] = src.rsplit(':');
    if (steps_ == 1) source_ = file.str();
    if (file != source_ || (!src.empty() && line.getAsInteger(10, step.line))) {
      return refuse("<step>: src is '" + src.take_back(40) + "'; allowed: FILE:LINE, of one file" +
                    (source_.empty() ? "" : ", '" + source_ + "'"));
    }
    if (src.empty()) return;
    if (block.steps.empty()) block.line = step.line;
    if (steps_ > 1) return;
    programs_.origin = printable(source_, llvm::StringRef::npos);
    programs_.line = 0;
  }

  void startStep() {
    if (++steps_ > kMaxForeignSteps)
      return refuse("has more than " + llvm::Twine(kMaxForeignSteps) + " steps");
    ThreadBlock& block = programs_.ranks[rank_].blocks[block_];
    const std::int32_t index = number("s", 0, kMaxForeignSteps);
    if (static_cast<std::size_t>(index) != block.steps.size()) {
      refuse(blockName() + " has step " + llvm::Twine(index) + " where step " +
             llvm::Twine(block.steps.size()) + " is expected");
    }
    const llvm::StringRef type = text("type");
    const auto* const kind =
        llvm::find_if(kStepKinds, [&](const auto& row) { return type == row.name; });
    if (kind == std::end(kStepKinds))
      return refuseValue("type", type, "s, r, cpy, re, rcs, rrc, rrs, rrcs, nop");
    RankStep step;
    step.kind = static_cast<StepKind>(kind - kStepKinds);
    step.line = line();
    step.number = static_cast<std::uint32_t>(numberOr(index, "number", 0, kMaxForeignSteps));
    step.arrives = numberOr(0, "arrives", 0, 1) != 0;
    place(block, step);
    step.src = run("srcbuf", "srcoff");
    step.dst = run("dstbuf", "dstoff");
    step.count = number("cnt", 0, kMaxForeignChunks);
    step.after = {number("depid", -1, kMaxBlocks - 1), number("deps", -1, kMaxForeignSteps)};
    if (step.after.index < 0) step.after.block = -1;
    const bool is_signal = step.kind <= StepKind::kReceive && numberOr(0, "signal", 0, 1) != 0;
    if (step.count == 0 && !is_signal) step.kind = StepKind::kNothing;
    if (step.row().sends && block.send_peer < 0) refuse("step sends, but its tb has send=\"-1\"");
    if (step.row().receives && block.receive_peer < 0)
      refuse("step receives, but its tb has recv=\"-1\"");
    block.steps.push_back(step);
  }

  void end() {
    if (failed()) return;
    if (ignored_ > 0) {
      --ignored_;
      return;
    }
    if (--depth_ == 1) {
      const std::vector<ThreadBlock>& blocks = programs_.ranks[rank_].blocks;
      const auto missing = llvm::find_if(blocks, [](const auto& block) { return block.line == 0; });
      if (missing != blocks.end()) {
        refuse(rankName() + " has tb " + llvm::Twine(blocks.size() - 1) + ", and no tb " +
               llvm::Twine(missing - blocks.begin()));
      }
    }
    if (depth_ > 0) return;
    if (const auto missing = llvm::find(seen_, false); missing != seen_.end()) {
      refuse("ngpus is " + llvm::Twine(seen_.size()) + ", but there is no gpu " +
             llvm::Twine(missing - seen_.begin()));
    }
  }

  llvm::StringRef origin_;
  std::optional<Collective> collective_;  // of a file without `coll`
  XML_Parser parser_;
  Attributes attributes_ = nullptr;  // of the current element
  std::string fault_;
  std::string element_;
  std::string source_;  // source file that steps name; empty: none
  RankPrograms programs_;
  std::vector<bool> seen_;
  std::uint32_t skipped_ = 0;    // lines of white space before it
  std::set<std::string> kinds_;  // of ignored elements and attributes
  std::size_t depth_ = 0, ignored_ = 0, rank_ = 0, block_ = 0;
  std::uint64_t steps_ = 0;
};

const Reader::Element Reader::kNested[] = {{"algo", kOfAlgorithm, &Reader::startAlgorithm},
                                           {"gpu", kOfRank, &Reader::startRank},
                                           {"tb", kOfBlock, &Reader::startBlock},
                                           {"step", kOfStep, &Reader::startStep}};

}  // namespace

llvm::Expected<RankPrograms> readMsccl(llvm::StringRef text, llvm::StringRef origin,
                                       std::optional<Collective> collective) {
  return Reader(origin, collective).read(text);
}

}  // namespace torc::ir
