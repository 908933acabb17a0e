// MPI_COMM_WORLD in a program with dedicated ranks: it has the number of ranks in the first
// argument, and hides the others. Messages, collectives, files, windows and communicators of every
// make: tests/runtime/pmpi/programs.
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

int membersOf(MPI_Group& group) {
  int members = -1;
  MPI_Group_size(group, &members);
  MPI_Group_free(&group);
  return members;
}

void members() {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  int own = -1, compared = MPI_UNEQUAL, flag = 1;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_rank(group, &own);
  EXPECT(membersOf(group) == size && own == rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_compare(MPI_COMM_WORLD, made, &compared);
  EXPECT(compared == MPI_CONGRUENT && sizeOf(made) == size);
  MPI_Comm_free(&made);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &compared);
  EXPECT(compared == MPI_IDENT);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  EXPECT(sizeOf(made) == size);
  MPI_Comm_free(&made);
  MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
  EXPECT(!flag);
}

void placesAndBytes() {
  const int period = 1;
  int mapped = -1, kind = 0, at = 0, bytes = 0;
  MPI_Cart_map(MPI_COMM_WORLD, 1, &size, &period, &mapped);
  EXPECT(mapped >= 0 && mapped < size);
  MPI_Topo_test(MPI_COMM_WORLD, &kind);
  EXPECT(kind == MPI_UNDEFINED);
  char packed[64];
  MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
  MPI_Pack(&rank, 1, MPI_INT, packed, sizeof(packed), &at, MPI_COMM_WORLD);
  EXPECT(at <= bytes);
  int* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_get_group(window, &group);
  EXPECT(membersOf(group) == size);
  MPI_Win_free(&window);
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
  members();
  placesAndBytes();
  attributesAndErrors();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
