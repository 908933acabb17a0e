// A small library's index: two partitions, sub-tori that share shapes, all collectives.
#ifndef TORC_TESTS_SCHEDULES_LIBRARY_SAMPLE_INDEX_H_
#define TORC_TESTS_SCHEDULES_LIBRARY_SAMPLE_INDEX_H_

#include "schedules/library/index.h"

namespace torc::samples {

/// Of 4x4x2m+2 and of 8x4, with all combinations of whole axes as sub-tori.
LibraryIndex libraryIndex();

/// The same with a damaged 4x4 as the only partition.
LibraryIndex damagedIndex();

/// The first one with candidates and tuned entries: two allreduces on shape 0, the second of which
/// falls back to MPI, and a broadcast of all sizes on shape 2.
LibraryIndex tunedIndex();

/// The first one reduced to one partition, one sub-torus, a file and an entry of each kind.
LibraryIndex smallIndex();

}  // namespace torc::samples

#endif  // TORC_TESTS_SCHEDULES_LIBRARY_SAMPLE_INDEX_H_
