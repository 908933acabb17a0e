#include <algorithm>
#include <numeric>
#include <string>

#include "tests/runtime/pmpi/programs/activities/mpis_own.h"
#include "tests/runtime/pmpi/programs/activities/record.h"

namespace programs {

void useWindow(Random& common, const Communicator& communicator, int number) {
  const bool allocates = common.chance(50), locks = common.chance(40);
  const int elements = common.between(1, 500), shift = common.below(12);
  const uint64_t key = common.next();
  if (!communicator.hasMe()) return;
  const int rank = communicator.rank, size = communicator.size();
  const auto value = [&](int from, int i) { return mix(key, communicator.members[from], i); };

  // What another rank puts, then the sum that all ranks add to. MPICH 4.0.2 mixes up where the
  // parts of an allocated window begin, if they are not multiples of 16 bytes.
  std::vector<uint64_t> own((elements + 2) / 2 * 2), puts(elements);
  uint64_t* memory = own.data();
  MPI_Win window;
  const MPI_Aint bytes = static_cast<MPI_Aint>(own.size() * sizeof(uint64_t));
  if (allocates)
    check(MPI_Win_allocate(bytes, sizeof(uint64_t), MPI_INFO_NULL, communicator.handle, &memory,
                           &window),
          number, "MPI_Win_allocate");
  else
    check(MPI_Win_create(memory, bytes, sizeof(uint64_t), MPI_INFO_NULL, communicator.handle,
                         &window),
          number, "MPI_Win_create");
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  std::fill_n(memory, elements + 1, 0);
  MPI_Win_unlock(rank, window);
  check(MPI_Barrier(communicator.handle), number, "MPI_Barrier beside a window");

  const int target = (rank + shift) % size, origin = (rank + size - shift % size) % size;
  for (int i = 0; i < elements; ++i)
    puts[i] = value(rank, i);
  const uint64_t addend = value(rank, elements);
  if (locks)
    MPI_Win_lock_all(0, window);
  else
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  MPI_Put(puts.data(), elements, MPI_UINT64_T, target, 0, elements, MPI_UINT64_T, window);
  for (int other = 0; other < size; ++other)
    MPI_Accumulate(&addend, 1, MPI_UINT64_T, other, elements, 1, MPI_UINT64_T, MPI_SUM, window);
  if (locks) {
    MPI_Win_unlock_all(window);
    check(MPI_Barrier(communicator.handle), number, "MPI_Barrier beside a window");
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    MPI_Win_unlock(rank, window);
  } else {
    check(MPI_Win_fence(MPI_MODE_NOSUCCEED, window), number, "MPI_Win_fence");
  }

  uint64_t sum = 0;
  for (int from = 0; from < size; ++from)
    sum += value(from, elements);
  for (int i = 0; i <= elements; ++i)
    if (memory[i] != (i < elements ? value(origin, i) : sum))
      fail(number, std::string(allocates ? "an allocated" : "a created") + " window of " +
                       communicator.name + (locks ? ", with locks," : ", with fences,") +
                       " is wrong at element " + std::to_string(i) + " of " +
                       std::to_string(elements));
  addHash(number, mix(rank, std::accumulate(memory, memory + elements + 1, uint64_t{0})));
  check(MPI_Win_free(&window), number, "MPI_Win_free");
}

}  // namespace programs
