#include "tests/runtime/pmpi/programs/activities/communicators.h"

#include <numeric>

#include "tests/runtime/pmpi/programs/random/record.h"

namespace programs {
namespace {

constexpr size_t kMost = 9;

/// MPI_Comm_split with colors and keys drawn from `key`, the same on every rank for every rank.
void split(const Communicator& parent, Communicator& made, int way, uint64_t key, int call) {
  const int rank = parent.rank, size = parent.size();
  int color = 0, order = rank;
  switch (way) {
    case 0:
      made.name = "rows";
      color = rank / 2;
      break;
    case 1:
      made.name = "columns";
      color = rank % 2;
      break;
    case 2:
      made.name = "all but one";
      color = rank == static_cast<int>(key % static_cast<uint64_t>(size)) ? MPI_UNDEFINED : 0;
      break;
    case 3:
      made.name = "reversed";
      order = -rank;
      break;
    case 4:
      made.name = "shuffled";
      order = static_cast<int>(mix(key, parent.members[rank]) % 5);
      break;
    default:
      made.name = "any colors";
      color = static_cast<int>(mix(key, parent.members[rank]) % 2);
      order = -rank;
      break;
  }
  check(MPI_Comm_split(parent.handle, color, order, &made.handle), call, "MPI_Comm_split");
}

/// A random subset of the parent, which every member of the parent knows.
MPI_Group drawGroup(const Communicator& parent, uint64_t key, bool& has_me) {
  std::vector<int> ranks;
  has_me = false;
  for (int rank = 0; rank < parent.size(); ++rank) {
    if (rank > 0 && mix(key, rank) % 3 == 0) continue;
    ranks.push_back(rank);
    has_me = has_me || rank == parent.rank;
  }
  if (key % 2 == 0) std::swap(ranks.front(), ranks.back());
  MPI_Group all, group;
  MPI_Comm_group(parent.handle, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&all);
  return group;
}

void makeGrid(const Communicator& parent, Communicator& made, int call) {
  int sizes[2] = {0, 0};
  const int periodic[2] = {1, 0};
  MPI_Dims_create(parent.size(), 2, sizes);
  made.name = "grid";
  made.is_grid = true;
  check(MPI_Cart_create(parent.handle, 2, sizes, periodic, 0, &made.handle), call,
        "MPI_Cart_create");
}

/// One of the ways to make a communicator; every member of the parent calls it.
void makeFrom(const Communicator& parent, Communicator& made, int way, uint64_t key, int call) {
  if (way < 2) {
    made.name = "dup";
    check(MPI_Comm_dup(parent.handle, &made.handle), call, "MPI_Comm_dup");
  } else if (way == 2) {
    made.name = "idup";
    made.members = parent.members;
    made.rank = parent.rank;
    check(MPI_Comm_idup(parent.handle, &made.handle, &made.request), call, "MPI_Comm_idup");
  } else if (way < 9) {
    split(parent, made, way - 3, key, call);
  } else if (way == 9 || way == 10) {
    bool has_me = false;
    MPI_Group group = drawGroup(parent, key, has_me);
    if (way == 9) {
      made.name = "create";
      check(MPI_Comm_create(parent.handle, group, &made.handle), call, "MPI_Comm_create");
    } else {
      made.name = "create_group";
      if (has_me)
        check(MPI_Comm_create_group(parent.handle, group, 3, &made.handle), call,
              "MPI_Comm_create_group");
    }
    MPI_Group_free(&group);
  } else if (way == 11 || !parent.is_grid) {
    makeGrid(parent, made, call);
  } else {
    made.name = "line of a grid";
    const int kept[2] = {key % 2 == 0, key % 2 != 0};
    check(MPI_Cart_sub(parent.handle, kept, &made.handle), call, "MPI_Cart_sub");
  }
}

/// Finds out this rank's place and the other members.
void learn(Communicator& made) {
  if (made.handle == MPI_COMM_NULL) return;
  int size = 0;
  MPI_Comm_rank(made.handle, &made.rank);
  MPI_Comm_size(made.handle, &size);
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  made.members.resize(size);
  MPI_Group group, world;
  MPI_Comm_group(made.handle, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, size, ranks.data(), world, made.members.data());
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

}  // namespace

Communicators::Communicators(MPI_Comm world, MPI_Comm self) {
  for (const MPI_Comm handle : {world, self}) {
    auto one = std::make_unique<Communicator>();
    one->identity = next_identity_++;
    one->name = handle == world ? "the world" : "this rank alone";
    one->handle = handle;
    learn(*one);
    all_.push_back(std::move(one));
  }
}

Communicators::~Communicators() {
  for (size_t i = 2; i < all_.size(); ++i) {
    if (!all_[i]->hasMe()) continue;
    MPI_Wait(&all_[i]->request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&all_[i]->handle);
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
    if (all_[index]->is_grid) return static_cast<int>(index);
  }
  return 0;
}

Communicator& Communicators::use(int index, int call) {
  Communicator& one = *all_[index];
  if (one.request != MPI_REQUEST_NULL)
    check(MPI_Wait(&one.request, MPI_STATUS_IGNORE), call, "MPI_Wait for MPI_Comm_idup");
  return one;
}

void Communicators::countPersistent(int identity, int change) {
  for (const auto& one : all_)
    if (one->identity == identity) one->persistent_calls += change;
}

std::string Communicators::make(Random& common, int call) {
  const int parent_index = drawIndex(common);
  const int way = common.below(13);
  const uint64_t key = common.next();
  if (all_.size() >= kMost) return "";
  Communicator& parent = use(parent_index, call);
  auto made = std::make_unique<Communicator>();
  made->identity = next_identity_++;
  // Ranks outside of the parent know that it is there, and no more.
  made->is_grid = way == 11 || (way == 12 && !parent.is_grid);
  if (parent.hasMe()) makeFrom(parent, *made, way, key, call);
  made->name += " of " + parent.name;
  if (made->request == MPI_REQUEST_NULL) learn(*made);
  all_.push_back(std::move(made));
  return all_.back()->name;
}

std::string Communicators::freeOne(Random& common, int call) {
  const int index = drawIndex(common);
  if (index < 2 || all_[index]->persistent_calls > 0) return "";
  Communicator& one = use(index, call);
  if (one.hasMe()) check(MPI_Comm_free(&one.handle), call, "MPI_Comm_free of " + one.name);
  const std::string name = one.name;
  all_.erase(all_.begin() + index);
  return name;
}

}  // namespace programs
