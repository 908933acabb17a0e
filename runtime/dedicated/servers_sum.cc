// Servers' sum: one exchange after the other.
#include "runtime/dedicated/servers_sum.h"

#include <cstring>

#include "runtime/dedicated/protocol.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::dedicated {
namespace {

// Each message of a sum has its own tag: MPI guarantees 32768.
constexpr std::uint64_t kSumsWithTags = 32768 / kMostSumRounds;
static_assert(kSumsUnderWay <= kSumsWithTags);

}  // namespace

ServersSum::ServersSum(const std::vector<SumStep>& steps, MPI_Comm comm, std::uint64_t number,
                       Reducer reducer, std::size_t elements, std::size_t bytes)
    : comm_(comm),
      reducer_(reducer),
      elements_(elements),
      bytes_(bytes),
      first_tag_(static_cast<int>(number % kSumsWithTags) * kMostSumRounds) {
  for (const SumStep& step : steps)
    exchanges_.emplace_back().step = &step;
}

Status ServersSum::start(std::unique_ptr<std::byte[]> vector) {
  vector_ = std::move(vector);
  for (Exchange& exchange : exchanges_) {
    const std::vector<int>& from = exchange.step->from;
    if (from.empty()) continue;
    exchange.received = std::make_unique_for_overwrite<std::byte[]>(from.size() * bytes_);
    exchange.incoming.assign(from.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const int code =
          PMPI_Irecv(exchange.received.get() + i * bytes_, static_cast<int>(bytes_), MPI_BYTE,
                     from[i], first_tag_ + exchange.step->round, comm_, &exchange.incoming[i]);
      if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Irecv");
    }
  }
  return exchanges_.empty() ? Status() : send(exchanges_.front());
}

Status ServersSum::send(Exchange& exchange) {
  const std::vector<int>& to = exchange.step->to;
  if (to.empty()) return {};
  exchange.sent = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  std::memcpy(exchange.sent.get(), vector_.get(), bytes_);
  exchange.outgoing.assign(to.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const int code = PMPI_Isend(exchange.sent.get(), static_cast<int>(bytes_), MPI_BYTE, to[i],
                                first_tag_ + exchange.step->round, comm_, &exchange.outgoing[i]);
    if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Isend");
  }
  return {};
}

/// In the order of the step, so that results are bitwise the same on all ranks.
void ServersSum::sum(Exchange& exchange) {
  const SumStep& step = *exchange.step;
  std::vector<const std::byte*> terms;
  for (std::size_t i = 0; i < step.from.size(); ++i)
    terms.push_back(exchange.received.get() + i * bytes_);
  if (terms.empty()) return;
  if (step.adds_own) {
    terms.insert(terms.begin() + static_cast<std::ptrdiff_t>(step.own_place), vector_.get());
  }
  auto total = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  std::memcpy(total.get(), terms.front(), bytes_);
  for (std::size_t i = 1; i < terms.size(); ++i)
    reducer_(total.get(), total.get(), terms[i], elements_);
  vector_ = std::move(total);
}

Status ServersSum::advance(bool& moved) {
  while (next_ < exchanges_.size()) {
    Exchange& exchange = exchanges_[next_];
    if (!areComplete(exchange.incoming)) return {};
    moved = true;
    sum(exchange);
    ++next_;
    if (next_ == exchanges_.size()) return {};
    if (Status status = send(exchanges_[next_]); !status.ok()) return status;
  }
  return {};
}

void ServersSum::takeOutgoing(std::vector<MPI_Request>& requests) {
  for (Exchange& exchange : exchanges_) {
    for (MPI_Request& request : exchange.outgoing)
      requests.push_back(std::exchange(request, MPI_REQUEST_NULL));
  }
}

void ServersSum::appendRequests(std::vector<MPI_Request*>& requests) {
  for (Exchange& exchange : exchanges_) {
    for (MPI_Request& request : exchange.incoming)
      requests.push_back(&request);
  }
}

}  // namespace torc::runtime::dedicated
