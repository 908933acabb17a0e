// Setting up UCX: cards of all ranks, a vote.
#include "runtime/job/ucx_set_up.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <unistd.h>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

// Changes with what messages say.
constexpr std::uint64_t kMessageVersion = 1;

}  // namespace

UcxSetUp::UcxSetUp(torc_geometry& geometry)
    : geometry_(geometry),
      card_(std::make_unique<Card>()),
      cards_(static_cast<std::size_t>(geometry.size)) {}

void UcxSetUp::start(std::uint64_t host) {
  card_->host = host;
  card_->process = getpid();
  fault_ = attempt([&] { return open(); });
  const int code = startAllgather(card_.get(), sizeof(Card), MPI_BYTE, cards_.data(), sizeof(Card),
                                  MPI_BYTE, geometry_.comm, &request_);
  if (code != MPI_SUCCESS) finish(mpiStatus(code, "MPI_Iallgather"));
}

Status UcxSetUp::open() {
  std::shared_ptr<UcxWorker>& worker = geometry_.context->ucx;
  if (worker == nullptr) {
    // It is tried once: UCX may have lines to print.
    Status& fault = geometry_.context->ucx_fault;
    if (!fault.ok()) return fault;
    StatusOr<std::shared_ptr<UcxWorker>> opened = UcxWorker::open();
    if (!opened.ok()) return fault = opened.status();
    worker = std::move(*opened);
  }
  const std::string& address = worker->address();
  if (address.size() > card_->address.size()) {
    return {StatusCode::kUnsupported,
            message("its address has ", address.size(), " bytes, of which ", card_->address.size(),
                    " can be told")};
  }
  group_ = std::make_shared<UcxGroup>(worker, geometry_.rank);
  unsigned major = 0, minor = 0, release = 0;
  worker->ucp().get_version(&major, &minor, &release);
  card_->version = hashNumbers(major, minor, kMessageVersion);
  card_->number = group_->number();
  std::ranges::copy(address, card_->address.begin());
  card_->address_bytes = static_cast<std::uint32_t>(address.size());
  return {};
}

Status UcxSetUp::takeCards() {
  std::vector<UcxGroup::Member> members;
  members.reserve(cards_.size());
  for (const Card& card : cards_) {
    if (card.address_bytes == 0) {
      return {StatusCode::kUnsupported, message("rank ", members.size(), " has none")};
    }
    if (card.version != card_->version) {
      return {StatusCode::kUnsupported,
              message("rank ", members.size(), " has another version of UCX")};
    }
    members.push_back({std::string(card.address.data(), card.address_bytes), card.number,
                       card.host == card_->host ? card.process : 0});
  }
  group_->setMembers(std::move(members));
  return {};
}

bool UcxSetUp::advance() {
  while (!done_) {
    int arrived = 0;
    const int code = PMPI_Test(&request_, &arrived, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      finish(mpiStatus(code, "MPI_Test"));
    } else if (!arrived) {
      return false;
    } else if (!voting_) {
      if (fault_.ok()) fault_ = attempt([&] { return takeCards(); });
      vote();
    } else {
      if (votes_ == 0) {
        geometry_.ucx = std::move(group_);
      } else if (votes_ == vote_) {
        tell(geometry_.rank, fault_.message());
      }
      finish({});
    }
  }
  return true;
}

/// Those that have none themselves come first, and the lowest rank of them.
void UcxSetUp::vote() {
  voting_ = true;
  if (!fault_.ok()) {
    vote_ = geometry_.size - geometry_.rank + (card_->address_bytes == 0 ? geometry_.size : 0);
  }
  const int code =
      startAllreduce(&vote_, &votes_, 1, MPI_INT64_T, MPI_MAX, geometry_.comm, &request_);
  if (code != MPI_SUCCESS) finish(mpiStatus(code, "MPI_Iallreduce"));
}

void UcxSetUp::tell(int rank, const std::string& why) {
  static std::atomic<bool> told = false;  // threads may have contexts of their own
  if (told.exchange(true)) return;
  writeToStderr(message("torc: warning: rank ", rank, ": no UCX, messages go by MPI: ", why, '\n'));
}

void UcxSetUp::finish(const Status& status) {
  status_ = status;
  group_.reset();
  done_ = true;
}

}  // namespace torc::runtime
