#include "runtime/run/calibration/message_probe.h"

#include <algorithm>
#include <sched.h>
#include <unistd.h>

#include "runtime/transport/smpi.h"

namespace torc::runtime {
namespace {

enum Tag { kData = 1, kNumber };

constexpr int kBurst = 8;              // small messages whose sends are timed together
constexpr double kPatience = 1e-3;     // seconds within which a send without waiting completes
constexpr double kLongAfter = 200e-6;  // seconds, besides twice the message's own

void sleepFor(double seconds) {
  usleep(static_cast<useconds_t>(std::min(1e6 * seconds, 999'999.0)));
}

/// Repetitions between two readings of the clock.
int repeatsOf(std::size_t bytes) {
  return bytes <= kSmallMessage ? 10 : 1;
}

}  // namespace

MessageProbe::MessageProbe(MPI_Comm comm, bool yields, std::size_t most_bytes)
    : comm_(comm), yields_(yields), out_(most_bytes), in_(most_bytes) {}

MPI_Request MessageProbe::startSend(int peer, std::size_t bytes) const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(out_.data(), static_cast<int>(bytes), MPI_BYTE, peer, kData, comm_, &request);
  return request;
}

MPI_Request MessageProbe::startReceive(int peer, std::size_t bytes, std::size_t offset) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(in_.data() + offset, static_cast<int>(bytes), MPI_BYTE, peer, kData, comm_, &request);
  return request;
}

/// Waits like torc: MPI's own waits spin if there are more ranks than cores, and on a simulated
/// machine polling takes time.
void MessageProbe::finish(std::span<MPI_Request> requests) const {
  const int count = static_cast<int>(requests.size());
  if constexpr (kSimulated) {
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    return;
  }
  for (int done = 0; done == 0;) {
    MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0 && yields_) sched_yield();
  }
}

void MessageProbe::sendNumber(int peer, double number) const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&number, 1, MPI_DOUBLE, peer, kNumber, comm_, &request);
  finish(request);
}

double MessageProbe::receiveNumber(int peer) const {
  double number = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&number, 1, MPI_DOUBLE, peer, kNumber, comm_, &request);
  finish(request);
  return number;
}

Samples MessageProbe::ask(std::span<const int> peers, std::size_t out, std::size_t in, int count) {
  const int repeats = repeatsOf(std::max(out, in));
  Samples seconds;
  std::vector<MPI_Request> requests(2 * peers.size());
  double start = 0;
  for (int i = 0; i <= count * repeats; ++i) {
    for (std::size_t p = 0; p < peers.size(); ++p)
      requests[p] = startReceive(peers[p], in, p * in);
    for (std::size_t p = 0; p < peers.size(); ++p)
      requests[peers.size() + p] = startSend(peers[p], out);
    finish(requests);
    if (i % repeats != 0) continue;
    const double now = MPI_Wtime();
    if (i > 0) seconds.add((now - start) / repeats);
    start = now;
  }
  return seconds;
}

void MessageProbe::answer(int peer, std::size_t out, std::size_t in, int count) {
  const int all = count * repeatsOf(std::max(out, in)) + 1;
  MPI_Request next = startReceive(peer, out);
  for (int i = 0; i < all; ++i) {
    finish({&next, 1});
    if (i + 1 < all) next = startReceive(peer, out);
    finish(startSend(peer, in));
  }
}

Samples MessageProbe::send(int peer, int count) {
  Samples seconds;
  for (int i = 0; i <= count; ++i) {
    MPI_Request requests[kBurst + 1];
    (void)receiveNumber(peer);  // the receives are posted
    const double start = MPI_Wtime();
    for (int k = 0; k < kBurst; ++k)
      requests[k] = startSend(peer, kSmallMessage);
    const double end = MPI_Wtime();
    requests[kBurst] = startReceive(peer, kSmallMessage);
    finish(requests);
    if (i > 0) seconds.add((end - start) / kBurst);
  }
  return seconds;
}

void MessageProbe::takeSent(int peer, int count) {
  for (int i = 0; i <= count; ++i) {
    MPI_Request requests[kBurst];
    for (int k = 0; k < kBurst; ++k)
      requests[k] = startReceive(peer, kSmallMessage, k * kSmallMessage);
    sendNumber(peer, 0);
    finish(requests);
    finish(startSend(peer, kSmallMessage));
  }
}

MessageProbe::Unexpected MessageProbe::sendUnexpected(int peer, std::size_t bytes) {
  Unexpected result;
  sendNumber(peer, static_cast<double>(bytes));
  // First with a posted receive: the time of a message of this size.
  (void)receiveNumber(peer);
  const double start = MPI_Wtime();
  MPI_Request answered = startReceive(peer, kSmallMessage);
  finish(startSend(peer, bytes));
  finish(answered);
  result.answered_s = MPI_Wtime() - start;
  // Then without one.
  MPI_Request sent = startSend(peer, bytes);
  const double begin = MPI_Wtime();
  int done = 0;
  for (bool is_first = true; done == 0 && (is_first || MPI_Wtime() - begin < kPatience);
       is_first = false) {
    MPI_Test(&sent, &done, MPI_STATUS_IGNORE);
    if (done == 0 && yields_) sched_yield();
  }
  result.is_at_once = done != 0;
  sendNumber(peer, result.answered_s);  // the receive may be posted, long after
  finish(sent);
  result.receive_s = receiveNumber(peer);
  return result;
}

void MessageProbe::endUnexpected(int peer) {
  sendNumber(peer, -1);
}

void MessageProbe::serveUnexpected(int peer) {
  while (true) {
    const double size = receiveNumber(peer);
    if (size < 0) return;
    const auto bytes = static_cast<std::size_t>(size);
    MPI_Request expected = startReceive(peer, bytes);
    sendNumber(peer, 0);
    finish(expected);
    finish(startSend(peer, kSmallMessage));
    const double message_s = receiveNumber(peer);
    sleepFor(2 * message_s + kLongAfter);
    const double start = MPI_Wtime();
    finish(startReceive(peer, bytes));
    sendNumber(peer, MPI_Wtime() - start);
  }
}

}  // namespace torc::runtime
