// Messages between ranks and what they take: what a calibration times.
//
// Each measurement names what its two ends do; both count the same repetitions, and the first one,
// which brings the ends together, is not timed. Receives are there before their messages wherever
// that is not what is measured.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_MESSAGE_PROBE_H_
#define TORC_RUNTIME_RUN_CALIBRATION_MESSAGE_PROBE_H_

#include <cstddef>
#include <span>
#include <vector>

#include <mpi.h>

#include "runtime/run/calibration/node_measurement.h"
#include "runtime/run/calibration/repeated_samples.h"

namespace torc::runtime {

class MessageProbe {
 public:
  /// `yields`: gives the core away while it waits. `most_bytes`: of the messages to and from all
  /// peers together. Throws std::bad_alloc.
  MessageProbe(MPI_Comm comm, bool yields, std::size_t most_bytes);

  /// Seconds of a message of `out` bytes to each of `peers`, and of `in` bytes from each, `count`
  /// times. A peer that does the same at the same time swaps; one that answers waits for `out`
  /// first.
  Samples ask(std::span<const int> peers, std::size_t out, std::size_t in, int count);
  void answer(int peer, std::size_t out, std::size_t in, int count);

  /// Seconds of a call that sends a small message; `count` times.
  Samples send(int peer, int count);
  void takeSent(int peer, int count);

  /// What becomes of a message whose receive is not there yet. The receiving end serves until
  /// `endUnexpected`.
  struct Unexpected {
    bool is_at_once = false;  // its send was over
    double receive_s = 0;     // that the receiving end took then, long after
    double answered_s = 0;    // of one whose receive is there, and a small message back
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
  std::vector<std::byte> out_, in_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_MESSAGE_PROBE_H_
