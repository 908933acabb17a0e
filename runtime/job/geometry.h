// Geometry: a communicator mapped onto a torus, and its tag space.
#ifndef TORC_RUNTIME_JOB_GEOMETRY_H_
#define TORC_RUNTIME_JOB_GEOMETRY_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/job/context.h"
#include "runtime/job/rank_map.h"
#include "runtime/non_copyable.h"
#include "runtime/service/agreement.h"
#include "runtime/transport/mpi_transport.h"
#include "runtime/transport/put/host_segment.h"
#include "runtime/transport/tag_space.h"
#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc::runtime {

struct GeometryTrace;

/// The taken slots of the tag space: one bit each.
inline constexpr int kTagSlots = 1024;
using TagMap = std::array<std::uint64_t, kTagSlots / 64>;

/// Slots of the tag space held by a collective.
struct TagClaim {
  int first_slot = 0;
  int slots = 0;
};

/// Ranks on the caller's host, and whether there are more of them than cores.
struct HostRanks {
  int count = 1;
  bool oversubscribed = false;
};

/// The checks of a communicator that need no communication on it.
Status checkCommunicator(MPI_Comm comm);

/// Collective over `comm`, which is that of `agreement`. `names` has an element for each rank: all
/// ranks have agreed that they have this memory.
StatusOr<HostRanks> countHostRanks(Agreement& agreement, MPI_Comm comm,
                                   std::span<std::uint64_t> names);

}  // namespace torc::runtime

/// The lower half of the tag space is divided into equal slots. A collective takes a run of slots
/// that are free on all ranks, so that its messages match no others, in any order of starts. Slots
/// are free again when every rank has freed the collective, and so has received all its messages.
/// The upper half is for one-shot calls, whose tags follow from a hash of the call. Collectives
/// never use the highest tag.
struct torc_geometry : torc::runtime::NonCopyable {
  explicit torc_geometry(torc_context* owner) : context(owner) { ++context->geometries; }
  ~torc_geometry();

  /// Local: a geometry over `comm`, a duplicate that the caller has made on all ranks and that is
  /// freed with it. `topology` is the torus with its order of ranks, the same on all ranks, and
  /// `map` gives the rank in it for each rank of `comm`. The geometry accepts schedules of that
  /// torus with any order of ranks.
  static torc::StatusOr<std::unique_ptr<torc_geometry>> over(torc_context* context, MPI_Comm comm,
                                                             const torc::Topology& topology,
                                                             torc::runtime::RankMap map,
                                                             const torc::runtime::HostRanks& hosts);

  /// Maps this rank's geometry onto a torus, without communication; sets a number that must be the
  /// same on all ranks. May fail on one rank alone.
  using Map = std::function<torc::Status(torc_geometry& geometry, std::uint64_t& fingerprint)>;
  /// Collective over `parent`: a geometry over a duplicate of it, traced if the context is. `what`:
  /// the subject of fingerprints, for users. The error is the same on all ranks.
  static torc::StatusOr<std::unique_ptr<torc_geometry>> make(torc_context* context, MPI_Comm parent,
                                                             const char* what, const Map& map);
  /// Maps this rank's geometry, with arguments as in `over`.
  torc::Status mapOnto(const torc::Topology& topology, torc::runtime::RankMap map);
  /// Sets the ranks on this host: the context yields cores while a geometry has too many of them.
  void setHosts(const torc::runtime::HostRanks& ranks);
  /// Collective over `comm`: adds the geometry to the context's trace, if any. Without this call,
  /// collectives of the geometry are not traced.
  torc::Status startTrace();
  /// Adopts the shape of a schedule, or compares it with its own.
  torc::Status adopt(const torc::Topology& topology);
  /// The topology here of a schedule compiled for `compiled`: the same, or with the geometry's
  /// order of ranks if schedules receive that. The geometry has adopted `compiled`.
  torc::StatusOr<torc::Topology> topologyFor(const torc::Topology& compiled) const;

  /// The same on all ranks: a run of slots that are free in `taken`, the agreed union.
  torc::StatusOr<torc::runtime::TagClaim> claimTags(std::uint32_t tag_count,
                                                    const torc::runtime::TagMap& taken);
  void releaseTags(const torc::runtime::TagClaim& claim);
  int tagBase(const torc::runtime::TagClaim& claim) const {
    return claim.first_slot * tags_per_slot_;
  }
  const torc::runtime::TagMap& takenTags() const { return taken_; }
  /// Tag base of one-shot calls, whose tags are bound in each round.
  static constexpr int kOneShot = -1;
  /// The transport of a plan's messages; `tag_base` from tagBase, or kOneShot.
  /// `by_mpi`: use MPI in any case.
  std::unique_ptr<torc::runtime::Transport> makeTransport(int tag_base, bool by_mpi) const;

  torc_context* context;
  MPI_Comm comm = MPI_COMM_NULL;
  bool has_failed = false;  // messages and MPI's own collectives may stay active for ever
  torc::runtime::Agreement agreement;
  int rank = 0, size = 1;
  std::optional<torc::Topology> topology;
  torc::runtime::RankMap map;  // ranks of `comm` to ranks of `topology`
  torc::runtime::HostRanks hosts;
  torc::runtime::TagSpace one_shot_tags{0, 0};
  // Shared memory of the ranks of a host; null: messages go through MPI. Created when the first
  // schedule is loaded.
  std::shared_ptr<torc::runtime::HostSegment> segment;
  bool has_looked_for_segment = false;
  torc_library* library = nullptr;  // the library that recognised the communicator, and the result
  std::uint32_t library_sub_torus = 0;
  std::shared_ptr<const torc::runtime::GeometryTrace> trace;  // null: not traced
  int schedules = 0;
  // The same on all ranks.
  std::uint64_t schedules_loaded = 0;
  std::uint64_t collectives_made = 0;  // number of persistent ones

 private:
  void attach();

  bool gives_order_ = false;  // gives its order to schedules, instead of keeping theirs
  int tags_per_slot_ = 1;
  torc::runtime::TagMap taken_{};
};

#endif  // TORC_RUNTIME_JOB_GEOMETRY_H_
