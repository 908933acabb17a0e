// UCX group: arrivals and credit.
#include "runtime/transport/ucx/ucx_group.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/transport/put/process_memory.h"
#include "support/message.h"

namespace torc::runtime {

// ---- Pieces

UcxPiece::UcxPiece(UcxPiece&& other) noexcept
    : worker_(other.worker_),
      header_(other.header_),
      data_(other.data_),
      bytes_(other.bytes_),
      is_announced_(other.is_announced_),
      is_kept_(other.is_kept_),
      is_owner_(std::exchange(other.is_owner_, false)),
      copy_(std::move(other.copy_)) {}

UcxPiece::~UcxPiece() {
  if (is_owner_) worker_->ucp().am_data_release(worker_->handle(), data_);
}

void UcxPiece::receive(UcxOperation& operation, std::byte* to) {
  is_kept_ = true;
  is_owner_ = false;
  worker_->receive(data_, operation, to, bytes_);
}

UcxPiece UcxPiece::keep() {
  if (copy_ != nullptr || is_owner_) return std::move(*this);
  UcxPiece kept(*worker_, header_, data_, bytes_, is_announced_);
  if (is_announced_) {
    is_kept_ = kept.is_owner_ = true;
  } else {
    kept.copy_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    std::memcpy(kept.copy_.get(), data_, bytes_);
    kept.data_ = kept.copy_.get();
  }
  return kept;
}

// ---- Members

UcxGroup::UcxGroup(std::shared_ptr<UcxWorker> worker, std::int32_t rank)
    : worker_(std::move(worker)), rank_(rank), number_(worker_->add(this)) {}

UcxGroup::~UcxGroup() {
  worker_->remove(number_);
}

void UcxGroup::setMembers(std::vector<Member> members) {
  members_ = std::move(members);
  peers_.resize(members_.size());
}

Status UcxGroup::connect(std::int32_t rank) {
  Peer& with = peer(rank);
  if (with.endpoint != nullptr) return {};
  const Member& member = members_[static_cast<std::size_t>(rank)];
  const StatusOr<UcxEndpoint*> endpoint = worker_->endpoint(member.address, member.process != 0);
  if (!endpoint.ok()) return endpoint.status();
  with.endpoint = *endpoint;
  return {};
}

Status UcxGroup::checkRunning(std::int32_t rank) const {
  const std::int32_t process = processOf(rank);
  if (process != 0 && hasEnded(process)) {
    return {StatusCode::kTransport,
            message("rank ", rank, " (process ", process, " of this host) has ended")};
  }
  const UcxEndpoint* const endpoint = peer(rank).endpoint;
  if (endpoint == nullptr || endpoint->status == UCS_OK) return {};
  return {StatusCode::kTransport, message("rank ", rank, " cannot be reached any more: UCX says '",
                                          worker_->ucp().status_string(endpoint->status), "'")};
}

// ---- What is sent, and credit

/// What a message says besides what it is.
inline void UcxGroup::address(std::int32_t rank, UcxHeader& header) {
  Peer& to = peer(rank);
  header.group = members_[static_cast<std::size_t>(rank)].number;
  header.rank = rank_;
  header.arrived = to.arrived;
  header.consumed = to.told_consumed = to.consumed;
}

void UcxGroup::send(std::int32_t rank, UcxOperation& operation, const std::byte* data,
                    std::size_t bytes, bool is_announced, bool asks) {
  Peer& to = peer(rank);
  address(rank, operation.header);
  operation.header.counted = is_announced ? 0 : static_cast<std::uint32_t>(bytes + kPieceCost);
  to.sent += operation.header.counted;
  operation.header.asks = asks && !isTaken(rank) ? 1 : 0;
  worker_->send(*to.endpoint, operation, data, bytes,
                is_announced ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER);
}

inline void UcxGroup::owe(std::int32_t rank) {
  if (!std::exchange(peer(rank).is_owed, true)) owed_.push_back(rank);
}

void UcxGroup::consume(const UcxHeader& header) {
  Peer& from = peer(header.rank);
  from.consumed += header.counted;
  if (from.consumed - from.told_consumed >= kWindow / 2) owe(header.rank);
}

void UcxGroup::answer() {
  while (!owed_.empty()) {
    const std::int32_t rank = owed_.back();
    owed_.pop_back();
    peer(rank).is_owed = false;
    if (const Status status = connect(rank); !status.ok()) {
      worker_->lose(status);
      continue;
    }
    UcxOperation& operation = worker_->makeOperation();
    operation.header = {};
    operation.header.index = kAnswer;
    operation.is_answer = true;
    address(rank, operation.header);
    worker_->send(*peer(rank).endpoint, operation, nullptr, 0, UCP_AM_SEND_FLAG_EAGER);
  }
}

// ---- Arrivals

void UcxGroup::take(UcxPiece& piece) {
  const UcxHeader& header = piece.header();
  if (header.rank < 0 || static_cast<std::size_t>(header.rank) >= peers_.size()) return;
  // Messages may overtake each other.
  Peer& from = peer(header.rank);
  from.arrived_there = std::max(from.arrived_there, header.arrived);
  from.consumed_there = std::max(from.consumed_there, header.consumed);
  if (header.index == kAnswer) return;
  from.arrived += header.counted;
  if (header.asks != 0) owe(header.rank);
  // UCX lets the sender of what is announced and not received go on.
  if (abandoned_.contains(header.round)) return consume(header);
  Arrivals& arrivals = rounds_[header.round];
  if (arrivals.client != nullptr) {
    arrivals.client->arrive(piece);
  } else {
    arrivals.early.push_back(piece.keep());
  }
}

void UcxGroup::begin(std::uint64_t name, UcxClient* client) {
  Arrivals& arrivals = rounds_[name];
  arrivals.client = client;
  for (UcxPiece& piece : std::exchange(arrivals.early, {}))
    client->arrive(piece);
}

void UcxGroup::end(std::uint64_t name) {
  const auto found = rounds_.find(name);
  if (found == rounds_.end()) return;
  for (const UcxPiece& piece : found->second.early)
    consume(piece.header());
  rounds_.erase(found);
}

void UcxGroup::abandon(std::uint64_t name) {
  end(name);
  abandoned_.insert(name);
}

}  // namespace torc::runtime
