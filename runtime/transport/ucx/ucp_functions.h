// UCX's functions, of a library that is loaded when a job asks for it: without it the runtime runs
// as well, and a program that uses UCX itself, as MPICH may, shares it.
#ifndef TORC_RUNTIME_TRANSPORT_UCX_UCP_FUNCTIONS_H_
#define TORC_RUNTIME_TRANSPORT_UCX_UCP_FUNCTIONS_H_

#include <string>

#include <ucp/api/ucp.h>

#include "support/status.h"

namespace torc::runtime {

/// Named as in ucp/api/ucp.h, without `ucp_`.
struct UcpFunctions {
  decltype(&::ucp_get_version) get_version;
  decltype(&::ucp_config_read) config_read;
  decltype(&::ucp_config_release) config_release;
  decltype(&::ucp_init_version) init_version;
  decltype(&::ucp_cleanup) cleanup;
  decltype(&::ucp_worker_create) worker_create;
  decltype(&::ucp_worker_destroy) worker_destroy;
  decltype(&::ucp_worker_get_address) worker_get_address;
  decltype(&::ucp_worker_release_address) worker_release_address;
  decltype(&::ucp_worker_progress) worker_progress;
  decltype(&::ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
  decltype(&::ucp_ep_create) ep_create;
  decltype(&::ucp_ep_close_nbx) ep_close_nbx;
  decltype(&::ucp_am_send_nbx) am_send_nbx;
  decltype(&::ucp_am_recv_data_nbx) am_recv_data_nbx;
  decltype(&::ucp_am_data_release) am_data_release;
  decltype(&::ucp_request_check_status) request_check_status;
  decltype(&::ucp_request_free) request_free;
  decltype(&::ucs_status_string) status_string;

  /// `what`: what UCX has been asked for.
  Status statusOf(ucs_status_t code, const char* what) const;
};

/// Errors: kUnsupported, the system has no such library, or it lacks a function.
StatusOr<const UcpFunctions*> ucpFunctions();

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_UCX_UCP_FUNCTIONS_H_
