// The fields of a schedule's records, each stated once: its JSON key, its member, its valid values
// and the table that it indexes. Readers and writers of schedules visit these lists. Rules between
// fields, and fields whose meaning depends on others (Interval, the blocks of a region), are code.
#ifndef TORC_SCHEDULES_FIELDS_H_
#define TORC_SCHEDULES_FIELDS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "schedules/schedule.h"

namespace torc {

inline constexpr std::uint32_t kMaxParts = 1u << 20;  // of a schedule

/// The values of a field, both ends included, within its type.
struct Values {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();
  std::span<const std::string_view> names{};  // of an enumeration, from value 0 on
  std::string_view none{};                    // in place of kNone
};
inline constexpr Values kIndex{0, kNone - 1};

template <typename Record, typename Member>
struct Field {
  std::string_view key;
  Member Record::*member;
  Values values{};
  bool optional = false;  // omitted at its default
};
// clang before 17 deduces none for an aggregate.
template <typename Record, typename Member>
Field(std::string_view, Member Record::*, Values = {}, bool = false) -> Field<Record, Member>;

inline constexpr std::string_view kAxisKindNames[] = {"torus", "mesh", "cores"};
inline constexpr std::string_view kIntervalKindNames[] = {
    "all",     "absolute",   "relative",    "root",        "from_root",
    "to_root", "plus_shift", "minus_shift", "root_within", "for_roots"};
inline constexpr std::string_view kIterationOriginNames[] = {"own", "first", "last", "all", "back"};
inline constexpr std::string_view kOperationKindNames[kOperationKindCount] = {
    "send", "recv", "recv_reduce", "reduce", "copy", "notify", "await"};
inline constexpr std::string_view kBufferNames[] = {"none", "in", "out", "scratch"};
inline constexpr std::string_view kPeerOrderNames[] = {"fixed", "shuffled"};

/// std::tuple of the fields of a record.
template <typename Record>
inline constexpr auto kFields = std::tuple();

template <>
inline constexpr auto kFields<Axis> =
    std::tuple{Field{"name", &Axis::name}, Field{"size", &Axis::size, {1}},
               Field{"kind", &Axis::kind, {.names = kAxisKindNames}},
               Field{"bandwidth", &Axis::bandwidth}, Field{"latency", &Axis::latency}};

template <>
inline constexpr auto kFields<GraphLink> =
    std::tuple{Field{"from", &GraphLink::from}, Field{"to", &GraphLink::to},
               Field{"bandwidth", &GraphLink::bandwidth}, Field{"latency", &GraphLink::latency}};

template <>
inline constexpr auto kFields<Color> =
    std::tuple{Field{"weight", &Color::weight, {1, std::numeric_limits<std::int64_t>::max()}},
               Field{"order", &Color::order}, Field{"directions", &Color::directions, {1, 2}},
               Field{"chunks", &Color::chunks, {1, kMaxParts}}};

template <>
inline constexpr auto kFields<Stream> = std::tuple{
    Field{"part", &Stream::part, {0, kNone - 1, {}, "any"}}, Field{"core", &Stream::core}};

template <>
inline constexpr auto kFields<RootSpan> = std::tuple{
    Field{"first", &RootSpan::first}, Field{"first_from_root", &RootSpan::first_from_root},
    Field{"last", &RootSpan::last},   Field{"last_from_root", &RootSpan::last_from_root},
    Field{"from", &RootSpan::from},   Field{"to", &RootSpan::to}};

// Fields of an interval: all, and by its kind.
template <>
inline constexpr auto kFields<Interval> =
    std::tuple{Field{"kind", &Interval::kind, {.names = kIntervalKindNames}}};
inline constexpr auto kIntervalStart =
    std::tuple{Field{"start", &Interval::start}, Field{"length", &Interval::length}};
inline constexpr auto kIntervalEnds =
    std::tuple{Field{"offset", &Interval::start}, Field{"end", &Interval::length}};
inline constexpr auto kIntervalSteps =
    std::tuple{Field{"loop", &Interval::loop, {1, kMaxLoopDepth}}, Field{"step", &Interval::step},
               Field{"growth", &Interval::growth}};

template <>
inline constexpr auto kFields<BoxPair> = std::tuple{
    Field{"source", &BoxPair::source, kIndex}, Field{"destination", &BoxPair::destination, kIndex}};

template <>
inline constexpr auto kFields<Piece> =
    std::tuple{Field{"part", &Piece::part, kIndex}, Field{"parts", &Piece::parts, {1}},
               Field{"box", &Piece::box, kIndex}};

template <>
inline constexpr auto kFields<PeerLoop> =
    std::tuple{Field{"first", &PeerLoop::first}, Field{"count", &PeerLoop::count, {1}},
               Field{"order", &PeerLoop::order, {.names = kPeerOrderNames}},
               Field{"window", &PeerLoop::window}};

// Fields of a region and of a frame: the blocks of one box, or a list of pieces.
template <typename Blocks>
inline constexpr auto kOneBox =
    std::tuple{Field{"part", &Blocks::part, kIndex}, Field{"box", &Blocks::box, kIndex}};
template <typename Blocks>
inline constexpr auto kPieceList = std::tuple{Field{"pieces", &Blocks::pieces, {1, kMaxPieces}},
                                              Field{"first_piece", &Blocks::box, kIndex}};

/// The fields after the blocks.
template <typename Blocks>
inline constexpr auto kBehindBlocks = std::tuple();

template <>
inline constexpr auto kFields<Region> =
    std::tuple{Field{"buffer", &Region::buffer, {1, 3, kBufferNames}}};
template <>
inline constexpr auto kBehindBlocks<Region> =
    std::tuple{Field{"frame", &Region::frame, kIndex, true}};
template <>
inline constexpr auto kBehindBlocks<Frame> =
    std::tuple{Field{"slot", &Frame::slot, kIndex}, Field{"copies", &Frame::copies, {2}, true}};

template <>
inline constexpr auto kFields<Loop> = std::tuple{
    Field{"begin", &Loop::begin}, Field{"end", &Loop::end}, Field{"count", &Loop::count, {1}}};

/// One loop of an Iterations record.
struct LoopIteration {
  IterationOrigin origin = IterationOrigin::kOwn;
  std::int32_t offset = 0;
};
template <>
inline constexpr auto kFields<LoopIteration> =
    std::tuple{Field{"origin", &LoopIteration::origin, {.names = kIterationOriginNames}},
               Field{"offset", &LoopIteration::offset}};
template <>
inline constexpr auto kFields<Iterations> =
    std::tuple{Field{"segments_before", &Iterations::segments, {0, kMaxSegmentsBefore}}};

template <>
inline constexpr auto kFields<Operation> =
    std::tuple{Field{"kind", &Operation::kind, {.names = kOperationKindNames}},
               Field{"phase", &Operation::phase},
               Field{"stream", &Operation::stream, kIndex},
               Field{"dst", &Operation::dst, {}, true},
               Field{"a", &Operation::a, {}, true},
               Field{"b", &Operation::b, {}, true}};
inline constexpr auto kPeer = std::tuple{Field{"peer", &Operation::peer, kIndex, true}};
inline constexpr auto kPeerLoop = std::tuple{Field{"peer_loop", &Operation::peer, kIndex, true}};
inline constexpr auto kGuard = std::tuple{Field{"guard", &Operation::guard, kIndex, true}};

/// The tables of a Schedule or a ScheduleView, in the order of a file, and the numbers among them.
template <typename Schedule>
inline constexpr auto kTables = std::tuple{Field{"colors", &Schedule::colors},
                                           Field{"streams", &Schedule::streams},
                                           Field{"boxes", &Schedule::boxes},
                                           Field{"pairs", &Schedule::pairs},
                                           Field{"pieces", &Schedule::pieces},
                                           Field{"shifts", &Schedule::shifts},
                                           Field{"peer_loops", &Schedule::peer_loops},
                                           Field{"slots", &Schedule::slot_count},
                                           Field{"segments", &Schedule::segments, {1}},
                                           Field{"window", &Schedule::window, {1}},
                                           Field{"frames", &Schedule::frames},
                                           Field{"loops", &Schedule::loops},
                                           Field{"iterations", &Schedule::iterations},
                                           Field{"operations", &Schedule::operations}};

/// Calls `visit(name, table of each view)` for all tables of a file but links.
template <typename Visit, typename... Views>
void forEachTable(Visit visit, Views&... views) {
  const auto visitTable = [&](const auto& field) {
    if constexpr (!std::is_same_v<decltype(field.member), decltype(&ScheduleView::segments)>) {
      visit(field.key, views.*field.member...);
    }
  };
  std::apply([&](const auto&... fields) { (visitTable(fields), ...); }, kTables<ScheduleView>);
  visit("dependences", views.dependences...);
}

}  // namespace torc

#endif  // TORC_SCHEDULES_FIELDS_H_
