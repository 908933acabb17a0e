// The words (of 8 bytes) that MPI's collectives move for a program of linalg/, as its calls say:
// what a multicast, a gathering or an exchange brings a process, or it gives to a sum.
#ifndef TORC_TESTS_LINALG_WORD_COUNT_H_
#define TORC_TESTS_LINALG_WORD_COUNT_H_

#include <mpi.h>

namespace torc::linalg {

struct WordCount {
  double words = 0;     // of this process
  double path = 0;      // along the longest path: each collective takes as long as its largest
                        // part, and begins when all of its line have come
  double messages = 0;  // collectives along that path
};

/// Starts to count, from nothing.
void startCounting();
/// Ends it.
WordCount endCounting();

/// A collective of this process's `words`; all processes of `comm` call it. Its root, if it sends,
/// has none of its own, but takes as long as the others.
void noteWords(MPI_Comm comm, double words);

}  // namespace torc::linalg

#endif  // TORC_TESTS_LINALG_WORD_COUNT_H_
