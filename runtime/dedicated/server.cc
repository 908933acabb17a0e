// Server: its loop, and the requests that it receives.
#include "runtime/dedicated/server.h"

#include <algorithm>
#include <cstring>
#include <sched.h>
#include <utility>

#include "runtime/dedicated/server_collectives.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "support/message.h"

namespace torc::runtime::dedicated {
namespace {

// Number of posted receives for requests; MPI keeps further ones.
constexpr std::size_t kInboxes = 32;
constexpr std::size_t kInboxBytes = sizeof(Request) + kMostShortBytes;

// Polls without progress before the core is yielded.
constexpr unsigned kLooksBeforeYield = 300;

}  // namespace

Server::Server(const Wire& wire, int index, MPI_Comm servers, ShortSums short_sums, bool yields)
    : wire_(wire),
      index_(index),
      servers_(servers),
      short_sums_(short_sums),
      yields_(yields),
      own_applications_(static_cast<std::size_t>(std::ranges::count(wire.roles.server_of, index))),
      busy_servers_(wire.roles.servers.size()) {
  std::vector<int> all(wire.roles.applications.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<int>(i);
  auto world = std::make_unique<ServedGroup>(wire_, index_, std::move(all), short_sums_);
  // If there are more servers than ranks of the program, some serve none.
  const std::span<const int> serving = world->servers();
  if (serving.size() > 1 && std::ranges::binary_search(serving, index_)) {
    MPI_Comm comm = MPI_COMM_NULL;
    if (serving.size() == wire_.roles.servers.size()) {
      duplicateServers(servers_, &comm);
    } else {
      choose(serving, &comm);
    }
    world->use(comm);
  }
  groups_.emplace(0, std::move(world));
}

Server::~Server() {
  for (Inbox& inbox : inboxes_) {
    PMPI_Cancel(&inbox.request);
    PMPI_Wait(&inbox.request, MPI_STATUS_IGNORE);
  }
}

Status Server::post(Inbox& inbox) {
  inbox.bytes = std::make_unique_for_overwrite<std::byte[]>(kInboxBytes);
  return mpiStatus(PMPI_Irecv(inbox.bytes.get(), static_cast<int>(kInboxBytes), MPI_BYTE,
                              MPI_ANY_SOURCE, kRequestTag, wire_.comm, &inbox.request),
                   "MPI_Irecv");
}

/// Handles received requests, those of each rank in the order of their sends.
Status Server::takeRequests(bool& moved) {
  for (std::size_t taken = 0; taken < inboxes_.size(); ++taken) {
    Inbox& inbox = inboxes_[next_inbox_];
    if (!kSimulated) {
      MPI_Status status;
      int done = 0;
      if (const int code = PMPI_Test(&inbox.request, &done, &status); code != MPI_SUCCESS) {
        return mpiStatus(code, "MPI_Test");
      }
      if (done) inbox.source = status.MPI_SOURCE;
    }
    if (inbox.source < 0) return {};
    moved = true;
    const int source = std::exchange(inbox.source, -1);
    std::unique_ptr<std::byte[]> bytes = std::move(inbox.bytes);
    if (Status posted = post(inbox); !posted.ok()) return posted;
    next_inbox_ = (next_inbox_ + 1) % inboxes_.size();
    if (Status taken_in = take(source, std::move(bytes)); !taken_in.ok()) return taken_in;
  }
  return {};
}

Status Server::take(int source, std::unique_ptr<std::byte[]> bytes) {
  Request request;
  std::memcpy(&request.purpose, bytes.get(), sizeof(request.purpose));
  const bool is_repeat = request.purpose == Purpose::kRepeat;
  if (is_repeat) {
    RepeatRequest repeat;
    std::memcpy(&repeat, bytes.get(), sizeof(repeat));
    request.communicator = repeat.communicator;
  } else {
    std::memcpy(&request, bytes.get(), sizeof(request));
  }
  switch (request.purpose) {
    case Purpose::kCollective:
    case Purpose::kRepeat: {
      Contribution contribution;
      contribution.source = source;
      contribution.request = request;
      if (is_repeat) contribution.header_bytes = sizeof(RepeatRequest);
      contribution.bytes = std::move(bytes);
      const auto group = groups_.find(request.communicator);
      if (group != groups_.end()) return group->second->take(std::move(contribution));
      early_[request.communicator].push_back(std::move(contribution));
      return {};
    }
    case Purpose::kDefine:
    case Purpose::kFree:
      return takeOrder(source, request, bytes.get() + sizeof(Request));
    case Purpose::kEnd:
      --own_applications_;
      return {};
    case Purpose::kIdle:
      --busy_servers_;
      return {};
    case Purpose::kOver:
      is_over_ = true;
      return {};
  }
  return {};
}

Status Server::takeOrder(int source, const Request& request, const std::byte* data) {
  Order& order = orders_.emplace_back();
  order.request = request;
  order.members.resize(request.data_bytes / sizeof(int));
  if (request.data_bytes == 0) return {};
  if (!request.is_long) {
    std::memcpy(order.members.data(), data, request.data_bytes);
    return {};
  }
  return receiveData(wire_, source, request, order.members.data(), &order.data);
}

/// Sends a message with its own memory, without waiting for it.
Status Server::send(int server, const Request& request, const void* data, std::size_t bytes) {
  OutgoingMessage& message = outgoing_.emplace_back();
  message.bytes = std::make_unique_for_overwrite<std::byte[]>(sizeof(Request) + bytes);
  std::memcpy(message.bytes.get(), &request, sizeof(request));
  if (bytes > 0) std::memcpy(message.bytes.get() + sizeof(Request), data, bytes);
  const std::size_t first = sizeof(Request) + (request.is_long ? 0 : bytes);
  return mpiStatus(sendRequest(wire_, wire_.rankOfServer(server), request, message.bytes.get(),
                               first, message.bytes.get() + sizeof(Request), message.requests),
                   "MPI_Isend");
}

Status Server::forward(const Order& order, int server) {
  if (server == index_) return {};
  return send(server, order.request, order.members.data(), order.members.size() * sizeof(int));
}

/// Creates the communicator of some servers; collective over these.
int Server::choose(std::span<const int> servers, MPI_Comm* made) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  PMPI_Comm_group(servers_, &all);
  PMPI_Group_incl(all, static_cast<int>(servers.size()), servers.data(), &some);
  const int code = chooseServers(servers_, some, made);
  PMPI_Group_free(&some);
  PMPI_Group_free(&all);
  return code;
}

Status Server::define(Order& order) {
  const std::uint64_t id = order.request.communicator;
  auto group = std::make_unique<ServedGroup>(wire_, index_, order.members, short_sums_);
  const std::vector<int> servers(group->servers().begin(), group->servers().end());
  if (index_ == 0) {
    // All servers get the order before one waits for another: so the order of this server holds on
    // all.
    for (const int server : servers) {
      if (Status status = forward(order, server); !status.ok()) return status;
    }
    servers_of_[id] = servers;
    if (!std::ranges::binary_search(servers, index_)) return {};
  }
  if (servers.size() > 1) {
    MPI_Comm comm = MPI_COMM_NULL;
    const int code = choose(servers, &comm);
    if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Comm_create_group");
    group->use(comm);
  }
  ServedGroup& defined = *groups_.emplace(id, std::move(group)).first->second;
  const auto early = early_.find(id);
  if (early == early_.end()) return {};
  std::vector<Contribution> contributions = std::move(early->second);
  early_.erase(early);
  for (Contribution& contribution : contributions) {
    if (Status status = defined.take(std::move(contribution)); !status.ok()) return status;
  }
  return {};
}

Status Server::carryOut(Order& order) {
  if (order.request.purpose == Purpose::kDefine) return define(order);
  const std::uint64_t id = order.request.communicator;
  if (index_ == 0) {
    for (const int server : servers_of_[id]) {
      if (Status status = forward(order, server); !status.ok()) return status;
    }
    servers_of_.erase(id);
  }
  if (groups_.contains(id)) last_calls_[id] = order.request.number;
  return {};
}

Status Server::advance(bool& moved) {
  while (!orders_.empty() && areComplete({&orders_.front().data, 1})) {
    moved = true;
    if (Status status = carryOut(orders_.front()); !status.ok()) return status;
    orders_.pop_front();
  }
  for (auto& [id, group] : groups_) {
    if (Status status = group->advance(moved); !status.ok()) return status;
  }
  std::erase_if(last_calls_, [&](const auto& last) {
    if (groups_.at(last.first)->completed() < last.second) return false;
    groups_.erase(last.first);
    return true;
  });
  if (std::erase_if(outgoing_, [](OutgoingMessage& each) { return areComplete(each.requests); }) >
      0) {
    moved = true;
  }
  return endIfIdle(moved);
}

/// The last rank of the program may still create communicators, for which servers need each other:
/// all continue until none is needed any more.
Status Server::endIfIdle(bool& moved) {
  const bool is_idle =
      own_applications_ == 0 && orders_.empty() && early_.empty() &&
      std::ranges::all_of(groups_, [](const auto& group) { return group.second->isIdle(); });
  if (is_idle && !has_told_) {
    has_told_ = moved = true;
    Request request;
    request.purpose = Purpose::kIdle;
    if (index_ != 0) return send(0, request, nullptr, 0);
    --busy_servers_;
  }
  if (index_ != 0 || busy_servers_ > 0 || is_over_) return {};
  is_over_ = moved = true;
  Request request;
  request.purpose = Purpose::kOver;
  for (std::size_t server = 1; server < wire_.roles.servers.size(); ++server) {
    if (Status status = send(static_cast<int>(server), request, nullptr, 0); !status.ok()) {
      return status;
    }
  }
  return {};
}

/// Waits for an event, on a simulated machine.
void Server::waitInsideMpi() {
  std::vector<MPI_Request*> waited;
  for (auto& [id, group] : groups_)
    group->appendRequests(waited);
  for (Order& order : orders_)
    waited.push_back(&order.data);
  for (OutgoingMessage& message : outgoing_) {
    for (MPI_Request& request : message.requests)
      waited.push_back(&request);
  }
  std::erase_if(waited, [](const MPI_Request* request) { return *request == MPI_REQUEST_NULL; });
  std::vector<MPI_Request> requests;
  for (const MPI_Request* request : waited)
    requests.push_back(*request);
  Inbox& inbox = inboxes_[next_inbox_];
  requests.push_back(inbox.request);
  int done = 0;
  MPI_Status status;
  PMPI_Waitany(static_cast<int>(requests.size()), requests.data(), &done, &status);
  const auto which = static_cast<std::size_t>(done);
  if (which < waited.size()) {
    *waited[which] = MPI_REQUEST_NULL;
  } else {
    inbox.source = status.MPI_SOURCE;
  }
}

Status Server::run() {
  inboxes_.resize(kInboxes);
  for (Inbox& inbox : inboxes_) {
    if (Status status = post(inbox); !status.ok()) return status;
  }
  for (unsigned looks = 0; !is_over_ || !outgoing_.empty();) {
    bool moved = false;
    if (Status status = takeRequests(moved); !status.ok()) return status;
    if (Status status = advance(moved); !status.ok()) return status;
    if (moved) {
      looks = 0;
    } else if (kSimulated) {
      waitInsideMpi();
    } else if (yields_ || ++looks > kLooksBeforeYield) {
      sched_yield();
    }
  }
  return {};
}

}  // namespace torc::runtime::dedicated
