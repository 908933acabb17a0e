// UCX's functions: found by their names.
#include "runtime/transport/ucx/ucp_functions.h"

#include <dlfcn.h>
#include <type_traits>

#include "support/message.h"

namespace torc::runtime {
namespace {

// Whose interface the header has.
constexpr const char* kLibrary = "libucp.so.0";

/// Never closed: what it has started may outlive its use.
StatusOr<const UcpFunctions*> load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Status(StatusCode::kUnsupported, dlerror());
  static UcpFunctions found;
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find("ucp_get_version", found.get_version);
  find("ucp_config_read", found.config_read);
  find("ucp_config_release", found.config_release);
  find("ucp_init_version", found.init_version);
  find("ucp_cleanup", found.cleanup);
  find("ucp_worker_create", found.worker_create);
  find("ucp_worker_destroy", found.worker_destroy);
  find("ucp_worker_get_address", found.worker_get_address);
  find("ucp_worker_release_address", found.worker_release_address);
  find("ucp_worker_progress", found.worker_progress);
  find("ucp_worker_set_am_recv_handler", found.worker_set_am_recv_handler);
  find("ucp_ep_create", found.ep_create);
  find("ucp_ep_close_nbx", found.ep_close_nbx);
  find("ucp_am_send_nbx", found.am_send_nbx);
  find("ucp_am_recv_data_nbx", found.am_recv_data_nbx);
  find("ucp_am_data_release", found.am_data_release);
  find("ucp_request_check_status", found.request_check_status);
  find("ucp_request_free", found.request_free);
  find("ucs_status_string", found.status_string);
  if (missing != nullptr) {
    return Status(StatusCode::kUnsupported, message(kLibrary, " has no ", missing));
  }
  return &found;
}

}  // namespace

Status UcpFunctions::statusOf(ucs_status_t code, const char* what) const {
  if (code == UCS_OK) return {};
  return {StatusCode::kTransport, message(what, ": ", status_string(code))};
}

StatusOr<const UcpFunctions*> ucpFunctions() {
  static const StatusOr<const UcpFunctions*> functions = load();
  return functions;
}

}  // namespace torc::runtime
