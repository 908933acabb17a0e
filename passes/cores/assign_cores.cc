// Gives the streams of a node to its cores, so that they reduce at the same time ("Optimal Bucket
// Algorithms for Large MPI Collectives on Torus Interconnects", section 4: the colors and
// directions are worked on by different cores).
//
// A stream's work is the traffic of its operations through the core: the bytes that reductions and
// copies read and write, plus, far less, the start of each message. Streams go to the core with the
// least work so far, those with most work first, equal ones in listed order.
#include "passes/cores/assign_cores.h"

#include <algorithm>
#include <numeric>

#include "schedules/expansion/shares.h"

namespace torc::passes {
namespace {

// Work of starting a message, as a share of the vector: it decides if nothing is reduced.
constexpr double kMessageWork = 1e-9;

class AssignCores final : public Pass {
 public:
  explicit AssignCores(const AssignCoresPass& options)
      : Pass("assign-cores", "gives streams to the cores of a node, balanced by work",
             PassLevel::kStep),
        cores_(*this, "cores", "cores that work on the collective", 1, kMostCores, options.cores) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    const std::vector<double> work = workOfStreams(schedule);
    std::vector<std::uint32_t> order(schedule.streams.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return work[a] > work[b]; });

    std::vector<double> load(*cores_);
    bool any = false;
    for (const std::uint32_t index : order) {
      const auto least = std::min_element(load.begin(), load.end());
      const auto core = static_cast<std::uint32_t>(least - load.begin());
      *least += work[index];
      any |= schedule.streams[index].core != core;
      schedule.streams[index].core = core;
    }
    const double sum = std::accumulate(load.begin(), load.end(), 0.0);
    const double largest = *std::max_element(load.begin(), load.end());
    imbalance_ = sum > 0 ? largest * static_cast<double>(load.size()) / sum : 1;
    return changed(any);
  }

 private:
  static std::vector<double> workOfStreams(const Schedule& schedule) {
    const ScheduleView view = schedule.view();
    const VectorShares shares(view);
    std::vector<double> work(schedule.streams.size());
    for (const Operation& operation : schedule.operations) {
      double& of_stream = work[operation.stream];
      if (operation.peer != kNone) of_stream += kMessageWork;
      const bool reduces = operation.b.present();
      if (!reduces && operation.kind != OperationKind::kCopy) continue;
      of_stream += (reduces ? 3 : 2) * shares.of(operation.dst, {});
    }
    return work;
  }

  IntegerOption cores_;
  PassStatistic imbalance_{*this, "work of the busiest core over the mean"};
};

}  // namespace

std::unique_ptr<Pass> makePass(const AssignCoresPass& options) {
  return std::make_unique<AssignCores>(options);
}

}  // namespace torc::passes
