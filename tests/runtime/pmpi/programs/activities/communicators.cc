#include "tests/runtime/pmpi/programs/activities/communicators.h"

#include "tests/runtime/pmpi/mpi_calls/checks.h"

namespace programs {
namespace {

constexpr size_t kMost = 9;

}  // namespace

Communicators::Communicators(MPI_Comm world, MPI_Comm self) {
  for (const MPI_Comm handle : {world, self}) {
    auto one = std::make_unique<Known>();
    one->identity = next_identity_++;
    one->communicator.name = handle == world ? "the world" : "this rank alone";
    one->communicator.handle = handle;
    one->communicator.learn();
    all_.push_back(std::move(one));
  }
}

Communicators::~Communicators() {
  for (size_t i = 2; i < all_.size(); ++i) {
    Communicator& one = all_[i]->communicator;
    if (!one.hasMe()) continue;
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&one.handle);
  }
}

int Communicators::drawIndex(Random& common) {
  // MPI_COMM_SELF seldom.
  if (common.chance(3)) return 1;
  const int index = common.below(static_cast<int>(all_.size()));
  return index == 1 ? 0 : index;
}

int Communicators::drawGrid(Random& common) {
  const int first = common.below(static_cast<int>(all_.size()));
  for (size_t i = 0; i < all_.size(); ++i) {
    const size_t index = (first + i) % all_.size();
    if (all_[index]->communicator.is_grid) return static_cast<int>(index);
  }
  return 0;
}

const Communicator& Communicators::use(int index) {
  all_[index]->communicator.complete();
  return all_[index]->communicator;
}

void Communicators::countPersistent(int identity, int change) {
  for (const auto& one : all_)
    if (one->identity == identity) one->persistent_calls += change;
}

std::string Communicators::make(Random& common) {
  const int parent = drawIndex(common);
  // Many whose ranks are in another order.
  const int way =
      common.chance(35) ? common.between(kFirstReordered, kLastReordered) : common.below(kWays);
  const uint64_t key = common.next();
  if (all_.size() >= kMost) return "";
  auto made = std::make_unique<Known>();
  made->identity = next_identity_++;
  makeFrom(use(parent), way, key, made->communicator);
  all_.push_back(std::move(made));
  return all_.back()->communicator.name;
}

std::string Communicators::freeOne(Random& common) {
  const int index = drawIndex(common);
  if (index < 2 || all_[index]->persistent_calls > 0) return "";
  use(index);
  Communicator& one = all_[index]->communicator;
  if (one.hasMe()) checkCall(MPI_Comm_free(&one.handle), "MPI_Comm_free of " + one.name);
  const std::string name = one.name;
  all_.erase(all_.begin() + index);
  return name;
}

}  // namespace programs
