// Node probe: speed of a node's cores and memory in a reduction, by the runtime's own kernel. Not
// for a simulated machine, where no time passes while a core computes.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_NODE_PROBE_H_
#define TORC_RUNTIME_RUN_CALIBRATION_NODE_PROBE_H_

#include <cstddef>

namespace torc::runtime {

/// Seconds per byte of the sum of two arrays of floats into a third, the median of several timings.
/// Throws std::bad_alloc.
double secondsPerByte(std::size_t array_bytes);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_NODE_PROBE_H_
