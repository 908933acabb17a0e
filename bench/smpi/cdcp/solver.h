// Solver: conjugate gradients as in the barotropic phase of POP, with a nine-point operator. Every
// iteration has two sums and an exchange of ghost cells; every tenth has one more of each to
// recompute the residual. Each sum overlaps with the same work as in the paper.
#ifndef TORC_BENCH_SMPI_CDCP_SOLVER_H_
#define TORC_BENCH_SMPI_CDCP_SOLVER_H_

#include <cmath>
#include <cstddef>

#include "bench/smpi/cdcp/grid_block.h"
#include "bench/smpi/cdcp/sums.h"

namespace torc::cdcp {

/// Solves A x = b for a smooth b. The numbers are computed; simulated time advances by their
/// operations.
class Solver {
 public:
  /// `flops`: a rank's rate per second.
  Solver(Sums& sums, double flops) : sums_(sums), flops_(flops), block_(sums.comm()) {
    block_.forEach([&](std::size_t i) {
      b_[i] = std::sin(0.07 * block_.x(i)) * std::cos(0.05 * block_.y(i)) + 0.1;
    });
  }

  /// Returns the norm of the residual at the last tenth iteration.
  double run(int iterations) {
    r_ = b_;
    block_.exchange(r_);
    double alpha = 0, rho_before = 1, residual = 0;
    for (int iteration = 1; iteration <= iterations; ++iteration) {
      startSum(3, [&](std::size_t i) { return r_[i] * r_[i] / kMiddle; });
      // The correction of the solution is that of the iteration before.
      if (iteration % 10 != 1) {
        axpy(alpha, s_, x_);
        sums_.work(seconds(2));
      }
      const double rho = finishSum(), beta = rho / rho_before;
      rho_before = rho;
      for (std::size_t i = 0; i < s_.size(); ++i)
        s_[i] = r_[i] / kMiddle + s_[i] * beta;
      apply(s_, q_);
      startSum(3 + 17 + 2, [&](std::size_t i) { return q_[i] * s_[i]; });
      block_.exchange(q_);
      alpha = rho / finishSum();
      axpy(-alpha, q_, r_);
      compute(seconds(2));
      if (iteration % 10 != 0) continue;
      axpy(alpha, s_, x_);
      compute(seconds(2));
      apply(x_, r_);
      block_.forEach([&](std::size_t i) { r_[i] = b_[i] - r_[i]; });
      startSum(17 + 3, [&](std::size_t i) { return r_[i] * r_[i]; });
      block_.exchange(r_);
      residual = std::sqrt(finishSum());
    }
    return residual;
  }

 private:
  static constexpr double kMiddle = 6.05, kBeside = 1, kAcross = 0.5;  // of A

  /// Time of `operations` operations on each point of the largest block.
  double seconds(double operations) const { return operations * block_.mostPoints() / flops_; }

  /// Starts the sum of `term` over all cells, after `operations` operations on each.
  template <typename Term>
  void startSum(double operations, const Term& term) {
    own_sum_ = 0;
    block_.forEach([&](std::size_t i) { own_sum_ += term(i); });
    compute(seconds(operations));
    sums_.start(&own_sum_, &sum_, 1);
  }
  double finishSum() {
    sums_.wait();
    return sum_;
  }

  /// out = A in.
  void apply(const Field& in, Field& out) const {
    const std::size_t row = block_.stride();
    block_.forEach([&](std::size_t i) {
      out[i] = kMiddle * in[i] - kBeside * (in[i - 1] + in[i + 1] + in[i - row] + in[i + row]) -
               kAcross * (in[i - row - 1] + in[i - row + 1] + in[i + row - 1] + in[i + row + 1]);
    });
  }

  /// y += a x, in ghost cells, too.
  static void axpy(double a, const Field& x, Field& y) {
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] += a * x[i];
  }

  Sums& sums_;
  double flops_;
  GridBlock block_;
  double own_sum_ = 0, sum_ = 0;  // of the active sum
  Field b_ = block_.makeField(), x_ = b_, r_ = b_, s_ = b_, q_ = b_;
};

}  // namespace torc::cdcp

#endif  // TORC_BENCH_SMPI_CDCP_SOLVER_H_
