#include "tests/runtime/pmpi/conformance/communicators.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/runtime/pmpi/conformance/checks.h"

namespace conformance {
namespace {

int worldRank() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int worldSize() {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

MPI_Group worldGroup() {
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  return group;
}

/// The ranks of MPI_COMM_WORLD that `wanted` names.
template <typename Predicate>
MPI_Group groupOf(Predicate wanted) {
  std::vector<int> ranks;
  for (int rank = 0; rank < worldSize(); ++rank)
    if (wanted(rank)) ranks.push_back(rank);
  MPI_Group all = worldGroup();
  MPI_Group group;
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&all);
  return group;
}

MPI_Comm split(int color, int key) {
  MPI_Comm comm;
  checkCall(MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm), "MPI_Comm_split");
  return comm;
}

/// Coordinate of the caller on `axis` of the grid.
int coordinate(const Grid& grid, size_t axis) {
  int rank = worldRank();
  for (size_t i = 0; i < axis; ++i)
    rank /= grid[i];
  return rank % grid[axis];
}

/// Those of MPI_COMM_WORLD's ranks that differ from the caller in `axes` only.
MPI_Comm alongAxes(const Grid& grid, const std::vector<size_t>& axes) {
  int color = 0;
  for (size_t axis = grid.size(); axis-- > 0;)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end())
      color = color * grid[axis] + coordinate(grid, axis);
  return split(color, worldRank());
}

/// Lines along every axis, and planes where there are three.
void addBoxes(const Grid& grid, std::vector<Communicator>& all) {
  if (grid.size() < 2) return;
  for (size_t axis = 0; axis < grid.size(); ++axis) {
    const std::string name(1, static_cast<char>('X' + axis));
    all.push_back({"line along " + name, alongAxes(grid, {axis}), grid[axis] > 1});
  }
  if (grid.size() == 3) {
    all.push_back({"plane XY", alongAxes(grid, {0, 1}), true});
    all.push_back({"plane XZ", alongAxes(grid, {0, 2}), true});
  }
}

void addCartesian(const Grid& grid, std::vector<Communicator>& all) {
  const int axes = static_cast<int>(grid.size());
  // MPI counts the last axis fastest.
  const std::vector<int> sizes(grid.rbegin(), grid.rend());
  const std::vector<int> periodic(grid.size(), 1);
  Communicator whole{"cart_create with reorder", MPI_COMM_NULL, worldSize() > 1};
  checkCall(MPI_Cart_create(MPI_COMM_WORLD, axes, sizes.data(), periodic.data(), 1, &whole.handle),
            "MPI_Cart_create");
  std::vector<int> kept(grid.size(), 0);
  kept.front() = 1;
  // With reorder, the ranks that MPI puts on a line of its grid need not be one of ours.
  Communicator line{"cart_sub"};
  checkCall(MPI_Cart_sub(whole.handle, kept.data(), &line.handle), "MPI_Cart_sub");
  all.push_back(whole);
  all.push_back(line);
}

void addGraphs(std::vector<Communicator>& all) {
  const int size = worldSize();
  const int next = (worldRank() + 1) % size;
  const int previous = (worldRank() + size - 1) % size;
  Communicator ring{"dist_graph_create_adjacent", MPI_COMM_NULL, size > 1};
  checkCall(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring.handle),
            "MPI_Dist_graph_create_adjacent");
  all.push_back(ring);
}

void addGroups(std::vector<Communicator>& all) {
  const auto even = [](int rank) { return rank % 2 == 0; };
  MPI_Group evens = groupOf(even);
  Communicator created{"create of even ranks"};
  checkCall(MPI_Comm_create(MPI_COMM_WORLD, evens, &created.handle), "MPI_Comm_create");
  all.push_back(created);
  if (even(worldRank())) {
    Communicator from_group{"create_group of even ranks"};
    checkCall(MPI_Comm_create_group(MPI_COMM_WORLD, evens, 17, &from_group.handle),
              "MPI_Comm_create_group");
    all.push_back(from_group);
  } else {
    all.push_back({"create_group of even ranks"});
  }
  MPI_Group_free(&evens);
}

/// Even and odd ranks facing each other, and both merged.
void addInter(std::vector<Communicator>& all) {
  if (worldSize() < 2) return;
  const int side = worldRank() % 2;
  MPI_Comm mine = split(side, worldRank());
  Communicator inter{"intercommunicator", MPI_COMM_NULL, false, true};
  checkCall(MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - side, 5, &inter.handle),
            "MPI_Intercomm_create");
  Communicator merged{"intercomm_merge", MPI_COMM_NULL, true};
  checkCall(MPI_Intercomm_merge(inter.handle, side == 0, &merged.handle), "MPI_Intercomm_merge");
  MPI_Comm_free(&mine);
  all.push_back(inter);
  all.push_back(merged);
}

void addDuplicates(std::vector<Communicator>& all) {
  const bool box = worldSize() > 1;
  Communicator dup{"dup", MPI_COMM_NULL, box};
  checkCall(MPI_Comm_dup(MPI_COMM_WORLD, &dup.handle), "MPI_Comm_dup");
  Communicator dup_with_info{"dup_with_info", MPI_COMM_NULL, box};
  checkCall(MPI_Comm_dup_with_info(dup.handle, MPI_INFO_NULL, &dup_with_info.handle),
            "MPI_Comm_dup_with_info");
  // Not before its first blocking call is this one anybody's but MPI's.
  Communicator idup{"idup"};
  MPI_Request request;
  checkCall(MPI_Comm_idup(MPI_COMM_WORLD, &idup.handle, &request), "MPI_Comm_idup");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  all.push_back(dup);
  all.push_back(dup_with_info);
  all.push_back(idup);
}

}  // namespace

Grid parseGrid(const char* text) {
  Grid grid;
  int ranks = 1;
  for (const char* at = text; *at != '\0';) {
    char* end = nullptr;
    grid.push_back(static_cast<int>(std::strtol(at, &end, 10)));
    ranks *= grid.back();
    at = *end == 'x' ? end + 1 : end;
    if (end == text || (*end != 'x' && *end != '\0')) break;
  }
  if (ranks != worldSize()) {
    std::fprintf(stderr, "grid %s does not have %d ranks\n", text, worldSize());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return grid;
}

std::vector<Communicator> makeCommunicators(const Grid& grid) {
  const int rank = worldRank(), size = worldSize();
  const bool box = size > 1;
  std::vector<Communicator> all;
  all.push_back({"MPI_COMM_WORLD", MPI_COMM_WORLD, box});
  all.push_back({"MPI_COMM_SELF", MPI_COMM_SELF});
  addDuplicates(all);
  addBoxes(grid, all);
  all.push_back({"reversed", split(0, size - rank), box});
  // 7 and 11 are prime to the numbers of ranks that tests use.
  all.push_back({"shuffled", split(0, (rank * 7 + 3) % 11 * size + rank), box});
  all.push_back({"without rank 1", split(rank == 1 ? MPI_UNDEFINED : 0, rank)});
  all.push_back({"every third apart", split(rank % 3 == 0, -rank)});
  Communicator host{"split_type shared", MPI_COMM_NULL, box};
  checkCall(
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host.handle),
      "MPI_Comm_split_type");
  all.push_back(host);
  addGroups(all);
  addCartesian(grid, all);
  addGraphs(all);
  addInter(all);
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

}  // namespace conformance
