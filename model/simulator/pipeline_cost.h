// The profitable number of chunks: predicted time of a schedule whose parts are cut into K chunks
// that follow each other ("Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects", section 4, "Overlapping computation and communication"; with weighted colors
// chunks also let phases overlap).
//
// A stream's messages on one link in one phase are a chain of s messages, m bytes each in one chunk
// of K, one after the other. With beta seconds per byte of the link, tau = alpha + 2 o + L + hop
// per message and gamma per byte reduced, a chain alone on its link takes
//   D = s (m beta + m gamma + tau)
// and uses the link for s m beta of it. At most `in_flight` chains share a link (order-links). If
// their uses add up to more than its time they are slowed down equally; so are reducing chains, on
// any links, if they need more than the cores have. Chains begin in the order of phases and chunks:
// when their chunk has ended the phase before, the chain `in_flight` places before on the link has
// ended, and the one just before has sent its first message. The result is the end of the last one,
// or the cores' time for all reductions if that is more.
//
// In a tree a node forwards data that it has just received: a send waits for a receive that the
// same send, on the node before, has filled. Such a message uses h links, as many as nodes along
// its axis execute the send: its chain takes h times as long, but no link is used longer.
#ifndef TORC_MODEL_SIMULATOR_PIPELINE_COST_H_
#define TORC_MODEL_SIMULATOR_PIPELINE_COST_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "model/machines/machine.h"
#include "schedules/schedule.h"

namespace torc::model {

/// Most chunks considered: operations, files and proofs grow with them.
inline constexpr std::uint32_t kMostChunks = 256;

/// Messages of a stream on one link in one phase.
struct MessageChain {
  std::uint32_t phase = 0, stream = 0, link = 0;
  llvm::SmallVector<std::uint32_t, 2> after;  // other streams that it waits for
  double messages = 0;                        // on a link
  double hops = 0;                            // of a message, after the first, of all of them
  double transfer = 0;                        // seconds per message of the uncut part
  double reduce = 0;                          // likewise
  double start_up = 0;                        // seconds per message, independent of size

  /// Seconds, alone on its link, with its parts cut into `chunks` chunks.
  double alone(std::uint32_t chunks) const {
    return (messages + hops) * (transfer / chunks + reduce / chunks + start_up);
  }
};

class PipelineCost {
 public:
  /// `schedule` has step operations on a topology of the machine's dimensions; `bytes` is the size
  /// of the whole vector. The root, if it has one, is rank 0.
  PipelineCost(const ScheduleView& schedule, const Machine& machine, double bytes);

  /// Predicted seconds if every part is cut into `chunks` >= 1 pieces, of which `in_flight` >= 1
  /// share a link at a time.
  double seconds(std::uint32_t chunks, std::uint32_t in_flight) const;

  /// Seconds of use of the busiest link.
  double busySeconds() const;
  /// Seconds of all reductions of a node, on all of its cores.
  double reduceSeconds() const { return compute_; }

  /// The fewest chunks, a power of two up to `most`, within 0.2 % of the best.
  std::uint32_t bestChunks(std::uint32_t in_flight, std::uint32_t most = kMostChunks) const;

 private:
  /// A bound: all chains of a link, each with its time alone, `in_flight` at a time.
  double leastSeconds(std::uint32_t chunks, std::uint32_t in_flight) const;

  std::vector<MessageChain> chains_;  // phase by phase, stream by stream
  std::uint32_t streams_ = 0;
  double cores_ = 1;
  double compute_ = 0;  // seconds of reductions, over all cores
};

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_PIPELINE_COST_H_
