// A three-dimensional FFT as an MPI program that does not use torc: transforms, checks itself and
// prints the time of a transform and its share in MPI_Alltoall. It stands for CPMD in the
// multi-core all-to-all paper (docs/research/papers/alltoall-multicore.md); bench/fft3d.sh runs it
// plain and preloaded with one all-to-all at a time.
//
//   fft3d SIDE TRANSFORMS        SIDE: a power of two that the ranks divide
//
// Ranks have slabs of planes. A transform processes rows and columns of its planes, exchanges
// blocks with all ranks, and processes the lines that are then contiguous; the inverse goes the
// other way. The check compares sampled frequencies with their sums by definition, and the inverse
// with the original data. It prints a line: ranks, bytes of a block, us of a transform, us of its
// all-to-all, the largest error.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <random>
#include <vector>

#include <mpi.h>

namespace {

using Complex = std::complex<double>;

/// Transforms of one length, in place, radix 2.
class Line {
 public:
  explicit Line(std::size_t length) : roots_(length / 2), place_(length) {
    for (std::size_t i = 0; i < roots_.size(); ++i)
      roots_[i] = std::polar(
          1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
    for (std::size_t i = 1; i < length; ++i)
      place_[i] = place_[i / 2] / 2 + (i % 2) * length / 2;
  }

  void transform(Complex* data, bool inverse) const {
    const std::size_t length = place_.size();
    for (std::size_t i = 0; i < length; ++i) {
      if (i < place_[i]) std::swap(data[i], data[place_[i]]);
    }
    for (std::size_t half = 1; half < length; half *= 2) {
      for (std::size_t first = 0; first < length; first += 2 * half) {
        for (std::size_t i = 0; i < half; ++i) {
          const Complex root = roots_[i * (length / (2 * half))];
          const Complex turned = data[first + half + i] * (inverse ? std::conj(root) : root);
          data[first + half + i] = data[first + i] - turned;
          data[first + i] += turned;
        }
      }
    }
  }

 private:
  std::vector<Complex> roots_;
  std::vector<std::size_t> place_;
};

/// The slab of a rank: planes z of (y, x); transformed, planes ky of (kx, kz).
class Slab {
 public:
  Slab(std::size_t side, std::size_t ranks)
      : side_(side),
        planes_(side / ranks),
        ranks_(ranks),
        line_(side),
        packed_(planes_ * side * side),
        arrived_(planes_ * side * side),
        column_(side) {}

  void forward(std::vector<Complex>& data) {
    for (std::size_t plane = 0; plane < planes_; ++plane)
      plainPlane(&data[plane * side_ * side_], false);
    // The block for rank r: its range of y, x fastest.
    Complex* to = packed_.data();
    for (std::size_t r = 0; r < ranks_; ++r) {
      for (std::size_t z = 0; z < planes_; ++z)
        to = std::copy_n(&data[(z * side_ + r * planes_) * side_], planes_ * side_, to);
    }
    exchange();
    for (std::size_t z = 0; z < side_; ++z) {
      for (std::size_t y = 0; y < planes_; ++y) {
        for (std::size_t x = 0; x < side_; ++x)
          data[(y * side_ + x) * side_ + z] = arrived_[(z * planes_ + y) * side_ + x];
      }
    }
    for (std::size_t i = 0; i < planes_ * side_; ++i)
      line_.transform(&data[i * side_], false);
  }

  void inverse(std::vector<Complex>& data) {
    for (std::size_t i = 0; i < planes_ * side_; ++i)
      line_.transform(&data[i * side_], true);
    for (std::size_t z = 0; z < side_; ++z) {
      for (std::size_t y = 0; y < planes_; ++y) {
        for (std::size_t x = 0; x < side_; ++x)
          packed_[(z * planes_ + y) * side_ + x] = data[(y * side_ + x) * side_ + z];
      }
    }
    exchange();
    const Complex* from = arrived_.data();
    for (std::size_t r = 0; r < ranks_; ++r) {
      for (std::size_t z = 0; z < planes_; ++z, from += planes_ * side_)
        std::copy_n(from, planes_ * side_, &data[(z * side_ + r * planes_) * side_]);
    }
    const double scale = 1 / (static_cast<double>(side_) * static_cast<double>(side_ * side_));
    for (std::size_t plane = 0; plane < planes_; ++plane)
      plainPlane(&data[plane * side_ * side_], true);
    for (Complex& it : data)
      it *= scale;
  }

  std::size_t blockBytes() const { return planes_ * planes_ * side_ * sizeof(Complex); }
  double exchange_s = 0;

 private:
  void plainPlane(Complex* plane, bool inverse) {
    for (std::size_t y = 0; y < side_; ++y)
      line_.transform(plane + y * side_, inverse);
    for (std::size_t x = 0; x < side_; ++x) {
      for (std::size_t y = 0; y < side_; ++y)
        column_[y] = plane[y * side_ + x];
      line_.transform(column_.data(), inverse);
      for (std::size_t y = 0; y < side_; ++y)
        plane[y * side_ + x] = column_[y];
    }
  }

  void exchange() {
    const double begin = MPI_Wtime();
    const int doubles = static_cast<int>(blockBytes() / sizeof(double));
    MPI_Alltoall(packed_.data(), doubles, MPI_DOUBLE, arrived_.data(), doubles, MPI_DOUBLE,
                 MPI_COMM_WORLD);
    exchange_s += MPI_Wtime() - begin;
  }

  const std::size_t side_, planes_, ranks_;
  const Line line_;
  std::vector<Complex> packed_, arrived_, column_;
};

/// A frequency by its definition, of all ranks' planes.
Complex byDefinition(const std::vector<Complex>& data, std::size_t side, std::size_t first_z,
                     const std::size_t (&k)[3]) {
  Complex sum = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t x = i % side, y = i / side % side, z = first_z + i / side / side;
    const auto turns = static_cast<double>((k[0] * x + k[1] * y + k[2] * z) % side);
    sum += data[i] * std::polar(1.0, -2 * std::numbers::pi * turns / static_cast<double>(side));
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int run(std::size_t side, int transforms) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto parts = static_cast<std::size_t>(ranks);
  if (!std::has_single_bit(side) || side % parts != 0 || transforms < 1) {
    if (rank == 0) std::fprintf(stderr, "fft3d: SIDE is a power of two that the ranks divide\n");
    return 2;
  }
  const std::size_t planes = side / parts;
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Complex> data(planes * side * side);
  for (Complex& it : data)
    it = {uniform(random), uniform(random)};
  const std::vector<Complex> kept = data;

  Slab slab(side, parts);
  slab.forward(data);
  double error = 0;
  std::mt19937_64 same(1);
  for (int sample = 0; sample < 4; ++sample) {
    const std::size_t k[3] = {same() % side, same() % side, same() % side};
    const Complex expected = byDefinition(kept, side, planes * static_cast<std::size_t>(rank), k);
    if (k[1] / planes != static_cast<std::size_t>(rank)) continue;
    const Complex found = data[(k[1] % planes * side + k[0]) * side + k[2]];
    error = std::max(error, std::abs(found - expected) / std::abs(expected));
  }
  slab.inverse(data);
  for (std::size_t i = 0; i < data.size(); ++i)
    error = std::max(error, std::abs(data[i] - kept[i]));
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

  // The median of pairs of a transform and its inverse.
  std::vector<double> all, exchanges;
  for (int i = 0; i < transforms; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    slab.exchange_s = 0;
    const double begin = MPI_Wtime();
    slab.forward(data);
    slab.inverse(data);
    double took[2] = {MPI_Wtime() - begin, slab.exchange_s};
    MPI_Allreduce(MPI_IN_PLACE, took, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    all.push_back(took[0] / 2);
    exchanges.push_back(took[1] / 2);
  }
  std::ranges::sort(all);
  std::ranges::sort(exchanges);
  if (rank == 0) {
    std::printf("%d %zu %.1f %.1f %.1e\n", ranks, slab.blockBytes(), 1e6 * all[all.size() / 2],
                1e6 * exchanges[exchanges.size() / 2], error);
  }
  return error < 1e-9 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = argc == 3 ? run(std::strtoul(argv[1], nullptr, 10), std::atoi(argv[2])) : 2;
  MPI_Finalize();
  return code;
}
