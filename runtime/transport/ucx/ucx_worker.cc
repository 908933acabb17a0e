// UCX worker: its start and end, operations, arrivals.
#include "runtime/transport/ucx/ucx_worker.h"

#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/transport/ucx/ucx_group.h"

namespace torc::runtime {
namespace {

constexpr unsigned kMessageId = 0;  // of our active messages
constexpr std::chrono::milliseconds kMostClosing{500};

}  // namespace

StatusOr<std::shared_ptr<UcxWorker>> UcxWorker::open() {
  const StatusOr<const UcpFunctions*> ucp = ucpFunctions();
  if (!ucp.ok()) return ucp.status();
  std::shared_ptr<UcxWorker> worker(new UcxWorker(**ucp));
  if (Status status = worker->start(); !status.ok()) return status;
  return worker;
}

Status UcxWorker::start() {
  ucp_config_t* config = nullptr;
  ucs_status_t code = ucp_.config_read(nullptr, nullptr, &config);
  if (code != UCS_OK) return ucp_.statusOf(code, "ucp_config_read");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM;
  params.name = "torc";
  code = ucp_.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
  ucp_.config_release(config);
  if (code != UCS_OK) return ucp_.statusOf(code, "ucp_init");

  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  code = ucp_.worker_create(context_, &worker, &worker_);
  if (code != UCS_OK) return ucp_.statusOf(code, "ucp_worker_create");
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessageId;
  handler.cb = &onMessage;
  handler.arg = this;
  code = ucp_.worker_set_am_recv_handler(worker_, &handler);
  if (code != UCS_OK) return ucp_.statusOf(code, "ucp_worker_set_am_recv_handler");

  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  code = ucp_.worker_get_address(worker_, &address, &bytes);
  if (code != UCS_OK) return ucp_.statusOf(code, "ucp_worker_get_address");
  address_.assign(reinterpret_cast<const char*>(address), bytes);
  ucp_.worker_release_address(worker_, address);
  return {};
}

UcxWorker::~UcxWorker() {
  close();
  if (worker_ != nullptr) ucp_.worker_destroy(worker_);
  if (context_ != nullptr) ucp_.cleanup(context_);
}

void UcxWorker::close() {
  std::vector<ucs_status_ptr_t> closing;
  for (auto& [address, endpoint] : endpoints_) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = endpoint.status == UCS_OK ? 0 : UCP_EP_CLOSE_FLAG_FORCE;
    const ucs_status_ptr_t request = ucp_.ep_close_nbx(endpoint.endpoint, &param);
    if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
  }
  const auto end = std::chrono::steady_clock::now() + kMostClosing;
  while (!closing.empty() && std::chrono::steady_clock::now() < end) {
    progress();
    std::erase_if(closing, [&](ucs_status_ptr_t request) {
      if (ucp_.request_check_status(request) == UCS_INPROGRESS) return false;
      ucp_.request_free(request);
      return true;
    });
  }
  for (const ucs_status_ptr_t request : closing)
    ucp_.request_free(request);
}

StatusOr<UcxEndpoint*> UcxWorker::endpoint(const std::string& address, bool is_of_host) {
  const auto [at, is_new] = endpoints_.try_emplace(address);
  UcxEndpoint& endpoint = at->second;
  if (!is_new) return &endpoint;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(at->first.data());
  params.err_mode = is_of_host ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {&onFailure, this};
  ucs_status_t code = ucp_.ep_create(worker_, &params, &endpoint.endpoint);
  if (code == UCS_ERR_UNREACHABLE && !is_of_host) {
    // Better without notice than without a message.
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    code = ucp_.ep_create(worker_, &params, &endpoint.endpoint);
  }
  if (code != UCS_OK) {
    endpoints_.erase(at);
    return ucp_.statusOf(code, "ucp_ep_create");
  }
  return &endpoint;
}

void UcxWorker::onFailure(void* self, ucp_ep_h failed, ucs_status_t status) {
  auto& worker = *static_cast<UcxWorker*>(self);
  ++worker.failures_;
  for (auto& [address, endpoint] : worker.endpoints_) {
    if (endpoint.endpoint == failed) endpoint.status = status;
  }
}

std::uint32_t UcxWorker::add(UcxGroup* group) {
  groups_.push_back(group);
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

// ---- Operations

UcxOperation& UcxWorker::makeOperation() {
  if (spare_ == nullptr) {
    operations_.push_back(std::make_unique<UcxOperation>());
    spare_ = operations_.back().get();
    spare_->worker = this;
  }
  UcxOperation& operation = *spare_;
  spare_ = operation.next;
  return operation;
}

void UcxWorker::end(UcxOperation& operation, ucs_status_t status) {
  if (operation.owner != nullptr) operation.owner->complete(operation, status);
  if (std::exchange(operation.is_answer, false)) --answers_;
  operation.owner = nullptr;
  operation.bytes.reset();
  operation.next = std::exchange(spare_, &operation);
}

namespace {

/// With a callback for `operation`, if it is not over at once.
ucp_request_param_t paramOf(UcxOperation& operation) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = &operation;
  return param;
}

}  // namespace

void UcxWorker::onEnd(void* request, ucs_status_t status, void* begun) {
  auto& operation = *static_cast<UcxOperation*>(begun);
  operation.worker->ucp_.request_free(request);
  operation.worker->end(operation, status);
}

void UcxWorker::onReceived(void* request, ucs_status_t status, std::size_t, void* operation) {
  onEnd(request, status, operation);
}

void UcxWorker::send(UcxEndpoint& endpoint, UcxOperation& operation, const std::byte* data,
                     std::size_t bytes, std::uint32_t flags) {
  if (operation.is_answer) ++answers_;
  if (endpoint.status != UCS_OK) return end(operation, endpoint.status);
  ucp_request_param_t param = paramOf(operation);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = flags;
  param.cb.send = &onEnd;
  begun(ucp_.am_send_nbx(endpoint.endpoint, kMessageId, &operation.header, sizeof(UcxHeader), data,
                         bytes, &param),
        operation);
}

void UcxWorker::receive(void* announced, UcxOperation& operation, std::byte* to,
                        std::size_t bytes) {
  ucp_request_param_t param = paramOf(operation);
  param.cb.recv_am = &onReceived;
  begun(ucp_.am_recv_data_nbx(worker_, announced, to, bytes, &param), operation);
}

// ---- Arrivals

/// UCX calls it from its own progress, through which nothing may be thrown.
ucs_status_t UcxWorker::onMessage(void* self, const void* header, std::size_t header_bytes,
                                  void* data, std::size_t bytes, const ucp_am_recv_param_t* param) {
  auto& worker = *static_cast<UcxWorker*>(self);
  UcxHeader read;
  if (header_bytes != sizeof(read)) return UCS_OK;
  std::memcpy(&read, header, sizeof(read));
  // One of a communicator that is freed is of a call that has failed.
  if (read.group >= worker.groups_.size() || worker.groups_[read.group] == nullptr) return UCS_OK;
  try {
    UcxPiece piece(worker, read, data, bytes, (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
    worker.groups_[read.group]->take(piece);
    return piece.isKept() ? UCS_INPROGRESS : UCS_OK;
  } catch (const std::bad_alloc&) {
    worker.lose({StatusCode::kNoMemory, "no memory for a message that has come by UCX"});
    return UCS_OK;
  }
}

}  // namespace torc::runtime
