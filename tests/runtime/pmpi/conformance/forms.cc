// Every form of every call, on communicators of every make: collective x blocking, nonblocking,
// persistent x int and MPI_Count arguments x in place or not, with datatypes, operations and counts
// in turn, so that each meets each. Every byte of every buffer is checked.
#include <algorithm>
#include <iterator>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/fixture.h"
#include "tests/runtime/pmpi/mpi_calls/mpi_faults.h"

namespace conformance {
namespace {

/// Spellings of one signature: any of them may send, any may receive.
using Family = std::vector<Layout>;

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {Layout::predefined(Kind::kInt32), Layout::contiguous(3, Kind::kInt32),
       Layout::vector(2, 2, 3, Kind::kInt32), Layout::resized(3, Kind::kInt32),
       Layout::around(Kind::kInt32), Layout::nested(3, Kind::kInt32)},
      {Layout::predefined(Kind::kDouble), Layout::around(Kind::kDouble),
       Layout::contiguous(4, Kind::kDouble)},
      {Layout::structure(8, 0), Layout::structure(16, 8)},
      {Layout::predefined(Kind::kByte)},
      {Layout::predefined(Kind::kLongDouble), Layout::vector(3, 1, 2, Kind::kLongDouble)},
      {Layout::predefined(Kind::kDoubleInt)},
  };
  return all;
}

constexpr int64_t kCounts[] = {0, 1, 13, 4001};
/// Beyond one packet, and in more than one fragment for any schedule; only in some of the cases.
constexpr int64_t kLarge = 40009;

class Forms {
 public:
  /// All forms on one communicator; `index`: its number, on all ranks.
  void runForms(const Communicator& communicator, int index) {
    // Ranks outside of a communicator run fewer cases: the turns begin anew.
    turn_ = index * 5;
    case_ = index;
    thorough_ = communicator.is_box && index % 3 == 0;
    for (const Collective& collective : collectives()) {
      if (collective.isBarrier() || (collective.isOfNeighbours() && !communicator.is_grid))
        continue;
      for (const Form form : kForms)
        for (const bool wide : {false, true})
          for (const bool in_place : {false, true})
            if (!in_place || collective.hasInPlace())
              runCounts(communicator, {&collective, form, wide, in_place});
    }
  }

  /// All datatypes and operations, with forms in turn.
  void runTypes(const Communicator& communicator) {
    size_t turn = 0;
    for (const Reduction& reduction : reductions()) {
      for (int i = 0; i < 6; ++i, ++turn) {
        Shape shape{&collectives()[turn % kReductionCount], kForms[turn / 3 % 3], i % 2 == 1,
                    i / 2 % 2 == 1};
        shape.reduction = reduction;
        shape.units = kCounts[1 + turn % 2];
        run(communicator, shape);
      }
    }
    for (const Family& family : families()) {
      for (size_t i = 0; i < family.size() * 6; ++i, ++turn) {
        constexpr int kMoving = kCollectiveCount - kReductionCount;
        const Collective& collective = collectives()[kReductionCount + turn % kMoving];
        Shape shape{&collective, kForms[turn / 2 % 3], i % 2 == 1,
                    i / 2 % 2 == 1 && collective.hasInPlace(), static_cast<int>(turn)};
        shape.spellings = family;
        shape.units = kCounts[1 + turn % 2];
        shape.key = turn;
        run(communicator, shape);
      }
    }
  }

 private:
  void runCounts(const Communicator& communicator, Shape shape) {
    // All counts where calls are served, one in turn elsewhere: more ranks than cores wait long.
    const size_t counts = thorough_ ? std::size(kCounts) : 1;
    for (size_t i = 0; i < counts; ++i, ++turn_) {
      shape.root = static_cast<int>(turn_);
      shape.key = turn_;
      const int64_t count = turn_ % 41 == 40 ? kLarge : kCounts[turn_ % std::size(kCounts)];
      if (shape.collective->reduces()) {
        shape.reduction = reductions()[turn_ * 7 / 2 % reductions().size()];
        shape.units = count;
      } else {
        shape.spellings = families()[turn_ % families().size()];
        shape.setAtoms(count);
      }
      run(communicator, shape);
    }
  }

  void run(const Communicator& communicator, Shape shape) {
    if (case_++ % shares_ != 0) return;
    shape.rounds = shape.isPersistent() ? 3 : 1;
    avoidFaults(shape, communicator.is_box && !plain_, communicator.is_inter);
    Call call(shape, communicator);
    for (int round = 0; round < shape.rounds; ++round)
      call.run();
  }

  const bool plain_ = isPlain();
  // Each so many cases where ranks have no core of their own: they wait long. Forms come in turns
  // of two and three, so the number is odd.
  const int shares_ = plain_ ? 2 : (torc::worldSize() * (torc::worldSize() + 1) / 6) | 1;
  bool thorough_ = false;
  size_t turn_ = 0;
  int case_ = 0;
};

TEST_F(Conformance, Forms) {
  std::vector<Communicator> communicators = makeCommunicators(gridOfWorld());
  Forms forms;
  forms.runTypes(communicators.front());
  for (size_t i = 0; i < communicators.size(); ++i)
    if (communicators[i].hasMe()) forms.runForms(communicators[i], static_cast<int>(i));
  freeCommunicators(communicators);
}

}  // namespace
}  // namespace conformance
