// Wrappers of blocking functions of MPI that have no nonblocking twin: windows, files, processes
// that are started or joined, attached buffers. A rank that waits in one makes no progress for
// torc, and ranks that wait for its part of a collective may wait long. Whoever wants to know
// (TORC_VERBOSE=1) is told so; the functions are MPI's own.
#include "runtime/pmpi/job/engine.h"
#include "runtime/pmpi/job/progress.h"
#include "runtime/pmpi/statistics/report.h"
#include "runtime/pmpi/wrappers/next_layer.h"
#include "runtime/transport/which_mpi.h"
#include "schedules/settings.h"
#include "support/message.h"

using torc::message;
using torc::ProgressMode;
using torc::Verbosity;
using torc::pmpi::attention;
using torc::pmpi::engine;
using torc::pmpi::hintOnce;
using torc::pmpi::kIdleWithThreads;
using torc::pmpi::mustProgress;
using torc::pmpi::tells;

namespace {

/// Collectives of torc that are not complete on this rank.
int underWay() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  const int idle = level == MPI_THREAD_MULTIPLE ? kIdleWithThreads : 0;
  return attention.load(std::memory_order_relaxed) - idle;
}

void hintThatItWaits(const char* function) {
  if (!tells(Verbosity::kSetUp) || engine->settings.progress == ProgressMode::kThread) return;
  const int count = underWay();
  if (count <= 0) return;
  hintOnce(Verbosity::kSetUp, "a wait inside MPI",
           message(function, " waits inside MPI while ", count,
                   count == 1 ? " collective of torc is under way, which makes no progress there"
                              : " collectives of torc are under way, which make no progress there",
                   "; TORC_PROGRESS=thread would"));
}

}  // namespace

extern "C" {

#define TORC_INSIDE(Name, parameters, arguments)       \
  int MPI_##Name parameters {                          \
    if (mustProgress()) hintThatItWaits("MPI_" #Name); \
    return PMPI_##Name arguments;                      \
  }

// ---- Windows

TORC_INSIDE(Win_create,
            (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
            (base, size, unit, info, comm, win))
TORC_MPI_4(TORC_INSIDE(Win_create_c,
                       (void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                        MPI_Win* win),
                       (base, size, unit, info, comm, win)))
TORC_INSIDE(Win_allocate,
            (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),
            (size, unit, info, comm, base, win))
TORC_MPI_4(TORC_INSIDE(Win_allocate_c,
                       (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                        MPI_Win* win),
                       (size, unit, info, comm, base, win)))
TORC_INSIDE(Win_allocate_shared,
            (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),
            (size, unit, info, comm, base, win))
TORC_MPI_4(TORC_INSIDE(Win_allocate_shared_c,
                       (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                        MPI_Win* win),
                       (size, unit, info, comm, base, win)))
TORC_INSIDE(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win), (info, comm, win))
TORC_INSIDE(Win_free, (MPI_Win * win), (win))
TORC_INSIDE(Win_fence, (int assertion, MPI_Win win), (assertion, win))
TORC_INSIDE(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win))
TORC_INSIDE(Win_complete, (MPI_Win win), (win))
TORC_INSIDE(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win))
TORC_INSIDE(Win_lock, (int kind, int rank, int assertion, MPI_Win win),
            (kind, rank, assertion, win))
TORC_INSIDE(Win_lock_all, (int assertion, MPI_Win win), (assertion, win))
TORC_INSIDE(Win_unlock, (int rank, MPI_Win win), (rank, win))
TORC_INSIDE(Win_unlock_all, (MPI_Win win), (win))
TORC_INSIDE(Win_flush, (int rank, MPI_Win win), (rank, win))
TORC_INSIDE(Win_flush_all, (MPI_Win win), (win))
TORC_INSIDE(Win_flush_local, (int rank, MPI_Win win), (rank, win))
TORC_INSIDE(Win_flush_local_all, (MPI_Win win), (win))

// ---- Buffers and processes

TORC_INSIDE(Buffer_detach, (void* buffer, int* size), (buffer, size))
TORC_MPI_4(TORC_INSIDE(Buffer_detach_c, (void* buffer, MPI_Count* size), (buffer, size)))
TORC_INSIDE(Comm_spawn,
            (const char* command, char* argv[], int most, MPI_Info info, int root, MPI_Comm comm,
             MPI_Comm* result, int codes[]),
            (command, argv, most, info, root, comm, result, codes))
TORC_INSIDE(Comm_spawn_multiple,
            (int count, char* commands[], char** argvs[], const int most[], const MPI_Info infos[],
             int root, MPI_Comm comm, MPI_Comm* result, int codes[]),
            (count, commands, argvs, most, infos, root, comm, result, codes))
TORC_INSIDE(Comm_accept,
            (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* result),
            (port, info, root, comm, result))
TORC_INSIDE(Comm_connect,
            (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* result),
            (port, info, root, comm, result))

// ---- Files

TORC_INSIDE(File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
            (comm, name, mode, info, file))
TORC_INSIDE(File_close, (MPI_File * file), (file))
TORC_INSIDE(File_set_view,
            (MPI_File file, MPI_Offset offset, MPI_Datatype element, MPI_Datatype type,
             const char* representation, MPI_Info info),
            (file, offset, element, type, representation, info))
TORC_INSIDE(File_set_size, (MPI_File file, MPI_Offset size), (file, size))
TORC_INSIDE(File_sync, (MPI_File file), (file))

// Reading and writing by all ranks, with int and with MPI_Count.
#define TORC_FILE(Name, Data, Count)                                                           \
  TORC_INSIDE(File_##Name,                                                                     \
              (MPI_File file, Data data, Count count, MPI_Datatype type, MPI_Status * status), \
              (file, data, count, type, status))
#define TORC_FILE_AT(Name, Data, Count)                                                     \
  TORC_INSIDE(File_##Name,                                                                  \
              (MPI_File file, MPI_Offset offset, Data data, Count count, MPI_Datatype type, \
               MPI_Status * status),                                                        \
              (file, offset, data, count, type, status))
TORC_FILE(read_all, void*, int)
TORC_MPI_4(TORC_FILE(read_all_c, void*, MPI_Count))
TORC_FILE(write_all, const void*, int)
TORC_MPI_4(TORC_FILE(write_all_c, const void*, MPI_Count))
TORC_FILE(read_ordered, void*, int)
TORC_MPI_4(TORC_FILE(read_ordered_c, void*, MPI_Count))
TORC_FILE(write_ordered, const void*, int)
TORC_MPI_4(TORC_FILE(write_ordered_c, const void*, MPI_Count))
TORC_FILE_AT(read_at_all, void*, int)
TORC_MPI_4(TORC_FILE_AT(read_at_all_c, void*, MPI_Count))
TORC_FILE_AT(write_at_all, const void*, int)
TORC_MPI_4(TORC_FILE_AT(write_at_all_c, const void*, MPI_Count))
#undef TORC_FILE_AT
#undef TORC_FILE
#undef TORC_INSIDE

}  // extern "C"
