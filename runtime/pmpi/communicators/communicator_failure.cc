// Failures of a communicator's calls: how ranks that wait find out, and how what has failed on one
// fails on all.
#include <algorithm>
#include <string>

#include "runtime/api/api.h"
#include "runtime/pmpi/calls/call_report.h"
#include "runtime/pmpi/communicators/communicator_state.h"
#include "runtime/pmpi/job/engine.h"
#include "runtime/pmpi/statistics/report.h"
#include "support/message.h"

namespace torc::pmpi {

const CallNote* CommunicatorState::noteOf(std::uint64_t call) const {
  const CallNote& note = notes_[call % kNotes];
  return note.number == call ? &note : nullptr;
}

void CommunicatorState::note(CollectiveCall& call, const CallNote& known) {
  call.number = ++calls_made_;
  CallNote& note = notes_[call.number % kNotes] = known;
  note.number = call.number;
  if (asks_.empty()) return;
  const std::vector<Notice> asks = std::exchange(asks_, {});
  for (const Notice& ask : asks) {
    if (ask.call.number == call.number) {
      compare(note, ask);
    } else if (ask.call.number > call.number) {
      asks_.push_back(ask);
    }
  }
}

int CommunicatorState::worldRank(int rank) const {
  MPI_Group group = MPI_GROUP_NULL;
  int there = MPI_UNDEFINED;
  const MPI_Comm same = isSetUp() ? shadow() : comm_;
  if (same == MPI_COMM_NULL || PMPI_Comm_group(same, &group) != MPI_SUCCESS) return there;
  PMPI_Group_translate_ranks(group, 1, &rank, engine->library->world, &there);
  PMPI_Group_free(&group);
  return there;
}

void CommunicatorState::send(int to, Notice& notice) {
  notice.communicator = id_;
  notice.from = rank_;
  notice.calls = calls_made_;
  if (const int there = worldRank(to); there != MPI_UNDEFINED) engine->notices.send(there, notice);
}

void CommunicatorState::ask(int to, const CollectiveCall& call) {
  if (id_ == 0) return;
  Notice notice;
  notice.kind = NoticeKind::kAsk;
  if (const CallNote* mine = noteOf(call.number); mine != nullptr) {
    notice.call = *mine;
    send(to, notice);
  }
}

void CommunicatorState::take(const Notice& notice) {
  switch (notice.kind) {
    case NoticeKind::kAnswer:
      answers_[notice.from] = notice.calls;
      return;
    case NoticeKind::kFailed:
      fail({notice.call.number, notice.code, notice.text}, notice.from);
      return;
    case NoticeKind::kAsk:
      break;
  }
  Notice answer;
  answer.kind = NoticeKind::kAnswer;
  answer.call = notice.call;
  send(notice.from, answer);
  if (notice.call.number <= calls_made_) {
    if (const CallNote* mine = noteOf(notice.call.number)) compare(*mine, notice);
  } else if (engine->is_ending) {
    fail({notice.call.number, MPI_ERR_OTHER,
          message("rank ", notice.from, " makes ", pmpi::describe(notice.call), ", rank ", rank_,
                  " is in MPI_Finalize after ", calls_made_,
                  calls_made_ == 1 ? " call" : " calls")});
  } else {
    asks_.push_back(notice);
  }
}

/// Whether a waiting rank's call is the same as this rank's.
void CommunicatorState::compare(const CallNote& mine, const Notice& asked) {
  if (mine.isLike(asked.call) || hasFailed(mine.number)) return;
  fail({mine.number, mine.bytes == asked.call.bytes ? MPI_ERR_OTHER : MPI_ERR_TRUNCATE,
        message("rank ", asked.from, " makes ", pmpi::describe(asked.call), ", rank ", rank_,
                " makes ", pmpi::describe(mine))});
}

void CommunicatorState::fail(Failure failure, int from) {
  if (hasFailed(failure.call)) return;
  failure_ = std::move(failure);
  failed_from_.store(failure_.call, std::memory_order_release);
  engine->has_failed_states = true;
  if (from >= 0) return;
  complain(words("call ", failure_.call, " on ", description_, ": ", failure_.text));
  if (id_ == 0) return;
  Notice notice;
  notice.kind = NoticeKind::kFailed;
  notice.call.number = failure_.call;
  notice.code = failure_.code;
  notice.setText(failure_.text);
  // Where memory has run out, the others ask in the end.
  static_cast<void>(attempt([&]() -> Status {
    for (int rank = 0; rank < size_; ++rank) {
      if (rank != rank_) send(rank, notice);
    }
    return {};
  }));
}

std::string CommunicatorState::answerOf(int rank) const {
  const auto answer = answers_.find(rank);
  if (answer == answers_.end()) return {};
  return message("which has made ", answer->second,
                 answer->second == 1 ? " call there" : " calls there");
}

}  // namespace torc::pmpi
