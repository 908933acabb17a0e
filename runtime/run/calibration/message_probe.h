// Message probe: the timed message exchanges of a calibration.
//
// Each measurement defines the actions of its two ends; both run the same number of repetitions,
// and the first one, which synchronizes them, is not timed. Receives are posted before their
// messages, unless a measurement is about unexpected ones.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_MESSAGE_PROBE_H_
#define TORC_RUNTIME_RUN_CALIBRATION_MESSAGE_PROBE_H_

#include <cstddef>
#include <span>

#include <mpi.h>

#include "runtime/run/calibration/node_measurement.h"
#include "runtime/run/calibration/repeated_samples.h"
#include "runtime/run/world/page_vector.h"

namespace torc::runtime {

class MessageProbe {
 public:
  /// `yields`: yields the core while it waits. `most_bytes`: of the messages to and from all peers
  /// together. Throws std::bad_alloc.
  MessageProbe(MPI_Comm comm, bool yields, std::size_t most_bytes);

  /// Seconds of a message of `out` bytes to each of `peers`, and of `in` bytes from each, `count`
  /// times. A peer that calls `ask` too exchanges messages; one that answers waits for `out` first.
  Samples ask(std::span<const int> peers, std::size_t out, std::size_t in, int count);
  void answer(int peer, std::size_t out, std::size_t in, int count);

  /// Seconds of a call that sends a small message; `count` times.
  Samples send(int peer, int count);
  void takeSent(int peer, int count);

  /// Times of an unexpected message. The receiving end serves until `endUnexpected`.
  struct Unexpected {
    bool is_at_once = false;  // its send was complete
    double receive_s = 0;     // time of the receive, posted long after
    double answered_s = 0;    // of an expected message, and a small one back
  };
  Unexpected sendUnexpected(int peer, std::size_t bytes);
  void endUnexpected(int peer);
  void serveUnexpected(int peer);

 private:
  MPI_Request startSend(int peer, std::size_t bytes) const;
  MPI_Request startReceive(int peer, std::size_t bytes, std::size_t offset = 0);
  void finish(std::span<MPI_Request> requests) const;
  void finish(MPI_Request request) const { finish({&request, 1}); }
  void sendNumber(int peer, double number) const;
  double receiveNumber(int peer) const;

  const MPI_Comm comm_;
  const bool yields_;
  PageVector<std::byte> out_, in_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_MESSAGE_PROBE_H_
