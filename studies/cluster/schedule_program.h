// A compiled all-to-all as a program of a cluster: what torc really runs, step by step.
#ifndef TORC_STUDIES_CLUSTER_SCHEDULE_PROGRAM_H_
#define TORC_STUDIES_CLUSTER_SCHEDULE_PROGRAM_H_

#include <cstdint>
#include <memory>

#include <llvm/Support/Error.h>

#include "schedules/schedule.h"
#include "studies/cluster/cluster.h"
#include "studies/cluster/cluster_program.h"

namespace torc::studies {

/// The programs of all ranks of `schedule`, an all-to-all that has passed `validate`, for blocks of
/// `bytes`. The nodes of its torus are the cluster's, whose switch joins each with every other;
/// ranks that differ in axis T alone are the cores of one.
///
/// The round of a message is the longest chain of messages that it comes behind; a rank begins a
/// round when all of the one before are complete. Messages inside a node go through shared memory,
/// and data that do not lie in one piece are gathered before they are sent, and scattered after.
///
/// Grows with the operations of all ranks: an error where there are more than
/// kMostClusterOperations, where the schedule is of another collective, or where nodes are dead.
inline constexpr std::uint64_t kMostClusterOperations = 20'000'000;
llvm::Expected<std::unique_ptr<ClusterProgram>> scheduleProgram(const Cluster& cluster,
                                                                const ScheduleView& schedule,
                                                                std::uint64_t bytes);

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_SCHEDULE_PROGRAM_H_
