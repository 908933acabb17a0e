// Sums over the ranks of the program, in the ways that use MPI alone.
#ifndef TORC_BENCH_SMPI_CDCP_SUMS_H_
#define TORC_BENCH_SMPI_CDCP_SUMS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include <mpi.h>

#include "bench/smpi/ranks.h"

namespace torc::cdcp {

/// Advances the rank's simulated time by `seconds` of computation.
inline void compute(double seconds) {
  constexpr double kHostFlops = 2e9;  // of the simulated hosts, which converts flops to time
  if (seconds > 0) smpi_execute_flops(seconds * kHostFlops);
}

/// Sums of doubles over the ranks of the program; one is active at a time.
class Sums {
 public:
  explicit Sums(MPI_Comm comm) : comm_(comm) {}
  virtual ~Sums() = default;

  /// Of the program's ranks.
  MPI_Comm comm() const { return comm_; }
  /// Starts a sum of `count` elements; both arrays belong to it until wait() has returned.
  virtual void start(const double* in, double* out, int count) = 0;
  virtual void wait() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  /// Computes for `seconds` seconds while the sum is active.
  virtual void work(double seconds) { compute(seconds); }

 protected:
  MPI_Comm comm_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class BlockingSums : public Sums {
 public:
  using Sums::Sums;
  void start(const double* in, double* out, int count) override {
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm_);
  }
};

class NonblockingSums : public Sums {
 public:
  using Sums::Sums;
  void start(const double* in, double* out, int count) override {
    MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm_, &request_);
  }
};

/// As in a library on top of MPI (Figure 2 of the paper): up and down a binomial tree, one round at
/// a time; the next round begins only when the program calls.
class PolledSums : public Sums {
 public:
  explicit PolledSums(MPI_Comm comm) : Sums(comm) {
    const int rank = rankOf(comm), size = sizeOf(comm);
    int bit = 1;
    for (; bit < size && (rank & bit) == 0; bit *= 2) {
      if (rank + bit < size) rounds_.push_back({Round::kAdd, rank + bit});
    }
    if (bit < size) {
      rounds_.push_back({Round::kSend, rank - bit});
      rounds_.push_back({Round::kReceive, rank - bit});
    }
    for (bit /= 2; bit > 0; bit /= 2) {
      if (rank + bit < size) rounds_.push_back({Round::kSend, rank + bit});
    }
  }

  void start(const double* in, double* out, int count) override {
    out_ = out;
    addend_.resize(static_cast<std::size_t>(count));
    std::copy_n(in, count, out);
    round_ = rounds_.begin();
    beginRound();
  }
  void wait() override {
    while (round_ != rounds_.end()) {
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
      endRound();
    }
  }
  void work(double seconds) override {
    // Interval of the program's polls, and their time: estimates.
    constexpr double kPollInterval = 4e-6, kPollTime = 0.2e-6;
    for (; seconds > 0; seconds -= kPollInterval) {
      compute(std::min(seconds, kPollInterval));
      compute(kPollTime);
      int is_over = 0;
      if (round_ != rounds_.end()) MPI_Test(&request_, &is_over, MPI_STATUS_IGNORE);
      if (is_over) endRound();
    }
  }

 private:
  struct Round {
    enum Kind { kSend, kReceive, kAdd } kind;
    int peer;
  };

  void beginRound() {
    if (round_ == rounds_.end()) return;
    const auto [kind, peer] = *round_;
    double* const data = kind == Round::kAdd ? addend_.data() : out_;
    const int count = static_cast<int>(addend_.size());
    if (kind == Round::kSend) {
      MPI_Isend(data, count, MPI_DOUBLE, peer, 0, comm_, &request_);
    } else {
      MPI_Irecv(data, count, MPI_DOUBLE, peer, 0, comm_, &request_);
    }
  }
  void endRound() {
    if (round_->kind == Round::kAdd) {
      for (std::size_t i = 0; i < addend_.size(); ++i)
        out_[i] += addend_[i];
    }
    ++round_;
    beginRound();
  }

  std::vector<Round> rounds_;
  std::vector<Round>::const_iterator round_;  // the current one
  double* out_ = nullptr;
  std::vector<double> addend_;  // data from a child
};

}  // namespace torc::cdcp

#endif  // TORC_BENCH_SMPI_CDCP_SUMS_H_
