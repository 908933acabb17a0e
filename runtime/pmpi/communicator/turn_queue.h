// Turn queue: puts actions of a communicator that involve other ranks into the same order on all
// ranks.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_TURN_QUEUE_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_TURN_QUEUE_H_

#include <algorithm>
#include <deque>

#include "runtime/pmpi/process/engine_lock.h"

namespace torc::runtime::pmpi {

/// An entry of the queue.
class Turn {
 public:
  virtual ~Turn() = default;
  /// At the head of the queue: makes progress. True: leaves the queue, and may be freed.
  virtual bool proceed() TORC_REQUIRES(engine_lock) = 0;
  /// Its call has failed: leaves the queue.
  virtual void giveUp() TORC_REQUIRES(engine_lock) = 0;
  /// Whether its call has failed.
  virtual bool hasFailed() const TORC_REQUIRES(engine_lock) = 0;
};

class TurnQueue {
 public:
  bool isEmpty() const { return turns_.empty(); }

  /// True: the queue was empty, and the turn stays at its head. Throws.
  bool enter(Turn* turn) TORC_REQUIRES(engine_lock) {
    turns_.push_back(turn);
    if (turns_.size() > 1) return false;
    // The turn is at the head of the queue even if it leaves at once.
    return !proceed();
  }
  void leave(Turn* turn) { std::erase(turns_, turn); }
  /// Gives up the turns whose calls have failed.
  void giveUpFailed() TORC_REQUIRES(engine_lock) {
    for (;;) {
      const auto failed = std::ranges::find_if(turns_, &Turn::hasFailed);
      if (failed == turns_.end()) return;
      (*failed)->giveUp();
    }
  }
  /// Makes progress; true when the queue is empty.
  bool proceed() TORC_REQUIRES(engine_lock) {
    while (!turns_.empty() && turns_.front()->proceed())
      turns_.pop_front();
    return turns_.empty();
  }

 private:
  std::deque<Turn*> turns_;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_TURN_QUEUE_H_
