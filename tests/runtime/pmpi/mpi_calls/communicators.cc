#include "tests/runtime/pmpi/mpi_calls/communicators.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "tests/runtime/pmpi/mpi_calls/checks.h"
#include "tests/runtime/pmpi/mpi_calls/random.h"

namespace mpi_calls {
namespace {

void split(const Communicator& parent, int color, int order, Communicator& made) {
  checkCall(MPI_Comm_split(parent.handle, color, order, &made.handle), "MPI_Comm_split");
}

/// A grid of these sizes, the slowest first, which wraps where `periodic` says so, bit by bit.
void makeGrid(const Communicator& parent, std::vector<int> sizes, unsigned periodic, bool reorder,
              Communicator& made) {
  std::vector<int> periods;
  for (size_t i = 0; i < sizes.size(); ++i)
    periods.push_back(periodic >> i & 1);
  made.is_grid = true;
  checkCall(MPI_Cart_create(parent.handle, static_cast<int>(sizes.size()), sizes.data(),
                            periods.data(), reorder, &made.handle),
            "MPI_Cart_create");
}

/// A random subset of the parent, or its even ranks, which every member of the parent knows.
MPI_Group drawGroup(const Communicator& parent, uint64_t key, bool& has_me) {
  std::vector<int> ranks;
  for (int rank = 0; rank < parent.size(); ++rank)
    if (key == 0 ? rank % 2 == 0 : rank == 0 || mix(key, rank) % 3 != 0) ranks.push_back(rank);
  has_me = std::ranges::find(ranks, parent.rank) != ranks.end();
  if (key % 2 == 1) std::swap(ranks.front(), ranks.back());
  MPI_Group all, group;
  MPI_Comm_group(parent.handle, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&all);
  return group;
}

void makeFromGroup(const Communicator& parent, bool by_members, uint64_t key, Communicator& made) {
  bool has_me = false;
  MPI_Group group = drawGroup(parent, key, has_me);
  if (!by_members) {
    checkCall(MPI_Comm_create(parent.handle, group, &made.handle), "MPI_Comm_create");
  } else if (has_me) {
    checkCall(MPI_Comm_create_group(parent.handle, group, 3, &made.handle),
              "MPI_Comm_create_group");
  }
  MPI_Group_free(&group);
}

void makeRing(const Communicator& parent, Communicator& made) {
  const int size = parent.size();
  const int next = (parent.rank + 1) % size, previous = (parent.rank + size - 1) % size;
  checkCall(MPI_Dist_graph_create_adjacent(parent.handle, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made.handle),
            "MPI_Dist_graph_create_adjacent");
}

void merge(const Communicator& parent, Communicator& made) {
  if (parent.size() < 2) return split(parent, 0, 0, made);
  Communicator inter = makeInter(parent, true);
  checkCall(MPI_Intercomm_merge(inter.handle, parent.rank % 2 == 0, &made.handle),
            "MPI_Intercomm_merge");
  MPI_Comm_free(&inter.handle);
}

constexpr const char* kNames[kWays] = {
    "dup",          "dup_with_info", "idup",        "rows",        "columns",    "all but one",
    "reversed",     "shuffled",      "any colors",  "every third", "split_type", "create",
    "create_group", "grid",          "a dimension", "a graph",     "merged",     "reordered grid"};
enum Way {
  kIdup = 2,
  kAllButOne = 5,
  kAnyColors = 8,
  kEveryThird = 9,
  kCreate = 11,
  kGroup = 12,
  kLine = 14
};

void make(const Communicator& parent, int way, uint64_t key, Communicator& made) {
  const int rank = parent.rank, size = parent.size();
  const auto drawn = [&](uint64_t most) {
    return static_cast<int>(mix(key, parent.members[rank]) % most);
  };
  std::vector<int> sizes = {0, 0};
  switch (way) {
    case 0:
      return checkCall(MPI_Comm_dup(parent.handle, &made.handle), "MPI_Comm_dup");
    case 1:
      return checkCall(MPI_Comm_dup_with_info(parent.handle, MPI_INFO_NULL, &made.handle),
                       "MPI_Comm_dup_with_info");
    case kIdup:
      made.members = parent.members;
      made.rank = rank;
      return checkCall(MPI_Comm_idup(parent.handle, &made.handle, &made.request), "MPI_Comm_idup");
    case 3:
      return split(parent, rank / 2, rank, made);
    case 4:
      return split(parent, rank % 2, rank, made);
    case kAllButOne:
      return split(parent, rank == static_cast<int>(key % size) ? MPI_UNDEFINED : 0, rank, made);
    case 6:
      return split(parent, 0, -rank, made);
    case 7:
      return split(parent, 0, drawn(1009), made);
    case kAnyColors:
      return split(parent, drawn(2), -rank, made);
    case kEveryThird:
      return split(parent, rank % 3 == 0, -rank, made);
    case 10:
      return checkCall(MPI_Comm_split_type(parent.handle, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                                           &made.handle),
                       "MPI_Comm_split_type");
    case kCreate:
    case kGroup:
      return makeFromGroup(parent, way == kGroup, key, made);
    case kLine:
      if (parent.is_grid) {
        const int kept[2] = {key % 2 == 0, key % 2 != 0};
        return checkCall(MPI_Cart_sub(parent.handle, kept, &made.handle), "MPI_Cart_sub");
      }
      [[fallthrough]];
    case 13:
    case 17:
      MPI_Dims_create(size, 2, sizes.data());
      return makeGrid(parent, sizes, way == 17 ? 3 : 1, way == 17, made);
    case 15:
      return makeRing(parent, made);
    default:
      return merge(parent, made);
  }
}

/// Those of MPI_COMM_WORLD's ranks that differ from the caller in `axes` only.
Communicator alongAxes(const Grid& grid, const Communicator& world, const char* name,
                       std::initializer_list<size_t> axes, bool is_box = true) {
  Communicator made{name, MPI_COMM_NULL, is_box};
  int color = 0, rank = world.rank;
  for (size_t axis = 0; axis < grid.size(); rank /= grid[axis++])
    if (std::ranges::find(axes, axis) == axes.end()) color = color * grid[axis] + rank % grid[axis];
  split(world, color, world.rank, made);
  return made;
}

}  // namespace

Grid parseGrid(const char* text) {
  Grid grid;
  int ranks = 1, size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const char* at = text; *at != '\0';) {
    char* end = nullptr;
    grid.push_back(static_cast<int>(std::strtol(at, &end, 10)));
    ranks *= grid.back();
    at = *end == 'x' ? end + 1 : end;
    if (end == text || (*end != 'x' && *end != '\0')) break;
  }
  if (ranks != size) {
    std::fprintf(stderr, "grid %s does not have %d ranks\n", text, size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return grid;
}

std::vector<int> worldRanks(MPI_Comm comm, bool remote) {
  MPI_Group group, world;
  int size = 0;
  remote ? MPI_Comm_remote_group(comm, &group) : MPI_Comm_group(comm, &group);
  MPI_Group_size(group, &size);
  std::vector<int> ranks(size), world_ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  return world_ranks;
}

void Communicator::learn() {
  if (handle == MPI_COMM_NULL) return;
  MPI_Comm_rank(handle, &rank);
  members = worldRanks(handle, false);
}

void Communicator::complete() {
  if (request != MPI_REQUEST_NULL)
    checkCall(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait for MPI_Comm_idup");
}

void makeFrom(const Communicator& parent, int way, uint64_t key, Communicator& made) {
  made.name = std::string(kNames[way]) + " of " + parent.name;
  // Ranks outside of the parent know that it is there, and no more.
  made.is_grid = way == 13 || way == 17 || (way == kLine && !parent.is_grid);
  if (parent.hasMe()) make(parent, way, key, made);
  if (made.request == MPI_REQUEST_NULL) made.learn();
}

Communicator makeInter(const Communicator& parent, bool by_parity) {
  Communicator inter{"the halves of " + parent.name, MPI_COMM_NULL, false, true}, local;
  const auto isSecond = [&](int rank) {
    return by_parity ? rank % 2 == 1 : rank >= parent.size() / 2;
  };
  const bool second = isSecond(parent.rank);
  split(parent, second, parent.rank, local);
  const int other = second ? 0 : by_parity ? 1 : parent.size() / 2;
  checkCall(MPI_Intercomm_create(local.handle, 0, parent.handle, other, 1001, &inter.handle),
            "MPI_Intercomm_create");
  MPI_Comm_free(&local.handle);
  return inter;
}

std::vector<Communicator> makeCommunicators(const Grid& grid) {
  Communicator world{"MPI_COMM_WORLD", MPI_COMM_WORLD};
  world.learn();
  world.is_box = world.size() > 1;
  // An order that no symmetry of the grids has: 3, 0, 2, 1 of four ranks.
  Communicator mixed{"mixed up", MPI_COMM_NULL, world.is_box};
  split(world, 0, (world.rank * 7 + 3) % 11, mixed);
  std::vector<Communicator> all = {
      world, {"MPI_COMM_SELF", MPI_COMM_SELF}, {"dup", MPI_COMM_NULL, world.is_box}, mixed};
  checkCall(MPI_Comm_dup(MPI_COMM_WORLD, &all[2].handle), "MPI_Comm_dup");
  for (int way = 1; way < kWays; ++way) {
    if (way == 3 || way == 4) continue;  // lines and planes, below
    // Rank 1, of which there may be no second one; even ranks.
    const uint64_t key = way == kCreate || way == kGroup ? 0 : 1;
    Communicator made;
    makeFrom(world, way, key, made);
    made.complete();
    const bool has_all = made.size() == world.size() || way == kIdup;
    // With reorder, ranks may lie anywhere. On an idup, MPI makes the first blocking call itself.
    made.is_box =
        world.is_box && has_all && way != kIdup && way != kAnyColors && way != kEveryThird;
    all.push_back(std::move(made));
  }
  if (grid.size() > 1) {
    all.push_back(alongAxes(grid, world, "line along X", {0}, grid[0] > 1));
    all.push_back(alongAxes(grid, world, "line along Y", {1}, grid[1] > 1));
  }
  if (grid.size() > 2) {
    all.push_back(alongAxes(grid, world, "line along Z", {2}, grid[2] > 1));
    all.push_back(alongAxes(grid, world, "plane XY", {0, 1}));
    all.push_back(alongAxes(grid, world, "plane XZ", {0, 2}));
  }
  // As the grid of the ranks, whose last axis MPI counts fastest, and one of its lines.
  Communicator whole{"the grid", MPI_COMM_NULL, world.is_box}, line{"a line of the grid"};
  makeGrid(world, Grid(grid.rbegin(), grid.rend()), ~0u, false, whole);
  std::vector<int> kept(grid.size(), 0);
  kept.front() = 1;
  checkCall(MPI_Cart_sub(whole.handle, kept.data(), &line.handle), "MPI_Cart_sub");
  all.push_back(whole);
  all.push_back(line);
  if (world.size() > 1) all.push_back(makeInter(world, true));
  return all;
}

void freeCommunicators(std::vector<Communicator>& communicators) {
  for (Communicator& communicator : communicators) {
    if (!communicator.hasMe() || communicator.handle == MPI_COMM_WORLD ||
        communicator.handle == MPI_COMM_SELF)
      continue;
    checkCall(MPI_Comm_free(&communicator.handle), "MPI_Comm_free");
  }
  communicators.clear();
}

}  // namespace mpi_calls
