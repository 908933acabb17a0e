// A compiled all-to-all as a program of a cluster: torc's real execution, step by step.
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
/// `bytes`. The nodes of its torus are nodes of the cluster, whose switch joins each with every
/// other; ranks that differ only in axis T are the cores of one node.
///
/// The round of a message is the length of the longest chain of messages before it; a rank begins a
/// round when all of the one before are complete. Messages inside a node use shared memory, and
/// data that are not contiguous are packed before they are sent, and unpacked after.
///
/// Memory grows with the operations of all ranks: an error if there are more than
/// kMostClusterOperations, if the schedule has another collective, or if nodes are dead.
inline constexpr std::uint64_t kMostClusterOperations = 20'000'000;
llvm::Expected<std::unique_ptr<ClusterProgram>> scheduleProgram(const Cluster& cluster,
                                                                const ScheduleView& schedule,
                                                                std::uint64_t bytes);

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_SCHEDULE_PROGRAM_H_
