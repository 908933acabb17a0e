// How many chunks pay: predicted time of a schedule whose parts are cut into K chunks that follow
// each other ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects", section
// 4, "Overlapping computation and communication"; with weighted colors chunks also let phases
// overlap).
//
// A stream's messages on one link in one phase are a chain of s messages, m bytes each in one chunk
// of K, one after the other; w chains share a link (order-links{in-flight=w}). With beta seconds
// per byte of the link and tau = alpha + 2 o + L + hop + gamma m per message, which the other
// chains fill,
//   busy(link) = sum over its chains of K s max(m beta, (m beta + tau) / min(w, K))
//   T(K) = max(largest busy(link), bytes reduced gamma / cores)
//          + largest over the streams of [sum over its phases on other links of s (m beta + tau)].
// The last term is what the first chunk needs before the busiest link is busy, and the last one
// after it; it falls as 1/K but for the start-up times.
#ifndef TORC_MODEL_PIPELINE_COST_H_
#define TORC_MODEL_PIPELINE_COST_H_

#include <cstdint>
#include <vector>

#include "model/machine.h"
#include "schedules/schedule.h"

namespace torc {

class PipelineCost {
 public:
  /// `schedule` has step operations on a topology of the machine's dimensions; `bytes` is the size
  /// of the whole vector. At most `in_flight` chunks share a link.
  PipelineCost(const ScheduleView& schedule, const Machine& machine, double bytes,
               std::uint32_t in_flight);

  /// Predicted seconds when every part is cut into `chunks` >= 1 pieces.
  double seconds(std::uint32_t chunks) const;

  /// The fewest chunks, a power of two up to `most`, that come within 0.2 % of the best.
  std::uint32_t bestChunks(std::uint32_t most) const;

 private:
  /// Messages of a stream on one link in one phase.
  struct Chain {
    std::uint32_t stream = 0;
    std::uint32_t link = 0;
    double messages = 0;
    double transfer = 0;  // seconds per message, of the uncut part
    double reduce = 0;    // seconds per message, likewise
    double start_up = 0;  // seconds per message, however small
  };

  std::vector<Chain> chains_;  // stream by stream
  double compute_ = 0;         // seconds of reductions, over all cores
  std::uint32_t in_flight_;
};

}  // namespace torc

#endif  // TORC_MODEL_PIPELINE_COST_H_
