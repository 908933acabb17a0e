// Served group: its calls, from the first contribution to the last result.
#include "runtime/dedicated/served_group.h"

#include <algorithm>
#include <cstring>

#include "runtime/dedicated/server_collectives.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "schedules/collective.h"
#include "support/message.h"

namespace torc::runtime::dedicated {
namespace {

// Number of calls of a communicator with memory for long contributions at the same time.
constexpr std::size_t kCallsWithRoom = 8;

/// Whether every rank sends and receives blocks of its own.
bool isExchange(const Request& request) {
  return request.collective.row().describesOwn();
}
bool isOfPairs(const Request& request) {
  return request.collective.row().blocks == BlockSpace::kPair;
}
/// Whether each rank gets only its part of the sums.
bool isCut(const Request& request) {
  return request.collective.reduces() && !request.collective.row().outWhole();
}

std::unique_ptr<std::byte[]> makeBytes(std::size_t bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes, 1));
}

}  // namespace

ServedGroup::ServedGroup(const Wire& wire, int server, std::vector<int> members, ShortSums sums)
    : wire_(wire), members_(std::move(members)), short_sums_(sums) {
  for (const int member : members_)
    servers_.push_back(wire_.serverOf(member));
  std::ranges::sort(servers_);
  const auto twice = std::ranges::unique(servers_);
  servers_.erase(twice.begin(), twice.end());
  ranks_of_.resize(servers_.size());
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const auto found = std::ranges::lower_bound(servers_, wire_.serverOf(members_[rank]));
    position_.push_back(static_cast<int>(found - servers_.begin()));
    ranks_of_[static_cast<std::size_t>(position_.back())].push_back(static_cast<int>(rank));
  }
  own_position_ = static_cast<int>(std::ranges::lower_bound(servers_, server) - servers_.begin());
  mine_ = ranks_of_[static_cast<std::size_t>(own_position_)];
  last_requests_.resize(mine_.size());
  if (short_sums_ == ShortSums::kExchanged) {
    std::vector<int> nodes;
    for (const int each : servers_)
      nodes.push_back(wire_.roles.node_of_server[static_cast<std::size_t>(each)]);
    sum_steps_ = planSumRounds(nodes).stepsOf(own_position_);
  }
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    index_of_source_[wire_.rankOfApplication(members_[static_cast<std::size_t>(mine_[i])])] =
        static_cast<int>(i);
  }
}

ServedGroup::~ServedGroup() {
  if (comm_ != MPI_COMM_NULL) freeServers(&comm_);
}

/// The first contribution determines the call.
Status ServedGroup::begin(Call& call, const Request& request) {
  call.request = request;
  call.contributions.resize(mine_.size());
  if (!request.collective.reduces()) return {};
  StatusOr<ElementType> type = describeType(PMPI_Type_f2c(request.type));
  if (!type.ok()) return type.status();
  call.type = *type;
  if (Status status = lookAtReduction(call.type, PMPI_Op_f2c(request.op), call.reduction);
      !status.ok()) {
    return status;
  }
  return call.reducer.use(call.type, call.reduction);
}

Status ServedGroup::check(const Call& call, const Contribution& contribution) const {
  const Request &one = call.request, &other = contribution.request;
  std::uint64_t wanted = other.bytes;
  if (isOfPairs(other)) wanted *= members_.size();
  const bool is_root =
      contribution.source == wire_.rankOfApplication(members_[static_cast<std::size_t>(one.root)]);
  if (other.collective.row().inAt(is_root) == Holds::kNothing) wanted = 0;
  if (one.collective == other.collective && one.bytes == other.bytes && one.root == other.root &&
      one.op == other.op && other.data_bytes == wanted) {
    return {};
  }
  const auto describe = [](const Request& request) {
    return message(name(request.collective), " of ", request.bytes, " bytes, root ", request.root);
  };
  return Status(StatusCode::kMismatch,
                message("call ", other.number + 1, " on a communicator of ", members_.size(),
                        " ranks differs between its ranks: ", describe(one), "; rank ",
                        contribution.source, ": ", describe(other)));
}

Status ServedGroup::take(Contribution contribution) {
  const auto index = static_cast<std::size_t>(index_of_source_.at(contribution.source));
  Request& last = last_requests_[index];
  if (contribution.request.purpose == Purpose::kRepeat) {
    contribution.request = last;
    ++contribution.request.number;
  }
  last = contribution.request;
  const std::uint64_t ahead = contribution.request.number - first_;
  while (calls_.size() <= ahead)
    calls_.push_back(std::make_unique<Call>());
  Call& call = *calls_[ahead];
  if (call.contributions.empty()) {
    if (Status status = begin(call, contribution.request); !status.ok()) return status;
  }
  if (Status status = check(call, contribution); !status.ok()) return status;
  if (contribution.request.is_long) {
    contribution.bytes.reset();
    ++call.without_room;
  }
  call.contributions[index] = std::move(contribution);
  ++call.arrived;
  return {};
}

/// In the order of the calls, as each rank's data come in that order.
Status ServedGroup::makeRooms() {
  for (std::size_t i = 0; i < std::min(kCallsWithRoom, calls_.size()); ++i) {
    Call& call = *calls_[i];
    if (call.without_room == 0) continue;
    for (Contribution& contribution : call.contributions) {
      if (!contribution.request.is_long || contribution.has_room) continue;
      if (Status status = makeRoom(contribution); !status.ok()) return status;
    }
    call.without_room = 0;
  }
  return {};
}

Status ServedGroup::makeRoom(Contribution& contribution) {
  const Request& request = contribution.request;
  contribution.bytes = makeBytes(request.data_bytes);
  contribution.has_room = true;
  return receiveData(wire_, contribution.source, request, contribution.bytes.get(),
                     &contribution.data);
}

/// Adds the contributions so far, in the order of the ranks, so that results are bitwise the same
/// in every run.
Status ServedGroup::fold(Call& call, bool& moved) {
  while (call.folded < mine_.size()) {
    Contribution& next = call.contributions[call.folded];
    if (next.bytes == nullptr || !areComplete({&next.data, 1})) return {};
    moved = true;
    if (call.folded == 0) {
      if (next.request.is_long) {
        call.vector = std::move(next.bytes);
      } else {
        call.vector = makeBytes(call.request.bytes);
        std::memcpy(call.vector.get(), next.values(), call.request.bytes);
      }
    } else {
      call.reducer.reducer()(call.vector.get(), call.vector.get(), next.values(),
                             call.request.bytes / call.type.bytes);
    }
    next.bytes.reset();
    ++call.folded;
  }
  return {};
}

/// Enters the next phase when all contributions of this server's ranks are here.
Status ServedGroup::collect(Call& call, std::uint64_t number, bool& moved) {
  if (call.contributions.empty()) return {};
  if (call.request.collective.reduces()) {
    if (Status status = fold(call, moved); !status.ok()) return status;
    if (call.folded < mine_.size()) return {};
  } else {
    if (call.arrived < mine_.size()) return {};
    for (Contribution& contribution : call.contributions) {
      if (!areComplete({&contribution.data, 1})) return {};
    }
  }
  moved = true;
  call.phase = Call::Phase::kAmongServers;
  return goAmongServers(call, number);
}

/// Starts the collective among the servers; a single server has already finished its part.
Status ServedGroup::goAmongServers(Call& call, std::uint64_t number) {
  const bool is_alone = comm_ == MPI_COMM_NULL;
  const Request& request = call.request;
  const CollectiveRow& row = request.collective.row();
  if (request.collective.is_barrier) {
    if (is_alone) return {};
    return mpiStatus(startServersBarrier(&call.among, comm_), "MPI_Ibarrier");
  }
  if (isExchange(request)) return startExchange(call);
  const int root = positionOf(request.root);
  const bool is_root = root == own_position_;
  if (!row.reduces()) {
    call.vector = makeBytes(request.bytes);
    if (is_root) {
      const auto at = std::ranges::lower_bound(mine_, request.root) - mine_.begin();
      std::memcpy(call.vector.get(), call.contributions[static_cast<std::size_t>(at)].values(),
                  request.bytes);
    }
  }
  if (is_alone || request.bytes == 0) return {};
  if (!row.reduces()) {
    return mpiStatus(startServersBroadcast(&call.among, call.vector.get(),
                                           static_cast<int>(request.bytes), MPI_BYTE, root, comm_),
                     "MPI_Ibcast");
  }
  const auto count = static_cast<int>(request.bytes / call.type.bytes);
  if (row.isRooted()) {
    return mpiStatus(startServersReduce(&call.among, is_root ? MPI_IN_PLACE : call.vector.get(),
                                        call.vector.get(), count, call.type.handle,
                                        call.reduction.op, root, comm_),
                     "MPI_Ireduce");
  }
  if (short_sums_ == ShortSums::kExchanged && request.bytes <= kMostSummedBytes) {
    call.sum = std::make_unique<ServersSum>(sum_steps_, comm_, number, call.reducer.reducer(),
                                            request.bytes / call.type.bytes, request.bytes);
    return call.sum->start(std::move(call.vector));
  }
  return mpiStatus(startServersAllreduce(&call.among, MPI_IN_PLACE, call.vector.get(), count,
                                         call.type.handle, call.reduction.op, comm_),
                   "MPI_Iallreduce");
}

/// In an exchange: number of different results for the ranks of this server.
std::size_t ServedGroup::resultsHere(const Call& call) const {
  return isOfPairs(call.request) ? mine_.size() : 1;
}

/// Packs blocks in the order of the other servers: in an allgather one for each rank of this
/// server; in an all-to-all, by server and by its ranks, one from each rank here.
void ServedGroup::packExchange(Call& call) const {
  const std::uint64_t block = call.request.bytes;
  std::byte* to = call.vector.get();
  const auto add = [&](int index, std::uint64_t at) {
    std::memcpy(to, call.contributions[static_cast<std::size_t>(index)].values() + at, block);
    to += block;
  };
  const auto own = static_cast<int>(mine_.size());
  if (!isOfPairs(call.request)) {
    for (int i = 0; i < own; ++i)
      add(i, 0);
    return;
  }
  for (const std::vector<int>& ranks : ranks_of_) {
    for (const int rank : ranks) {
      for (int i = 0; i < own; ++i)
        add(i, static_cast<std::uint64_t>(rank) * block);
    }
  }
}

Status ServedGroup::startExchange(Call& call) {
  const std::uint64_t block = call.request.bytes;
  const bool is_of_pairs = isOfPairs(call.request);
  std::uint64_t sent = 0, received = 0;
  for (const std::vector<int>& ranks : ranks_of_) {
    const std::uint64_t in = ranks.size() * block * resultsHere(call);
    const std::uint64_t out = is_of_pairs ? in : 0;
    call.counts.push_back(static_cast<int>(out));
    call.offsets.push_back(static_cast<int>(sent));
    call.receive_counts.push_back(static_cast<int>(in));
    call.receive_offsets.push_back(static_cast<int>(received));
    sent += out;
    received += in;
  }
  if (!is_of_pairs) sent = mine_.size() * block;
  call.vector = makeBytes(sent);
  packExchange(call);
  for (Contribution& contribution : call.contributions)
    contribution.bytes.reset();
  if (comm_ == MPI_COMM_NULL) {
    call.received = std::move(call.vector);
    return {};
  }
  call.received = makeBytes(received);
  if (!is_of_pairs) {
    return mpiStatus(
        startServersAllgatherv(&call.among, call.vector.get(), static_cast<int>(sent), MPI_BYTE,
                               call.received.get(), call.receive_counts.data(),
                               call.receive_offsets.data(), MPI_BYTE, comm_),
        "MPI_Iallgatherv");
  }
  return mpiStatus(
      startServersAlltoallv(&call.among, call.vector.get(), call.counts.data(), call.offsets.data(),
                            MPI_BYTE, call.received.get(), call.receive_counts.data(),
                            call.receive_offsets.data(), MPI_BYTE, comm_),
      "MPI_Ialltoallv");
}

/// In exchanges: reorders the results from the order of servers to that of ranks.
void ServedGroup::arrangeResults(Call& call) const {
  const std::uint64_t block = call.request.bytes;
  const std::size_t results = resultsHere(call);
  call.result = makeBytes(results * members_.size() * block);
  const std::byte* from = call.received.get();
  for (const std::vector<int>& ranks : ranks_of_) {
    for (std::size_t i = 0; i < results; ++i) {
      for (const int rank : ranks) {
        const std::size_t at = i * members_.size() + static_cast<std::size_t>(rank);
        std::memcpy(call.result.get() + at * block, from, block);
        from += block;
      }
    }
  }
  call.received.reset();
  call.vector.reset();
}

/// Bytes and beginning of the result for the `index`-th rank of this server.
std::size_t ServedGroup::resultBytes(const Call& call, std::size_t index) const {
  const Request& request = call.request;
  if (isCut(request)) return call.contributions[index].request.own_bytes;
  return (isExchange(request) ? members_.size() : 1) * request.bytes;
}

std::size_t ServedGroup::resultOffset(const Call& call, std::size_t index) const {
  if (isCut(call.request)) return call.contributions[index].request.own_offset;
  return isOfPairs(call.request) ? index * resultBytes(call, index) : 0;
}

Status ServedGroup::sendResults(Call& call) {
  const Request& request = call.request;
  const CollectiveRow& row = request.collective.row();
  const bool is_exchange = isExchange(request);
  if (is_exchange) arrangeResults(call);
  const std::byte* results = is_exchange ? call.result.get() : call.vector.get();
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    const bool is_root = mine_[i] == request.root;
    if (row.outAt(is_root) == Holds::kNothing) continue;
    if (is_root && row.in_elsewhere == Holds::kNothing) continue;  // its buffer is the result
    const Contribution& contribution = call.contributions[i];
    call.sends.push_back(MPI_REQUEST_NULL);
    const int code =
        PMPI_Isend(results == nullptr ? nullptr : results + resultOffset(call, i),
                   static_cast<int>(resultBytes(call, i)), MPI_BYTE, contribution.source,
                   resultTag(contribution.request.slot), wire_.comm, &call.sends.back());
    if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Isend");
  }
  return {};
}

bool ServedGroup::isAmongServersComplete(Call& call) {
  // By its MPI name: so a torc that serves the collective makes progress.
  if (call.sum == nullptr) return areComplete({&call.among, 1}, testServers);
  if (!call.sum->isComplete()) return false;
  call.vector = call.sum->takeResult();
  call.sum->takeOutgoing(call.sends);
  return true;
}

Status ServedGroup::advance(bool& moved) {
  using Phase = Call::Phase;
  if (Status status = makeRooms(); !status.ok()) return status;
  Phase last = Phase::kResults;  // of earlier calls: later ones must not overtake them
  for (std::size_t i = 0; i < std::min(kSumsUnderWay, calls_.size()); ++i) {
    Call& call = *calls_[i];
    if (call.phase == Phase::kCollecting && last != Phase::kCollecting) {
      if (Status status = collect(call, first_ + i, moved); !status.ok()) return status;
    }
    if (call.phase == Phase::kAmongServers && call.sum != nullptr) {
      if (Status status = call.sum->advance(moved); !status.ok()) return status;
    }
    if (call.phase == Phase::kAmongServers && last == Phase::kResults &&
        isAmongServersComplete(call)) {
      moved = true;
      if (Status status = sendResults(call); !status.ok()) return status;
      call.phase = Phase::kResults;
    }
    last = call.phase;
    if (last == Phase::kCollecting) break;
  }
  while (!calls_.empty() && calls_.front()->phase == Phase::kResults &&
         areComplete(calls_.front()->sends)) {
    moved = true;
    calls_.pop_front();
    ++first_;
  }
  return {};
}

void ServedGroup::appendRequests(std::vector<MPI_Request*>& requests) {
  for (const std::unique_ptr<Call>& call : calls_) {
    for (Contribution& contribution : call->contributions)
      requests.push_back(&contribution.data);
    requests.push_back(&call->among);
    if (call->sum != nullptr) call->sum->appendRequests(requests);
    for (MPI_Request& send : call->sends)
      requests.push_back(&send);
  }
}

}  // namespace torc::runtime::dedicated
