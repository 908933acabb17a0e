// Geometry: a communicator mapped onto a torus, and its tag space.
#ifndef TORC_RUNTIME_JOB_GEOMETRY_H_
#define TORC_RUNTIME_JOB_GEOMETRY_H_

#include <cstdint>
#include <memory>
#include <optional>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/job/context.h"
#include "runtime/job/rank_map.h"
#include "runtime/service/agreement.h"
#include "runtime/transport/mpi_transport.h"
#include "runtime/transport/put/host_segment.h"
#include "runtime/transport/tag_space.h"
#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc::runtime {

struct GeometryTrace;

/// Slots of the tag space that a collective holds.
struct TagClaim {
  int first_slot = 0;
  int slots = 0;
};

/// Ranks that share the caller's host, and whether they are more than its cores.
struct HostRanks {
  int count = 1;
  bool oversubscribed = false;
};

/// Collective.
StatusOr<HostRanks> countHostRanks(torc_context* context, MPI_Comm comm);

/// `topology` with ranks counted in another order of its axes.
StatusOr<Topology> withOrder(const Topology& topology,
                             const std::array<std::uint8_t, kMaxAxes>& order);

}  // namespace torc::runtime

/// The lower half of the tag space is cut into equal slots. A collective takes a run of slots that
/// are free on all ranks: its messages meet no others, whatever the order of starting. Slots are
/// free again when every rank has freed the collective, and so has received all that was sent to
/// it. The upper half is for one-shot calls, which find their tags by what they are. The highest
/// tag is no collective's.
struct torc_geometry {
  explicit torc_geometry(torc_context* owner) : context(owner) {}
  torc_geometry(const torc_geometry&) = delete;
  torc_geometry& operator=(const torc_geometry&) = delete;
  ~torc_geometry();

  /// Local: a geometry over `comm`, which the caller has duplicated for it on all ranks and which
  /// is freed with it. `topology` is the torus with its order of ranks, alike on all ranks, and
  /// `map` says which of these ranks a rank of `comm` is. Schedules of that torus are taken
  /// whatever the order of ranks that they were compiled for.
  static torc::StatusOr<std::unique_ptr<torc_geometry>> over(torc_context* context, MPI_Comm comm,
                                                             const torc::Topology& topology,
                                                             torc::runtime::RankMap map,
                                                             const torc::runtime::HostRanks& hosts);

  /// Collective over `parent`, in two steps: `duplicate` makes the geometry's communicator and
  /// learns about it, and fails alike on all ranks; `mapOnto` is what can fail on one.
  torc::Status duplicate(MPI_Comm parent);
  torc::Status mapOnto(const char* shape, const char* order);
  /// The same with what `over` takes.
  torc::Status mapOnto(const torc::Topology& topology, torc::runtime::RankMap map);
  /// Makes the context count the geometry, until it is deleted.
  void registerInContext();
  /// Collective over `comm`: makes the context's trace, if there is one, know the geometry.
  /// Without it, collectives of the geometry are not traced.
  torc::Status startTrace();
  /// Takes the shape of a schedule, or compares it with its own.
  torc::Status adopt(const torc::Topology& topology);
  /// The topology that a schedule for `compiled` gets here: the same, or with the geometry's order
  /// of ranks where that is given to schedules. The geometry has adopted `compiled`.
  torc::StatusOr<torc::Topology> topologyFor(const torc::Topology& compiled) const;

  /// Collective result: a run of slots that `taken`, the agreed union, leaves free.
  torc::StatusOr<torc::runtime::TagClaim> claimTags(std::uint32_t tag_count,
                                                    const torc::runtime::TagMap& taken);
  void releaseTags(const torc::runtime::TagClaim& claim);
  int tagBase(const torc::runtime::TagClaim& claim) const {
    return claim.first_slot * tags_per_slot_;
  }
  const torc::runtime::TagMap& takenTags() const { return taken_; }
  /// What messages of a plan go by; `tag_base` as tagBase gives it, and 0 for one-shot calls.
  /// `by_mpi`: by MPI in any case.
  std::unique_ptr<torc::runtime::Transport> makeTransport(int tag_base,
                                                          torc::runtime::Requests requests,
                                                          bool by_mpi) const;

  torc_context* context;
  MPI_Comm comm = MPI_COMM_NULL;
  bool has_failed = false;  // messages and MPI's own collectives may be under way for ever
  torc::runtime::Agreement agreement;
  int rank = 0, size = 1;
  std::optional<torc::Topology> topology;
  torc::runtime::RankMap map;  // ranks of `comm` to ranks of `topology`
  torc::runtime::HostRanks hosts;
  torc::runtime::TagSpace one_shot_tags{0, 0};
  // Of the ranks of a host; null: messages go by MPI. Looked for when the first schedule is loaded.
  std::shared_ptr<torc::runtime::HostSegment> segment;
  bool has_looked_for_segment = false;
  torc_library* library = nullptr;  // that recognised the communicator, and what as; see there
  std::uint32_t library_sub_torus = 0;
  std::shared_ptr<const torc::runtime::GeometryTrace> trace;  // null: not traced
  int schedules = 0;
  // The same on all ranks.
  std::uint64_t schedules_loaded = 0;
  std::uint64_t collectives_made = 0;  // persistent ones

 private:
  void attach();

  bool registered_ = false;   // counted by the context
  bool gives_order_ = false;  // to schedules, instead of insisting on theirs
  int tags_per_slot_ = 1;
  torc::runtime::TagMap taken_{};
};

#endif  // TORC_RUNTIME_JOB_GEOMETRY_H_
