// Geometry: a communicator laid on a torus, and its tag space.
#ifndef TORC_RUNTIME_GEOMETRY_H_
#define TORC_RUNTIME_GEOMETRY_H_

#include <cstdint>
#include <optional>

#include <mpi.h>

#include "runtime/agreement.h"
#include "runtime/context.h"
#include "runtime/torc.h"
#include "schedules/status.h"
#include "schedules/topology.h"

namespace torc {

/// Slots of the tag space that a collective holds.
struct TagClaim {
  int first_slot = 0;
  int slots = 0;
};

}  // namespace torc

/// The tag space is cut into equal slots. A collective takes a run of slots that are free on all
/// ranks: its messages meet no others, whatever the order of starting. Slots are free again when
/// every rank has freed the collective, and so has received all that was sent to it.
struct torc_geometry {
  explicit torc_geometry(torc_context* owner) : context(owner) {}
  torc_geometry(const torc_geometry&) = delete;
  torc_geometry& operator=(const torc_geometry&) = delete;
  ~torc_geometry();

  /// Collective over `parent`, in two steps: `join` prepares communication, and fails alike on all
  /// ranks; `lay` is what can fail on one.
  torc::Status join(MPI_Comm parent);
  torc::Status lay(const char* shape, const char* order);
  /// Takes the shape of a schedule, or compares it with its own.
  torc::Status adopt(const torc::Topology& topology);

  /// Collective result: a run of slots that `taken`, the agreed union, leaves free.
  torc::StatusOr<torc::TagClaim> claimTags(std::uint32_t tag_count, const torc::TagMap& taken);
  void releaseTags(const torc::TagClaim& claim);
  int tagBase(const torc::TagClaim& claim) const { return claim.first_slot * tags_per_slot_; }
  const torc::TagMap& takenTags() const { return taken_; }

  torc_context* context;
  MPI_Comm comm = MPI_COMM_NULL;
  torc::Agreement agreement;
  int rank = 0, size = 1;
  std::optional<torc::Topology> topology;
  int ranks_on_host = 1;
  bool oversubscribed = false;
  int schedules = 0;
  std::uint64_t schedules_loaded = 0;  // the same on all ranks

 private:
  torc::Status countHostRanks();

  int tags_per_slot_ = 1;
  torc::TagMap taken_{};
};

#endif  // TORC_RUNTIME_GEOMETRY_H_
