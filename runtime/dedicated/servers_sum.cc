// Servers' sum: exchanges, one after the other.
#include "runtime/dedicated/servers_sum.h"

#include <algorithm>
#include <cstring>

#include "runtime/dedicated/requests.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::dedicated {
namespace {

// Messages of a sum have tags of their own: MPI has 32768 at least.
constexpr int kTagsOfSum = 32;
constexpr std::uint64_t kSumsWithTags = 1024;
static_assert(kSumsUnderWay <= kSumsWithTags);

}  // namespace

ServersSum::ServersSum(const SumRounds& rounds, MPI_Comm comm, std::uint64_t number,
                       Reducer reducer, std::size_t elements, std::size_t bytes)
    : comm_(comm), reducer_(reducer), elements_(elements), bytes_(bytes) {
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  plan(rounds, rank, ranks, static_cast<int>(number % kSumsWithTags) * kTagsOfSum);
}

void ServersSum::plan(const SumRounds& rounds, int rank, int ranks, int first_tag) {
  const bool is_inside = rank < rounds.inside;
  const int last_tag = first_tag + 1 + static_cast<int>(rounds.group_sizes.size());
  const int partner = is_inside ? rank + rounds.inside : rank - rounds.inside;
  const auto add = [&](int tag) -> Exchange& {
    Exchange& exchange = exchanges_.emplace_back();
    exchange.tag = tag;
    return exchange;
  };
  const auto addWithPartner = [&](int tag, bool sends) {
    if (partner >= ranks) return;
    Exchange& exchange = add(tag);
    exchange.others = {partner};
    exchange.sends = sends;
    exchange.receives = !sends;
    exchange.is_result = !is_inside;
  };
  addWithPartner(first_tag, !is_inside);
  for (std::size_t round = 0; is_inside && round < rounds.group_sizes.size(); ++round) {
    Exchange& exchange = add(first_tag + 1 + static_cast<int>(round));
    exchange.others = rounds.group(rank, round);
    const auto own = std::ranges::find(exchange.others, rank);
    exchange.before = static_cast<std::size_t>(own - exchange.others.begin());
    exchange.others.erase(own);
  }
  addWithPartner(last_tag, is_inside);
}

Status ServersSum::start(std::unique_ptr<std::byte[]> vector) {
  vector_ = std::move(vector);
  for (Exchange& exchange : exchanges_) {
    if (!exchange.receives) continue;
    exchange.received =
        std::make_unique_for_overwrite<std::byte[]>(exchange.others.size() * bytes_);
    exchange.incoming.assign(exchange.others.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < exchange.others.size(); ++i) {
      const int code =
          PMPI_Irecv(exchange.received.get() + i * bytes_, static_cast<int>(bytes_), MPI_BYTE,
                     exchange.others[i], exchange.tag, comm_, &exchange.incoming[i]);
      if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Irecv");
    }
  }
  return exchanges_.empty() ? Status() : send(exchanges_.front());
}

/// Those behind this rank in the group get theirs first, and each waits for as many as any other.
Status ServersSum::send(Exchange& exchange) {
  if (!exchange.sends) return {};
  exchange.sent = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  std::memcpy(exchange.sent.get(), vector_.get(), bytes_);
  exchange.outgoing.assign(exchange.others.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < exchange.others.size(); ++i) {
    const std::size_t to = (exchange.before + i) % exchange.others.size();
    const int code = PMPI_Isend(exchange.sent.get(), static_cast<int>(bytes_), MPI_BYTE,
                                exchange.others[to], exchange.tag, comm_, &exchange.outgoing[to]);
    if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Isend");
  }
  return {};
}

/// In the order of the group, so that all of it get the same bits.
void ServersSum::sum(Exchange& exchange) {
  std::unique_ptr<std::byte[]> first;
  if (exchange.before > 0) {
    first = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    std::memcpy(first.get(), exchange.received.get(), bytes_);
  } else {
    first = std::move(vector_);
  }
  for (std::size_t i = exchange.before > 0 ? 1 : 0; i <= exchange.others.size(); ++i) {
    if (i == exchange.before && i > 0) reducer_(first.get(), first.get(), vector_.get(), elements_);
    if (i == exchange.others.size()) break;
    reducer_(first.get(), first.get(), exchange.received.get() + i * bytes_, elements_);
  }
  vector_ = std::move(first);
}

Status ServersSum::advance(bool& moved) {
  while (next_ < exchanges_.size()) {
    Exchange& exchange = exchanges_[next_];
    if (!areComplete(exchange.incoming)) return {};
    moved = true;
    if (exchange.is_result && exchange.receives) {
      vector_ = std::move(exchange.received);
    } else if (exchange.receives) {
      sum(exchange);
    }
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
