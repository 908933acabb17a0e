/* A program that a tool counts the calls of: collectives in their forms, messages, communicators. At
 * the end it looks whether memory that the loader makes read-only is so still. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif

static int faults, rank, ranks;

static void expect(const char* what, int got, int right) {
  if (got != right && faults++ < 5) printf("rank %d: %s: %d, not %d\n", rank, what, got, right);
}

/* Whether the page at `address` can be written. */
static int isWritable(uintptr_t address) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512], flags[8] = "";
  uintptr_t begin = 0, end = 0;
  int found = 0;
  while (!found && fgets(line, sizeof line, maps)) {
    found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &begin, &end, flags) == 3 &&
            address >= begin && address < end && flags[1] == 'w';
  }
  fclose(maps);
  return found;
}

static int look(struct dl_phdr_info* object, size_t bytes, void* unused) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  (void)bytes;
  (void)unused;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &object->dlpi_phdr[i];
    if (header->p_type != PT_GNU_RELRO) continue;
    const uintptr_t begin = object->dlpi_addr + header->p_vaddr;
    const uintptr_t end = (begin + header->p_memsz) & ~(page - 1);
    for (uintptr_t at = begin & ~(page - 1); at < end; at += page) {
      if (isWritable(at) && faults++ < 5) printf("%s: page writable\n", object->dlpi_name);
    }
  }
  return 0;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Request persistent;
  int one = 1, sum = 0, all[64] = {0};
  MPI_Pcontrol(0);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent);
  for (int i = 0; i < 7; ++i) {
    MPI_Request request;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % 2 ? comm : MPI_COMM_WORLD);
    expect("MPI_Allreduce", sum, ranks);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Iallreduce", sum, ranks - 1);
    sum = 0;
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    expect("MPI_Allreduce_init", sum, ranks);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == 0) expect("MPI_Reduce", sum, ranks);
    sum = rank == 1 ? i : -1;
    MPI_Bcast(&sum, 1, MPI_INT, 1, comm);
    expect("MPI_Bcast", sum, i);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    expect("MPI_Allgather", all[ranks - 1], ranks - 1);
    if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, i, comm);
    for (int from = 1; rank == 0 && from < ranks; ++from) {
      MPI_Recv(&sum, 1, MPI_INT, from, i, comm, MPI_STATUS_IGNORE);
      expect("MPI_Recv", sum, from);
    }
  }
  MPI_Request_free(&persistent);
  MPI_Type_free(&pair);
  MPI_Comm_free(&comm);
  dl_iterate_phdr(look, NULL);
  MPI_Finalize();
  return faults > 0;
}
