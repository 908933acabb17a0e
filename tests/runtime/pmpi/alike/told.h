/* What a call reports to the program: its class, and which error handlers were called, how often
 * and with which class. Lines are kept, and printed by rank 0 in the order of ranks at the end, so
 * that the outputs of two runs can be compared. */
#ifndef TORC_TESTS_RUNTIME_PMPI_ALIKE_TOLD_H_
#define TORC_TESTS_RUNTIME_PMPI_ALIKE_TOLD_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

static char lines[1 << 16];
static int told_world, told_own; /* calls of the two handlers since the last `told` */
static int told_class;

static void line(const char* format, ...) {
  va_list list;
  size_t used = strlen(lines);
  va_start(list, format);
  vsnprintf(lines + used, sizeof(lines) - used, format, list);
  va_end(list);
}

#ifndef RETURNS
static jmp_buf back; /* where the own handler goes to, if it leaves */
static int leaves;

static void on_world(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++told_world;
  MPI_Error_class(*code, &told_class);
}

static void on_own(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++told_own;
  MPI_Error_class(*code, &told_class);
  if (leaves) longjmp(back, 1);
}
#endif

static int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

static void told(const char* what, int code) {
  line("%s: class %d, handlers: own %d, world %d, class %d\n", what, class_of(code), told_own,
       told_world, told_class);
  told_own = told_world = told_class = 0;
}

/* Handlers that count, for MPI_COMM_WORLD and for another communicator; with RETURNS none of the
 * program's own, as MPI must not have its threads where a program makes some. */
static void count_errors(MPI_Comm own) {
#ifdef RETURNS
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
#else
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(on_world, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_create_errhandler(on_own, &handler);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Errhandler_free(&handler);
#endif
}

static void print_lines(void) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) MPI_Send(lines, (int)strlen(lines) + 1, MPI_CHAR, 0, 9999, MPI_COMM_WORLD);
  for (int from = 0; rank == 0 && from < size; ++from) {
    if (from > 0) {
      MPI_Recv(lines, sizeof(lines), MPI_CHAR, from, 9999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("rank %d\n%s", from, lines);
  }
  fflush(stdout);
}

#endif
