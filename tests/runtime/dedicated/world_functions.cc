// What a program sees of MPI_COMM_WORLD where ranks are dedicated: with so many ranks as its first
// argument says, in functions of every kind, and nothing of the others.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

int failures = 0;
int rank = 0, size = 0;

#define EXPECT(what)                                                                           \
  do {                                                                                         \
    if (!(what)) std::printf("rank %d: line %d: not %s\n", rank, __LINE__, #what), ++failures; \
  } while (0)

int sizeOf(MPI_Comm comm) {
  int ranks = -1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

/// Size and sum over a new communicator, which is freed.
void expectMembers(MPI_Comm comm, int wanted) {
  if (comm == MPI_COMM_NULL) return;
  int one = 1, sum = 0;
  EXPECT(sizeOf(comm) == wanted);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == wanted);
  MPI_Comm_free(&comm);
}

void groups() {
  MPI_Group group = MPI_GROUP_NULL, first = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  int members = 0, own = -1;
  MPI_Group_size(group, &members);
  MPI_Group_rank(group, &own);
  EXPECT(members == size && own == rank);
  const int one = 0;
  MPI_Group_incl(group, 1, &one, &first);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_create(MPI_COMM_WORLD, first, &made);
  EXPECT((made != MPI_COMM_NULL) == (rank == 0));
  expectMembers(made, 1);
  if (rank == 0) {
    MPI_Comm_create_group(MPI_COMM_WORLD, first, 7, &made);
    expectMembers(made, 1);
  }
  MPI_Group_free(&first);
  MPI_Group_free(&group);
}

void communicators() {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  int compared = MPI_UNEQUAL;
  MPI_Comm_compare(MPI_COMM_WORLD, made, &compared);
  EXPECT(compared == MPI_CONGRUENT);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &compared);
  EXPECT(compared == MPI_IDENT);
  expectMembers(made, size);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expectMembers(made, size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
  expectMembers(made, (size + 1 - rank % 2) / 2);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  expectMembers(made, size);
  int flag = 1;
  MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
  EXPECT(!flag);

  // Both arguments of an intercommunicator's making.
  if (size < 2) return;
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &made);
  MPI_Intercomm_merge(made, rank % 2, &both);
  expectMembers(both, size);
  MPI_Comm_free(&made);
  MPI_Comm_free(&half);
}

void topologies() {
  const int period = 1;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &made);
  int before = -1, after = -1, from_left = -1;
  MPI_Cart_shift(made, 0, 1, &before, &after);
  EXPECT(after == (rank + 1) % size && before == (rank + size - 1) % size);
  MPI_Sendrecv(&rank, 1, MPI_INT, after, 0, &from_left, 1, MPI_INT, before, 0, made,
               MPI_STATUS_IGNORE);
  EXPECT(from_left == before);
  std::array<int, 2> neighbours{};
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, neighbours.data(), 1, MPI_INT, made);
  EXPECT(neighbours[0] == before && neighbours[1] == after);
  expectMembers(made, size);
  int mapped = -1, kind = 0;
  MPI_Cart_map(MPI_COMM_WORLD, 1, &size, &period, &mapped);
  EXPECT(mapped >= 0 && mapped < size);
  MPI_Topo_test(MPI_COMM_WORLD, &kind);
  EXPECT(kind == MPI_UNDEFINED);
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made);
  expectMembers(made, size);
}

void messages() {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Request requests[2];
  MPI_Status status;
  int from_last = -1, count = 0, flag = 0;
  MPI_Isend(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Probe(last, 5, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT(status.MPI_SOURCE == last && count == 1);
  MPI_Recv(&from_last, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
  EXPECT(from_last == last && status.MPI_SOURCE == last);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status);
  EXPECT(!flag);
  MPI_Recv_init(&from_last, 1, MPI_INT, last, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT(from_last == last);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  int replaced = rank;
  MPI_Sendrecv_replace(&replaced, 1, MPI_INT, next, 8, last, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(replaced == last);
  char packed[64];
  int at = 0, bytes = 0;
  MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
  MPI_Pack(&rank, 1, MPI_INT, packed, sizeof(packed), &at, MPI_COMM_WORLD);
  EXPECT(at <= bytes);
}

void collectives() {
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  MPI_Gather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i)
    EXPECT(all[static_cast<std::size_t>(i)] == i);
  int own = -1, before = 0;
  MPI_Scatter(all.data(), 1, MPI_INT, &own, 1, MPI_INT, 0, MPI_COMM_WORLD);
  EXPECT(own == rank);
  MPI_Scan(&rank, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(before == rank * (rank + 1) / 2);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < size; ++i)
    EXPECT(all[static_cast<std::size_t>(i)] == i);
}

void windowsAndFiles(const char* folder) {
  // MPICH 4.0.2 loses words that ranks put into each other's windows, with torc and without: only
  // who has one is looked at.
  int* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  MPI_Win_fence(0, window);
  int members = 0;
  MPI_Win_get_group(window, &group);
  MPI_Group_size(group, &members);
  EXPECT(members == size);
  MPI_Group_free(&group);
  MPI_Win_free(&window);

  const std::string name = std::string(folder) + "/ranks";
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                &file);
  MPI_File_write_at_all(file, static_cast<MPI_Offset>(rank * sizeof(int)), &rank, 1, MPI_INT,
                        MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  int read = -1;
  const int next = (rank + 1) % size;
  MPI_File_read_at_all(file, static_cast<MPI_Offset>(static_cast<std::size_t>(next) * sizeof(int)),
                       &read, 1, MPI_INT, MPI_STATUS_IGNORE);
  EXPECT(read == next);
  MPI_File_close(&file);
}

int handled = 0;
void handle(MPI_Comm*, int*, ...) {
  ++handled;
}

void attributesAndErrors() {
  int* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  EXPECT(flag && *value >= 32767);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
  EXPECT(!flag || *value >= size);
  int key = MPI_KEYVAL_INVALID, mine = 5;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &mine);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  EXPECT(flag && value == &mine);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free_keyval(&key);

  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  EXPECT(std::strcmp(name, "MPI_COMM_WORLD") == 0);

  MPI_Errhandler handler = MPI_ERRHANDLER_NULL, found = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
  EXPECT(found == handler);
  MPI_Errhandler_free(&found);
  // There is no such rank, though the job has one.
  EXPECT(MPI_Send(&mine, 1, MPI_INT, size, 0, MPI_COMM_WORLD) != MPI_SUCCESS && handled == 1);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  EXPECT(handled == 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  size = sizeOf(MPI_COMM_WORLD);
  EXPECT(size == std::atoi(arguments[1]) && rank < size);
  const char* folder = std::getenv("TEST_TMPDIR");
  groups();
  communicators();
  topologies();
  messages();
  collectives();
  windowsAndFiles(folder == nullptr ? "/tmp" : folder);
  attributesAndErrors();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
