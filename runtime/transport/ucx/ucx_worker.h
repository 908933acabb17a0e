// UCX worker: what the ranks of all communicators of a context have in common with UCX: an address,
// endpoints of those who have been talked to, and messages that arrive.
//
// Messages are active messages: header and bytes arrive together, on any wire that UCX has, and the
// header says where they belong. UCX matches nothing.
#ifndef TORC_RUNTIME_TRANSPORT_UCX_UCX_WORKER_H_
#define TORC_RUNTIME_TRANSPORT_UCX_UCX_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/transport/transport.h"
#include "runtime/transport/ucx/ucp_functions.h"
#include "support/status.h"

namespace torc::runtime {

class UcxGroup;
class UcxWorker;
class UcxPiece;
struct UcxOperation;

/// Whom UCX tells of what has come and what is over. A Transport by its one base: with a second one
/// GCC 12.2 calls another function in place of `complete` (-O3, the base's thunk inlined).
class UcxClient : public Transport {
 public:
  /// A piece of a message of the client's round. Takes it, or keeps it for itself.
  virtual void arrive(UcxPiece& piece) = 0;
  /// An operation of the client's is over, and used no more.
  virtual void complete(UcxOperation& operation, ucs_status_t status) = 0;
};

/// What stands before the bytes of a message, or of a piece of one.
struct UcxHeader {
  std::uint32_t group = 0;  // the receiver's number for the communicator
  std::int32_t rank = 0;    // of the sender in it
  std::uint64_t round = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t offset = 0;  // in the message
  // Of what its receiver has sent to its sender, ever: bytes that have arrived, that were taken.
  std::uint64_t arrived = 0, consumed = 0;
  std::uint32_t index = 0;    // of the message among those of the pair and the round
  std::uint32_t counted = 0;  // bytes that it adds to these numbers at its receiver
  std::uint64_t asks = 0;     // 1: its sender's call waits to be told that it has arrived
};
static_assert(sizeof(UcxHeader) == 64);

/// Something that UCX has been asked for.
struct UcxOperation {
  UcxClient* owner = nullptr;  // null: nobody wants to know
  std::size_t place = 0;       // the owner's
  ChannelId channel = 0;       // likewise
  std::size_t length = 0;      // likewise
  UcxHeader header;
  std::unique_ptr<std::byte[]> bytes;  // that are sent or received, if they are the operation's own
  bool is_answer = false;              // that is awaited
  // The worker's.
  UcxWorker* worker = nullptr;
  UcxOperation* next = nullptr;
};

/// A way to another worker.
struct UcxEndpoint {
  ucp_ep_h endpoint = nullptr;
  ucs_status_t status = UCS_OK;  // why it has failed
};

class UcxWorker {
 public:
  /// Errors: kUnsupported, kTransport: UCX is not there, or can open nothing.
  static StatusOr<std::shared_ptr<UcxWorker>> open();
  /// Sends what is still to be sent, as far as peers take it within half a second.
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  const UcpFunctions& ucp() const { return ucp_; }
  ucp_worker_h handle() const { return worker_; }
  const std::string& address() const { return address_; }

  /// The endpoint of who has this address; it is made when it is first asked for. UCX notices that
  /// a peer has ended, but for one of this host: its shared memory is faster and does not tell.
  StatusOr<UcxEndpoint*> endpoint(const std::string& address, bool is_of_host);
  /// Endpoints that have failed.
  std::uint64_t failures() const { return failures_; }
  /// Why messages are lost; counted as a failure, too.
  const Status& fault() const { return fault_; }
  void lose(Status why) {
    fault_ = std::move(why);
    ++failures_;
  }

  /// Communicators have numbers, by which messages name them.
  std::uint32_t add(UcxGroup* group);
  void remove(std::uint32_t number) { groups_[number] = nullptr; }

  /// An operation to begin. It may be over at once; its owner is told in any case.
  UcxOperation& makeOperation();
  /// Sends its header and bytes, which stay where they are until it is over.
  void send(UcxEndpoint& endpoint, UcxOperation& operation, const std::byte* data,
            std::size_t bytes, std::uint32_t flags);
  /// Receives what has been announced by a rendezvous.
  void receive(void* announced, UcxOperation& operation, std::byte* to, std::size_t bytes);

  /// Answers that are awaited and that UCX has not taken.
  std::uint32_t answers() const { return answers_; }

  /// Where a piece is brought whose bytes UCX has at an odd address. Throws std::bad_alloc.
  std::byte* room(std::size_t bytes) {
    if (room_.size() < bytes) room_.resize(bytes);
    return room_.data();
  }

  /// Moves what can be moved; false: nothing.
  bool progress() { return ucp_.worker_progress(worker_) != 0; }

 private:
  explicit UcxWorker(const UcpFunctions& ucp) : ucp_(ucp) {}
  Status start();
  void close();
  void begun(ucs_status_ptr_t request, UcxOperation& operation) {
    if (!UCS_PTR_IS_PTR(request)) end(operation, UCS_PTR_RAW_STATUS(request));
  }
  void end(UcxOperation& operation, ucs_status_t status);
  static void onEnd(void* request, ucs_status_t status, void* operation);
  static void onReceived(void* request, ucs_status_t status, std::size_t bytes, void* operation);
  static void onFailure(void* worker, ucp_ep_h endpoint, ucs_status_t status);
  static ucs_status_t onMessage(void* worker, const void* header, std::size_t header_bytes,
                                void* data, std::size_t bytes, const ucp_am_recv_param_t* param);

  const UcpFunctions& ucp_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::string address_;
  std::unordered_map<std::string, UcxEndpoint> endpoints_;  // by address
  std::uint64_t failures_ = 0;
  Status fault_;
  std::uint32_t answers_ = 0;
  std::vector<UcxGroup*> groups_;  // by number; null: freed
  std::vector<std::byte> room_;
  std::vector<std::unique_ptr<UcxOperation>> operations_;
  UcxOperation* spare_ = nullptr;  // those that are not under way
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_UCX_UCX_WORKER_H_
