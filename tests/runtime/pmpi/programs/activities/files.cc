#include <cstdlib>
#include <string>

#include "tests/runtime/pmpi/programs/activities/mpis_own.h"
#include "tests/runtime/pmpi/programs/activities/record.h"

namespace programs {

void useFile(Random& common, const Communicator& communicator, int number) {
  const bool waits_later = common.chance(50);
  const int elements = common.between(1, 3000), shift = common.below(12);
  const uint64_t key = common.next();
  if (!communicator.hasMe()) return;
  const int rank = communicator.rank, size = communicator.size();
  const auto value = [&](int from, int i) { return mix(key, communicator.members[from], i); };

  // Each communicator's is another one: some have the same number in the program.
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path = (folder != nullptr ? folder : "/tmp") +
                           std::string("/random_programs.") +
                           std::to_string(mix(record().seed, record().program, record().thread,
                                              number, communicator.members.front()));
  MPI_File file;
  check(MPI_File_open(communicator.handle, path.c_str(),
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file),
        number, "MPI_File_open of " + path);
  std::vector<uint64_t> data(elements);
  for (int i = 0; i < elements; ++i)
    data[i] = value(rank, i);
  const auto offsetOf = [&](int from) {
    return static_cast<MPI_Offset>(from) * elements * static_cast<MPI_Offset>(sizeof(uint64_t));
  };
  if (waits_later) {
    MPI_Request request;
    check(
        MPI_File_iwrite_at_all(file, offsetOf(rank), data.data(), elements, MPI_UINT64_T, &request),
        number, "MPI_File_iwrite_at_all");
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), number, "MPI_Wait for a file");
  } else {
    check(MPI_File_write_at_all(file, offsetOf(rank), data.data(), elements, MPI_UINT64_T,
                                MPI_STATUS_IGNORE),
          number, "MPI_File_write_at_all");
  }
  MPI_File_sync(file);
  check(MPI_Barrier(communicator.handle), number, "MPI_Barrier beside a file");
  MPI_File_sync(file);

  const int from = (rank + shift) % size;
  check(MPI_File_read_at_all(file, offsetOf(from), data.data(), elements, MPI_UINT64_T,
                             MPI_STATUS_IGNORE),
        number, "MPI_File_read_at_all");
  for (int i = 0; i < elements; ++i)
    if (data[i] != value(from, i))
      fail(number, "a file of " + communicator.name + " is wrong at element " + std::to_string(i) +
                       " of rank " + std::to_string(from));
  addHash(number, mix(rank, data.front(), data.back()));
  check(MPI_File_close(&file), number, "MPI_File_close");
}

}  // namespace programs
