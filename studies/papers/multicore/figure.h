// Shared by the figures of the multi-core all-to-all paper and the checks of its claims.
#ifndef TORC_STUDIES_PAPERS_MULTICORE_FIGURE_H_
#define TORC_STUDIES_PAPERS_MULTICORE_FIGURE_H_

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Support/Error.h>

#include "studies/cluster/alltoall.h"
#include "studies/papers/figures.h"

namespace torc::studies {

inline Cluster clusterNamed(const char* name) {
  llvm::Expected<Cluster> cluster = findCluster(name);
  if (!cluster) quit(llvm::toString(cluster.takeError()));
  return std::move(*cluster);
}

__attribute__((format(printf, 1, 2))) inline std::string text(const char* format, ...) {
  char line[400];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return line;
}

struct Figure : Table {
  const char* unit;

  Figure(const char* name, const char* title, const char* x_name, const char* unit,
         const std::vector<double>& x)
      : Table(over(name, std::string("## ") + title, x_name, x)), unit(unit) {}

  double at(std::size_t curve, double where) const {
    for (const auto& [first, numbers] : rows) {
      if (std::stod(first) == where) return *numbers[curve];
    }
    quit(title + ": no such point");
  }
  /// Gain of `curve` over `other` at a size, per cent of the other's.
  double gain(std::size_t curve, std::size_t other, double where) const {
    const double gained = 100 * (1 - at(curve, where) / at(other, where));
    return std::abs(gained) < 1e-6 ? 0 : gained;  // rounding
  }
  /// The x at which `curve` is lower than all others by more than rounding.
  std::string lowestAt(std::size_t curve) const {
    std::string listed;
    for (const auto& [first, numbers] : rows) {
      bool lowest = true;
      for (std::size_t other = 0; other < numbers.size(); ++other)
        lowest &= other == curve || *numbers[curve] < *numbers[other] * (1 - 1e-9);
      if (lowest) listed += (listed.empty() ? "" : ", ") + first;
    }
    return listed.empty() ? "nowhere" : listed;
  }
};

struct Claim {
  const char* figure;
  const char* says;  // with its section
  std::string here;
  const char* outcome;
};

/// Successive calls that figures average over: congestion differs from one to the next.
inline constexpr std::uint32_t kCalls = 4;

/// All-to-alls on one cluster.
class On {
 public:
  On(const char* cluster, std::uint32_t nodes, std::uint32_t cores = 8)
      : On(clusterNamed(cluster), nodes, cores) {}
  On(Cluster cluster, std::uint32_t nodes, std::uint32_t cores = 8)
      : cluster_(std::move(cluster)), nodes_(nodes), cores_(cores) {}

  double microseconds(ClusterStrategy strategy, double bytes, std::optional<ExchangeKind> kind = {},
                      std::uint32_t leaders = 1) const {
    return run(strategy, bytes, kind, leaders).seconds * 1e6;
  }
  ClusterRun run(ClusterStrategy strategy, double bytes, std::optional<ExchangeKind> kind = {},
                 std::uint32_t leaders = 1) const {
    const ClusterRun run = simulateAlltoall(
        cluster_, {nodes_, cores_, bytes, strategy, kind, leaders, kCalls, /*one_switch=*/false});
    if (!run.completed) quit("cores wait for each other");
    return run;
  }

 private:
  const Cluster cluster_;
  const std::uint32_t nodes_, cores_;
};

/// All claims of the text, for the figures in the order of alltoall-multicore.cc.
std::vector<Claim> claimsOf(const std::vector<Figure>& figures);

}  // namespace torc::studies

#endif  // TORC_STUDIES_PAPERS_MULTICORE_FIGURE_H_
