// Searches: what of a family of forms is tried next, given what the last ones took.
#ifndef TORC_COMPILER_CHOICE_SEARCH_H_
#define TORC_COMPILER_CHOICE_SEARCH_H_

#include <coroutine>
#include <utility>
#include <variant>

#include "compiler/choice/candidate.h"
#include "compiler/choice/choice.h"
#include "compiler/choice/trials.h"

namespace torc::compiler {

/// A coroutine whose proposals the loop of choice.cc follows, each before it asks for the next: a
/// candidate is tried, or only listed if it has a refusal already; what is left out is noted; a
/// search is followed to its end.
class Search {
 public:
  struct promise_type;
  using Proposal = std::variant<Candidate, LeftOut, Search>;

  Search(Search&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Search& operator=(Search&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~Search() {
    if (coroutine_) coroutine_.destroy();
  }

  /// The next proposal; null: there is none. Not to be called again then.
  Proposal* next();

 private:
  explicit Search(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}

  std::coroutine_handle<promise_type> coroutine_;
};

/// What the language asks of the coroutines that make searches.
struct Search::promise_type {
  Proposal proposal;

  Search get_return_object() {
    return Search(std::coroutine_handle<promise_type>::from_promise(*this));
  }
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  std::suspend_always yield_value(const Candidate& candidate) { return propose(candidate); }
  std::suspend_always yield_value(const LeftOut& thing) { return propose(thing); }
  std::suspend_always yield_value(Search search) { return propose(std::move(search)); }
  // g++ 12 destroys temporary aggregates in a co_yield twice: what is proposed has a name.
  void yield_value(Candidate&&) = delete;
  void yield_value(LeftOut&&) = delete;
  void return_void() {}
  void unhandled_exception() { throw; }

 private:
  template <typename Value>
  std::suspend_always propose(Value&& value) {
    proposal = std::forward<Value>(value);
    return {};
  }
};

inline Search::Proposal* Search::next() {
  coroutine_.resume();
  return coroutine_.done() ? nullptr : &coroutine_.promise().proposal;
}

// Searches of an algorithm, by the form of its plan; `trials` and what else they are given must
// outlive them.

/// Steps that are settled, in ever more chunks.
Search searchSteps(const Trials& trials, const Algorithm& algorithm);
/// Pipelines along trees, in segments, by all cores of a node or by the first one for all of them.
Search searchTrees(const Trials& trials, const Algorithm& algorithm, bool has_leaders);
/// Exchanges, in ever more segments.
Search searchExchanges(const Trials& trials, const Algorithm& algorithm);
/// Rounds, in both directions and in one.
Search searchRounds(const Trials& trials, const Algorithm& algorithm);
/// Other steps, executed by the first core of a node for all of them.
Search searchLeaders(const Trials& trials, const Algorithm& algorithm);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_SEARCH_H_
