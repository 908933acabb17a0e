// PostedReceives: a core's posted receives of a round, and its queue of unexpected messages, both
// searched linearly from the first, as in MPI libraries.
#ifndef TORC_STUDIES_CLUSTER_POSTED_RECEIVES_H_
#define TORC_STUDIES_CLUSTER_POSTED_RECEIVES_H_

#include <cstdint>
#include <deque>
#include <vector>

namespace torc::studies {

class PostedReceives {
 public:
  /// A message of a later round for the `posted`-th receive of that round.
  void arriveEarly(std::uint64_t round, std::uint64_t posted, double bytes) {
    early_.push_back({round, posted, bytes});
  }

  struct Found {
    std::uint64_t messages = 0;
    double bytes = 0;
    std::uint64_t searched = 0;  // entries examined without a match
  };
  /// Posts all receives of a round, each of which searches the unexpected messages.
  Found post(std::uint64_t round, std::uint64_t receives) {
    tree_.assign(receives + 1, 0);
    for (std::uint64_t i = 1; i <= receives; ++i)
      tree_[i] = static_cast<std::uint32_t>(i & -i);
    Found found;
    for (std::uint64_t i = 0; i < receives && !early_.empty(); ++i) {
      auto it = early_.begin();
      for (; it != early_.end() && !(it->round == round && it->posted == i); ++it)
        ++found.searched;
      if (it == early_.end()) continue;
      ++found.messages;
      found.bytes += it->bytes;
      early_.erase(it);
      take(i);
    }
    return found;
  }

  /// Removes the `posted`-th receive from the queue: returns the number of receives before it.
  std::uint64_t take(std::uint64_t posted) {
    std::uint64_t before = 0;
    for (std::uint64_t i = posted; i > 0; i -= i & -i)
      before += tree_[i];
    for (std::uint64_t i = posted + 1; i < tree_.size(); i += i & -i)
      --tree_[i];
    return before;
  }

 private:
  struct Early {
    std::uint64_t round, posted;
    double bytes;
  };

  std::vector<std::uint32_t> tree_;  // sums of open receives (a Fenwick tree)
  std::deque<Early> early_;
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_POSTED_RECEIVES_H_
