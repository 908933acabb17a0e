// Shared by tests of bounds, simulator and link loads: schedules and machines of round numbers.
#ifndef TORC_TESTS_MODEL_MODEL_TESTING_H_
#define TORC_TESTS_MODEL_MODEL_TESTING_H_

#include <string>
#include <string_view>

#include "compiler/compile.h"
#include "model/machines/machine.h"
#include "model/simulator/simulator.h"
#include "schedules/schedule.h"

namespace torc::model {

/// The schedule of `torc compile`, without a proof.
Schedule compiled(Collective collective, std::string_view shape,
                  const compiler::PipelineOptions& options = {}, const char* algorithm = "bucket");
Schedule compiled(Collective collective, const Topology& topology,
                  const compiler::PipelineOptions& options = {}, const char* algorithm = "bucket");

/// A schedule in text form without its header: an allgather on `torus` ("X=4, Y=4"); `body` begins
/// with its colors. It is valid, but need not compute anything.
Schedule allgatherOf(const std::string& torus, const std::string& body);

/// Links of 1 byte/s in the shape of `topology`, times its relative bandwidths; nothing else takes
/// time. One core per rank.
Machine unitMachine(const Topology& topology);

/// Expects a relative difference of at most 1e-9: sums in another order.
void expectClose(double value, double expected);

/// Makespan of a vector of `bytes`; an error fails the test.
double makespan(const Schedule& schedule, const Machine& machine, double bytes = 1);

/// The error message of a simulation; fails the test without an error.
std::string simulationError(const Schedule& schedule, const Machine& machine);

}  // namespace torc::model

#endif  // TORC_TESTS_MODEL_MODEL_TESTING_H_
