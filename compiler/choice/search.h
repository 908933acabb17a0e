// Searches: sequences of candidates of one family, each chosen by the times of earlier ones.
#ifndef TORC_COMPILER_CHOICE_SEARCH_H_
#define TORC_COMPILER_CHOICE_SEARCH_H_

#include <coroutine>
#include <utility>
#include <variant>

#include "compiler/choice/candidate.h"
#include "compiler/choice/choice.h"
#include "compiler/choice/trials.h"

namespace torc::compiler {

/// A coroutine whose proposals the loop of choice.cc handles one by one. It tries a candidate, or
/// only lists it if it already has a refusal; it records options that are left out; it follows a
/// nested search to its end.
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

  /// The next proposal; null at the end, after which no call is allowed.
  Proposal* next();

 private:
  explicit Search(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}

  std::coroutine_handle<promise_type> coroutine_;
};

/// The coroutine interface that C++ requires.
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
  // g++ 12 destroys temporary aggregates in a co_yield twice: so proposals must be named variables.
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

// Searches of an algorithm, by the form of its plan; `trials` and the other arguments must outlive
// them.

/// Fixed steps, in more and more chunks.
Search searchSteps(const Trials& trials, const Algorithm& algorithm);
/// Pipelines along trees, in segments, by all cores of a node or by its leader.
Search searchTrees(const Trials& trials, const Algorithm& algorithm, bool has_leaders);
/// Exchanges, in more and more segments.
Search searchExchanges(const Trials& trials, const Algorithm& algorithm);
/// Rounds, in both directions and in one.
Search searchRounds(const Trials& trials, const Algorithm& algorithm);
/// Other steps, executed by the leader of a node for all of its cores.
Search searchLeaders(const Trials& trials, const Algorithm& algorithm);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_SEARCH_H_
