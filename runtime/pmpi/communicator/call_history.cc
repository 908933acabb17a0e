// Call history: its notices to waiting ranks.
#include "runtime/pmpi/communicator/call_history.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

std::size_t indexOf(CallId id) {
  return static_cast<std::size_t>(id);
}

Notice noticeOf(const CallFailure& failure) {
  Notice notice{.kind = NoticeKind::kFailed,
                .call = failure.call,
                .refused = failure.refused,
                .code = failure.code};
  std::snprintf(notice.text, sizeof(notice.text), "%s", failure.text.c_str());
  return notice;
}

/// Whether the call is one of the `refused` calls of its function after the `made`-th on another
/// rank. MPI may have refused some of them on this rank, too, before the call.
bool isRefused(const CallNote& call, std::uint64_t made, std::uint64_t refused) {
  return call.ordinal > made && call.ordinal + call.refused <= made + refused;
}

}  // namespace

const CallNote* CallHistory::noteOf(CallId id, std::uint64_t ordinal) const {
  const auto found = std::ranges::find_if(
      notes_, [&](const CallNote& note) { return note.id == id && note.ordinal == ordinal; });
  return found == notes_.end() ? nullptr : &*found;
}

std::uint64_t CallHistory::note(CallId id, const CallNote& known) {
  ++calls_made_;
  if (has_failures_to_come_) skipFailures(id);
  const std::uint64_t ordinal = ++made_[indexOf(id)];
  CallNote& note = notes_[calls_made_ % kNotes] = known;
  note.number = calls_made_;
  note.ordinal = ordinal;
  note.refused = 0;
  note.stands_still = false;
  if (refused_[indexOf(id)].calls > 0) {
    const Refused before = std::exchange(refused_[indexOf(id)], {});
    note.refused = before.calls;
  }
  if (has_refused.load(std::memory_order_relaxed)) owner_.hasGoneOn();
  if (!asks_.empty()) answerAsks();
  return ordinal;
}

void CallHistory::noteRefused(CallId id) {
  ++calls_refused_;
  ++refused_[indexOf(id)].calls;
}

void CallHistory::setTold(Refused& refused, std::uint64_t told) {
  refused.told = told;
  has_told_ = std::ranges::any_of(refused_, [](const Refused& of) { return of.told > 0; });
}

void CallHistory::tellRefused() {
  for (std::size_t i = 0; i < refused_.size(); ++i) {
    if (refused_[i].told == refused_[i].calls) continue;
    setTold(refused_[i], refused_[i].calls);
    sendRefused(static_cast<CallId>(i), refused_[i].calls);
  }
  answerAsks();
}

bool CallHistory::recall(CallId id) {
  Refused& refused = refused_[indexOf(id)];
  if (refused.told == 0) return false;
  setTold(refused, 0);
  recalls_under_way_ = size_ - 1;
  sendRefused(id, 0);
  return true;
}

/// Sends the number of calls of a function that MPI has refused after this rank's last one.
void CallHistory::sendRefused(CallId id, std::uint64_t calls) {
  sendToAll({.kind = NoticeKind::kRefused,
             .call = {.ordinal = made_[indexOf(id)], .refused = calls, .id = id}});
}

void CallHistory::takeRefused(const Notice& notice) {
  std::erase_if(refused_elsewhere_, [&](const Notice& earlier) {
    return earlier.from == notice.from && earlier.call.id == notice.call.id;
  });
  if (notice.call.refused == 0) return send(notice.from, 1, {.kind = NoticeKind::kRecalled});
  refused_elsewhere_.push_back(notice);
  endRefused();
}

void CallHistory::standsStill(const CollectiveCall& call) {
  for (CallNote& note : notes_) {
    if (note.id == call.id() && note.ordinal == call.ordinal) note.stands_still = true;
  }
  endRefused();
}

/// Ends calls that stall here and that MPI has refused elsewhere. If the program repeats the call
/// there correctly, that rank has recalled its notice.
void CallHistory::endRefused() {
  for (const Notice& there : refused_elsewhere_) {
    for (const CallNote& mine : notes_) {
      if (!mine.stands_still || mine.id != there.call.id) continue;
      if (!isRefused(mine, there.call.ordinal, there.call.refused)) continue;
      const CallFailure failure = {
          mine, calls_refused_, kRefused,
          message(pmpi::describe(mine), ", MPI has refused it on rank ", there.from)};
      if (!remember(failure)) continue;
      if (codeOf(failure) != MPI_SUCCESS) complainOf(failure);
      Notice notice = noticeOf(failure);
      notice.kind = NoticeKind::kOver;
      send(there.from, 1, notice);
    }
  }
}

/// A call that MPI has refused on this rank has ended elsewhere, and so it ends on all ranks: also
/// here, if the program has made it in the meantime.
void CallHistory::takeOver(const Notice& notice) {
  const CallFailure failure = {notice.call, notice.refused, kRefused, notice.text};
  if (!remember(failure)) return;
  spread(failure, nullptr);
  const auto [id, ordinal] = std::pair(failure.call.id, failure.call.ordinal);
  std::uint64_t& made = made_[indexOf(id)];
  if (ordinal <= made) return complainOf(failure);
  Refused& refused = refused_[indexOf(id)];
  refused.calls -= std::min(refused.calls, ordinal - made);
  setTold(refused, std::min(refused.told, refused.calls));
  made = ordinal;
}

int CallHistory::codeOf(const CallFailure& failure) const {
  if (failure.code != kRefused) return failure.code;
  const CallNote& call = failure.call;
  const bool only_sends = call.root >= 0 && call.root != rank_ &&
                          rowOf(collectiveOf(call.id)).outAt(/*at_root=*/false) == Holds::kNothing;
  return only_sends ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/// This rank's next call has the function `next`. Skips calls that have failed on other ranks and
/// were replaced by others on this rank.
void CallHistory::skipFailures(CallId next) {
  has_failures_to_come_ = false;
  for (const auto& [call, refused, code, text] : failures_) {
    std::uint64_t& made = made_[indexOf(call.id)];
    if (call.ordinal <= made) continue;
    const std::uint64_t latest = call.number + refused;
    if (latest < calls_made_ || (latest == calls_made_ && call.id != next)) {
      made = call.ordinal;
    } else if (call.ordinal > made + (call.id == next ? 1 : 0)) {
      has_failures_to_come_ = true;
    }
  }
}

void CallHistory::send(int first, int count, Notice notice) const {
  notice.from = rank_;
  notice.calls = calls_made_;
  owner_.send(first, count, notice);
}

void CallHistory::ask(int to, const CollectiveCall& call) {
  const CallNote* mine = noteOf(call.id(), call.ordinal);
  if (mine == nullptr) return;
  send(to, 1, {.kind = NoticeKind::kAsk, .call = *mine, .refused = calls_refused_});
}

void CallHistory::take(const Notice& notice) {
  switch (notice.kind) {
    case NoticeKind::kAnswer:
      answers_[notice.from] = {notice.calls, notice.refused};
      return;
    case NoticeKind::kFailed:
      remember({notice.call, notice.refused, notice.code, notice.text});
      if (notice.instead.number > 0) {
        remember({notice.instead, notice.refused_instead, notice.code, notice.text});
      }
      return;
    case NoticeKind::kRefused:
      return takeRefused(notice);
    case NoticeKind::kRecalled:
      recalls_under_way_ = std::max(0, recalls_under_way_ - 1);
      return;
    case NoticeKind::kOver:
      return takeOver(notice);
    case NoticeKind::kAsk:
      break;
  }
  send(notice.from, 1,
       {.kind = NoticeKind::kAnswer, .call = notice.call, .refused = calls_refused_});
  if (!consider(notice)) asks_.push_back(notice);
}

void CallHistory::answerAsks() {
  std::vector<Notice> asks = std::exchange(asks_, {});
  std::erase_if(asks, [&](const Notice& ask) TORC_REQUIRES(engine_lock) { return consider(ask); });
  asks_.insert(asks_.end(), asks.begin(), asks.end());
}

/// Compares the call of a waiting rank with this rank's own, and fails it if they differ. False:
/// this rank has not come to that call yet.
bool CallHistory::consider(const Notice& asked) {
  const CallNote& call = asked.call;
  if (call.ordinal <= made_[indexOf(call.id)]) {
    // A forgotten call ended long ago.
    const CallNote* mine = noteOf(call.id, call.ordinal);
    if (mine != nullptr && !mine->isLike(call)) differ(*mine, asked);
    return true;
  }
  if (owner_.isEnding()) {
    fail(failureOfAsked(asked, message("rank ", rank_, " is in MPI_Finalize after ", calls_made_,
                                       calls_made_ == 1 ? " call" : " calls")));
    return true;
  }
  // Calls come in the same order on all ranks. A call's number holds for a rank only if MPI has
  // refused no call there.
  if (calls_refused_ > 0 || asked.refused > 0 || call.number > calls_made_) return false;
  const CallNote& mine = notes_[call.number % kNotes];
  if (mine.number == call.number) differ(mine, asked);
  return true;
}

/// Fails a call for which another rank waits, together with this rank's call in its place. All
/// ranks get both in one notice: none may leave one of them and match it with the other.
void CallHistory::differ(const CallNote& mine, const Notice& asked) {
  const CallFailure instead = {mine, calls_refused_, MPI_ERR_OTHER,
                               message("rank ", asked.from, " makes ", pmpi::describe(asked.call))};
  fail(failureOfAsked(asked, message("rank ", rank_, " makes ", pmpi::describe(mine))), &instead);
}

CallFailure CallHistory::failureOfAsked(const Notice& asked, const std::string& text) const {
  const CallNote& call = asked.call;
  const CallNote* mine = noteOf(call.id, call.ordinal);
  const bool other_length = mine != nullptr && mine->bytes != call.bytes;
  std::string what = message("rank ", asked.from, " makes ", pmpi::describe(call), ", ", text);
  const CollectiveRow& row = rowOf(collectiveOf(call.id));
  if (other_length && row.describesOwn()) {
    what += message("; TORC_COLLECTIVES without ", row.name,
                    " leaves such calls to MPI, which takes less than there is room for");
  }
  return {call, asked.refused, other_length ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER, what};
}

void CallHistory::fail(const CollectiveCall& call, int code, const std::string& text) {
  CallNote note = noteOn(call);
  note.number = call.number;
  note.ordinal = call.ordinal;
  fail({note, calls_refused_, code, words(functionName(call), ": ", text)});
}

const CallFailure* CallHistory::failureOf(CallId id, std::uint64_t ordinal) const {
  const auto found = std::ranges::find_if(failures_, [&](const CallFailure& failure) {
    return failure.call.id == id && failure.call.ordinal == ordinal;
  });
  return found == failures_.end() ? nullptr : &*found;
}

/// The call has failed, and with it `instead`, the call of another rank in its place.
void CallHistory::fail(const CallFailure& failure, const CallFailure* instead) {
  const bool is_new = remember(failure);
  if (is_new) complainOf(failure);
  const bool other_is_new = instead != nullptr && remember(*instead);
  if (is_new || other_is_new) spread(failure, instead);
}

void CallHistory::complainOf(const CallFailure& failure) const {
  complain(words("call ", failure.call.number, " on ", owner_.description(), ": ", failure.text));
}

/// False: the failure was known.
bool CallHistory::remember(const CallFailure& failure) {
  if (failureOf(failure.call.id, failure.call.ordinal) != nullptr) return false;
  if (failures_.size() == kFailures) failures_.pop_front();
  failures_.push_back(failure);
  if (failure.call.ordinal > made_[indexOf(failure.call.id)]) has_failures_to_come_ = true;
  owner_.callHasFailed();
  return true;
}

/// Sends the failure to the other ranks.
void CallHistory::spread(const CallFailure& failure, const CallFailure* instead) {
  Notice notice = noticeOf(failure);
  if (instead != nullptr) {
    notice.instead = instead->call;
    notice.refused_instead = instead->refused;
  }
  sendToAll(notice);
}

/// If memory has run out, the other ranks learn of it when they ask.
void CallHistory::sendToAll(const Notice& notice) const {
  static_cast<void>(attempt([&]() TORC_REQUIRES(engine_lock) { send(0, size_, notice); }));
}

std::string CallHistory::answerOf(int rank) const {
  const auto answer = answers_.find(rank);
  if (answer == answers_.end()) return {};
  const auto [made, refused] = answer->second;
  std::string text = message("which has made ", made, made == 1 ? " call there" : " calls there");
  if (refused > 0) text += message(", and had ", refused, " more refused");
  return text;
}

}  // namespace torc::runtime::pmpi
