// Measures blocking collectives in loops: an MPI program that does not use torc and has no
// nonblocking collective. bench/blocking_calls.sh runs it plain and preloaded.
//
//   blocking_calls SMALLEST LARGEST FACTOR [COLLECTIVE]...
//
// Only if named: scatterv and gatherv, with half a block for even ranks; allreduce-gaps, of
// structures of a double and an int with a user-defined operation; barrier, without bytes, on a
// line of its own.
//
// Prints a line for every collective and size from SMALLEST to LARGEST bytes, of whole vectors,
// FACTOR apart: microseconds of a call, name, bytes.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include <mpi.h>

namespace {

struct Buffers {
  std::vector<float> in, out;
  int rank = 0;
  std::vector<int> counts, places;  // of scatterv and gatherv

  void setBlocks(int block) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = i % 2 == 0 ? block / 2 : block;
      places[i] = static_cast<int>(i) * block;
    }
  }
};

/// 12 bytes of data in 16.
struct Pair {
  double value;
  int index;
};

MPI_Datatype pairType() {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(Pair, value), offsetof(Pair, index)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype fields = MPI_DATATYPE_NULL, pair = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(Pair), &pair);
  MPI_Type_commit(&pair);
  return pair;
}

void addPairs(void* in, void* sum, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Pair*>(in);
  auto* to = static_cast<Pair*>(sum);
  for (int i = 0; i < *count; ++i) {
    to[i].value += from[i].value;
    to[i].index = std::max(to[i].index, from[i].index);
  }
}

MPI_Op pairSum() {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(addPairs, 1, &op);
  return op;
}

/// A collective with a whole vector of `count` elements and blocks of `block`.
struct RunLoop {
  std::string_view name;
  std::function<void(Buffers&, int count, int block)> call;
  bool is_default = true;
};

constexpr std::string_view kBarrier = "barrier";

const RunLoop kLoops[] = {
    {"allreduce",
     [](Buffers& data, int count, int) {
       MPI_Allreduce(data.in.data(), data.out.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
     }},
    {"reduce_scatter",
     [](Buffers& data, int, int block) {
       MPI_Reduce_scatter_block(data.in.data(), data.out.data(), block, MPI_FLOAT, MPI_SUM,
                                MPI_COMM_WORLD);
     }},
    {"allgather",
     [](Buffers& data, int, int block) {
       MPI_Allgather(data.in.data(), block, MPI_FLOAT, data.out.data(), block, MPI_FLOAT,
                     MPI_COMM_WORLD);
     }},
    {"alltoall",
     [](Buffers& data, int, int block) {
       MPI_Alltoall(data.in.data(), block, MPI_FLOAT, data.out.data(), block, MPI_FLOAT,
                    MPI_COMM_WORLD);
     }},
    {"broadcast", [](Buffers& data, int count,
                     int) { MPI_Bcast(data.in.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD); }},
    {"reduce",
     [](Buffers& data, int count, int) {
       MPI_Reduce(data.in.data(), data.out.data(), count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
     }},
    {"scatter",
     [](Buffers& data, int, int block) {
       MPI_Scatter(data.in.data(), block, MPI_FLOAT, data.out.data(), block, MPI_FLOAT, 0,
                   MPI_COMM_WORLD);
     }},
    {"gather",
     [](Buffers& data, int, int block) {
       MPI_Gather(data.in.data(), block, MPI_FLOAT, data.out.data(), block, MPI_FLOAT, 0,
                  MPI_COMM_WORLD);
     }},
    {"scatterv",
     [](Buffers& data, int, int) {
       MPI_Scatterv(data.in.data(), data.counts.data(), data.places.data(), MPI_FLOAT,
                    data.out.data(), data.counts[static_cast<std::size_t>(data.rank)], MPI_FLOAT, 0,
                    MPI_COMM_WORLD);
     },
     false},
    {"gatherv",
     [](Buffers& data, int, int) {
       MPI_Gatherv(data.in.data(), data.counts[static_cast<std::size_t>(data.rank)], MPI_FLOAT,
                   data.out.data(), data.counts.data(), data.places.data(), MPI_FLOAT, 0,
                   MPI_COMM_WORLD);
     },
     false},
    {"allreduce-gaps",
     [](Buffers& data, int count, int) {
       static const MPI_Datatype pair = pairType();
       static const MPI_Op sum = pairSum();
       MPI_Allreduce(data.in.data(), data.out.data(), count / 4, pair, sum, MPI_COMM_WORLD);
     },
     false},
    {kBarrier, [](Buffers&, int, int) { MPI_Barrier(MPI_COMM_WORLD); }, false},
};

/// Seconds of `calls` calls after a barrier.
double secondsOf(int calls, const std::function<void()>& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i)
    call();
  return MPI_Wtime() - start;
}

/// Microseconds: the lower quartile of batches of about 3 ms, on rank 0.
double timeOf(const std::function<void()>& call) {
  constexpr int kBatches = 21;
  constexpr double kBatchSeconds = 3e-3;
  secondsOf(3, call);
  double one = secondsOf(10, call) / 10;
  MPI_Bcast(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int calls = static_cast<int>(std::clamp(kBatchSeconds / one, 1.0, 5000.0));
  std::vector<double> batches;
  for (int batch = 0; batch < kBatches; ++batch)
    batches.push_back(1e6 * secondsOf(calls, call) / calls);
  std::ranges::nth_element(batches, batches.begin() + kBatches / 4);
  return batches[kBatches / 4];
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i) { return argc > i ? std::atol(argv[i]) : 0; };
  const long smallest = number(1), largest = number(2), factor = number(3);
  if (smallest < 4 || largest < smallest || largest > 1L << 30 || factor < 2) {
    std::fprintf(stderr,
                 "usage: blocking_calls SMALLEST LARGEST FACTOR [COLLECTIVE]...   bytes, 4 to "
                 "1073741824\n");
    return 2;
  }
  const auto isAskedFor = [&](const RunLoop& loop) {
    return argc == 4 ? loop.is_default : std::find(argv + 4, argv + argc, loop.name) != argv + argc;
  };
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto elements = static_cast<std::size_t>(largest) / sizeof(float);
  const std::vector<float> zeros(elements);
  const std::vector<int> list(static_cast<std::size_t>(size));
  Buffers buffers{zeros, zeros, rank, list, list};
  for (const RunLoop& loop : kLoops) {
    if (!isAskedFor(loop)) continue;
    const long last = loop.name == kBarrier ? smallest : largest;
    for (long bytes = smallest; bytes <= last; bytes *= factor) {
      const int count = static_cast<int>(static_cast<std::size_t>(bytes) / sizeof(float));
      const int block = count / size;
      if (block == 0 && loop.name != kBarrier) continue;
      buffers.setBlocks(block);
      const double time = timeOf([&] { loop.call(buffers, count, block); });
      if (rank == 0) std::printf("%.3f %s %ld\n", time, loop.name.data(), bytes);
    }
  }
  MPI_Finalize();
  return 0;
}
