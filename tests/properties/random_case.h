// Random compilations for property tests, drawn from rapidcheck so that failures shrink: a shape of
// up to `max_ranks` nodes with torus and mesh dimensions, optional cores, a rank order. Further,
// rings cut by dead links, or any damage, a collective, and every option of the pipeline.
#ifndef TORC_TESTS_PROPERTIES_RANDOM_CASE_H_
#define TORC_TESTS_PROPERTIES_RANDOM_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "schedules/schedule.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc {

struct CompileCase {
  std::string collective;
  std::string shape;
  std::string order;  // of the ranks
  std::vector<std::string> dead_links, dead_nodes;
  std::string algorithm;
  passes::ColorWeights weights = passes::ColorWeights::kEqual;
  passes::DirectionModel directions = passes::DirectionModel::kBidirectional;
  passes::DependenceKind dependences = passes::DependenceKind::kRegion;
  std::uint32_t chunks = 1;
  std::uint32_t in_flight = 0;
  std::uint32_t segments = 1;
  compiler::CutRings cuts = compiler::CutRings::kLines;
  passes::SegmentOrder segment_order = passes::SegmentOrder::kChains;
  std::uint32_t scratch_depth = 2;
  bool leaders = false;  // of the nodes' cores

  std::string text() const;  // as a command line, for reproduction
};

/// Call within a rapidcheck property.
CompileCase drawCase(std::uint64_t max_ranks);

/// Compiles without verifying between passes; an error of the compiler fails the property.
Schedule compileCase(const CompileCase& test_case);

/// The schedule with loops of two or more iterations, or unchanged. Call within a property, too.
Schedule drawLoops(const Schedule& schedule);

/// A call for `schedule`: a count that is 0, 1, prime, smaller than the number of ranks or larger,
/// equal or different blocks, any type, in place or not. Call within a property, too.
CheckedCall drawCall(const Schedule& schedule);

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_RANDOM_CASE_H_
