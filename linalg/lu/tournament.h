// Tournament pivoting (CALU): finds the pivot rows of a panel in one reduction along the processes
// instead of one per column. Solomonik, Bhatele, Demmel, SC 2011, section 3.1.4, and Grigori,
// Demmel and Xiang, "CALU: a communication optimal LU factorization algorithm", 2011.
//
// Each process chooses, by Gaussian elimination with partial pivoting, as many of its rows as the
// panel is wide. A match chooses from the rows of two such sets in the same way, and keeps the
// original values of the winners.
#ifndef TORC_LINALG_LU_TOURNAMENT_H_
#define TORC_LINALG_LU_TOURNAMENT_H_

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "linalg/grid/messages.h"

namespace torc::linalg {

/// A set of rows in a message: a head, the numbers of `width` rows, and width x width values, by
/// columns, with leading dimension `width`. All sets of a reduction have the same width.
struct CandidateHead {
  std::int64_t width = 0;
  std::int64_t count = 0;   // number of its rows, at most the width
  std::int64_t finite = 1;  // 0: a process found an infinity or NaN, and chose no rows
  std::int64_t zero = -1;   // the first column whose pivot is zero, in the order of `ids`
};

/// The bytes of a set.
template <typename T>
std::int64_t candidateBytes(std::int64_t width);

/// A view of a set in a buffer, which is aligned for std::int64_t.
template <typename T>
class Candidates {
 public:
  explicit Candidates(void* buffer) : buffer_(static_cast<char*>(buffer)) {}

  CandidateHead& head() const { return *reinterpret_cast<CandidateHead*>(buffer_); }
  std::int64_t* ids() const {
    return reinterpret_cast<std::int64_t*>(buffer_ + sizeof(CandidateHead));
  }
  LocalMatrix<T> values() const {
    const std::int64_t width = head().width;
    return {reinterpret_cast<T*>(ids() + width), head().count, width, width};
  }

 private:
  char* buffer_;
};

/// Chooses from `rows`, numbered by `ids`, at most as many as it has columns.
template <typename T>
void chooseCandidates(const LocalMatrix<T>& rows, const std::vector<std::int64_t>& ids,
                      void* candidates);

/// Sorts the rows of a set of `width` rows into the order of their pivots, and replaces their
/// values by their LU factors; sets head().zero.
template <typename T>
void factorCandidates(void* candidates);

/// The match of two sets, as an MPI operation on the datatype of candidateType(). It is commutative
/// to the last bit: the set with the smaller row comes first.
template <typename T>
MPI_Op createMatch();

/// A contiguous datatype of candidateBytes(width), committed.
template <typename T>
MPI_Datatype candidateType(std::int64_t width);

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_TOURNAMENT_H_
