// Client: requests of a rank of the program to its server.
#include "runtime/dedicated/client.h"

#include <cstdint>
#include <cstring>

#include "runtime/transport/large_counts.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"

namespace torc::runtime::dedicated {
namespace {

// Messages kept for reuse: usually enough for the active calls of a program.
constexpr std::size_t kMessagesAtFirst = 4;

}  // namespace

bool Client::Message::isSent() {
  // On a simulated machine polling takes time, unlike a wait for an old message.
  if (kSimulated) PMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (!areComplete(requests)) return false;
  copy.reset();
  return true;
}

Client::Client(const Wire& wire, int application, int most_slots)
    : wire_(wire),
      application_(application),
      server_(wire.rankOfServer(wire.serverOf(application))),
      most_slots_(most_slots > 0 ? most_slots : highestTag(wire.comm) / 2 - 1) {}

/// Usually the oldest one, which was sent long ago.
Client::Message& Client::freeMessage() {
  if (messages_.size() >= kMessagesAtFirst) {
    for (std::size_t tries = 0; tries < kMessagesAtFirst; ++tries) {
      Message& message = *messages_[next_message_];
      next_message_ = (next_message_ + 1) % messages_.size();
      if (message.isSent()) return message;
    }
  }
  messages_.push_back(std::make_unique<Message>());
  messages_.back()->bytes =
      std::make_unique_for_overwrite<std::byte[]>(sizeof(Request) + kMostShortBytes);
  return *messages_.back();
}

std::uint64_t Client::newIdentifier() {
  return (static_cast<std::uint64_t>(application_) + 1) << 32 | ++identifiers_;
}

OffloadedCommunicator Client::define(std::uint64_t id, std::span<const int> members, bool tells) {
  // Cyclically, as calls on an earlier communicator of the slot may still be active, and as MPI has
  // fewer communicators than tags.
  do {
    last_slot_ = last_slot_ == most_slots_ ? 1 : last_slot_ + 1;
  } while (!slots_.insert(last_slot_).second);
  const int slot = last_slot_;
  if (tells) {
    Request request;
    request.purpose = Purpose::kDefine;
    request.communicator = id;
    request.slot = slot;
    sendData(wire_.rankOfServer(0), request, members.data(), members.size_bytes());
  }
  return {id, 0, slot, {}};
}

void Client::forget(const OffloadedCommunicator& communicator, bool tells) {
  slots_.erase(communicator.slot);
  if (!tells) return;
  Request request;
  request.purpose = Purpose::kFree;
  request.communicator = communicator.id;
  request.number = communicator.calls;
  sendData(wire_.rankOfServer(0), request, nullptr, 0);
}

/// Sends data that are kept as a copy, unless the request contains them.
int Client::sendData(int server, const Request& request, const void* data, std::size_t bytes) {
  OffloadedCall call{request};
  call.data = data;
  call.data_bytes = bytes;
  call.is_data_in_place = true;
  return send(server, call, false);
}

int Client::send(int server, const OffloadedCall& call, bool is_repeat) {
  Message& message = freeMessage();
  Request request = call;
  request.is_long = call.data_bytes > kMostShortBytes;
  const RepeatRequest repeat{.communicator = request.communicator};
  const std::size_t header = is_repeat ? sizeof(repeat) : sizeof(request);
  std::memcpy(message.bytes.get(), is_repeat ? static_cast<const void*>(&repeat) : &request,
              header);
  const bool is_copied = call.is_data_in_place || !call.is_data_in_row;
  std::byte* copy = message.bytes.get() + header;
  if (request.is_long && is_copied) {
    message.copy = std::make_unique_for_overwrite<std::byte[]>(call.data_bytes);
    copy = message.copy.get();
  }
  if (!call.is_data_in_row) {
    const int code =
        packElements(static_cast<const std::byte*>(call.data), call.count, call.data_type,
                     {copy, static_cast<MPI_Count>(call.data_bytes), 0});
    if (code != MPI_SUCCESS) return code;
  } else if ((is_copied || !request.is_long) && call.data_bytes > 0) {
    std::memcpy(copy, call.data, call.data_bytes);
  }
  const std::size_t bytes = header + (request.is_long ? 0 : call.data_bytes);
  return sendRequest(wire_, server, request, message.bytes.get(), bytes,
                     is_copied ? copy : call.data, message.requests);
}

int Client::start(OffloadedCommunicator& communicator, const OffloadedCall& call,
                  MPI_Request* request) {
  // The receive comes first: MPI then needs no buffer for the result.
  const int from = call.has_result ? server_ : MPI_PROC_NULL;
  const int code = PMPI_Irecv(call.result, call.result_count, call.result_type, from,
                              resultTag(communicator.slot), wire_.comm, request);
  if (code != MPI_SUCCESS) return code;
  const int sent = sendCall(communicator, call);
  if (sent == MPI_SUCCESS) return sent;
  PMPI_Cancel(request);
  PMPI_Request_free(request);
  return sent;
}

int Client::makePersistent(const OffloadedCommunicator& communicator, const OffloadedCall& call,
                           MPI_Request* request) {
  // Without a result it is a message from this rank to itself: in MPICH 4.0.2, MPI_Waitany and
  // MPI_Waitsome never treat a persistent request of MPI_PROC_NULL as active.
  if (!call.has_result) {
    return PMPI_Recv_init(nullptr, 0, MPI_BYTE, wire_.rankOfApplication(application_), kRequestTag,
                          wire_.comm, request);
  }
  return PMPI_Recv_init(call.result, call.result_count, call.result_type, server_,
                        resultTag(communicator.slot), wire_.comm, request);
}

int Client::startAgain(OffloadedCommunicator& communicator, const OffloadedCall& call) {
  const int code = sendCall(communicator, call);
  if (code != MPI_SUCCESS || call.has_result) return code;
  return PMPI_Isend(nullptr, 0, MPI_BYTE, wire_.rankOfApplication(application_), kRequestTag,
                    wire_.comm, &freeMessage().requests[0]);
}

int Client::sendCall(OffloadedCommunicator& communicator, const OffloadedCall& call) {
  OffloadedCall sent = call;
  sent.communicator = communicator.id;
  sent.number = communicator.calls;
  sent.slot = communicator.slot;
  // Without a result the client does not learn when long data have been read: they are copied.
  if (!call.has_result) sent.is_data_in_place = true;
  Request next = communicator.last;
  ++next.number;
  const Request& request = sent;
  const int code = send(server_, sent, communicator.calls > 0 && request == next);
  if (code != MPI_SUCCESS) return code;
  communicator.last = request;
  ++communicator.calls;
  return code;
}

void Client::end() {
  Request request;
  request.purpose = Purpose::kEnd;
  sendData(server_, request, nullptr, 0);
  for (const std::unique_ptr<Message>& message : messages_)
    PMPI_Waitall(2, message->requests, MPI_STATUSES_IGNORE);
}

}  // namespace torc::runtime::dedicated
