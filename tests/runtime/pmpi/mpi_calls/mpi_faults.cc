#include "tests/runtime/pmpi/mpi_calls/mpi_faults.h"

#include <algorithm>

namespace mpi_calls {
namespace {

/// MPI_Gather_init gives wrong results from the first start on, MPI_Scatter_init aborts.
bool isBrokenFromTheStart(const Shape& shape) {
  return shape.isPersistent() && shape.collective->is({"Gather", "Scatter"});
}

/// MPI_Allgather_init gives wrong results from the second start on.
bool isBrokenWhenRestarted(const Shape& shape) {
  return shape.isPersistent() && shape.collective->is({"Allgather"});
}

/// Large blocks of an allgatherv are cut by the extent of the receive datatype: where it differs
/// between ranks, the fragments do not match. 32 KiB is the least.
bool isCutDifferently(const Shape& shape) {
  return shape.collective->is({"Allgatherv"}) && shape.spellings.size() > 1 &&
         shape.units * shape.unitAtoms() * 8 >= 1 << 14;
}

/// MPI_Reduce in place on another root than 0 dies on vectors of more than 2048 bytes, and a
/// reduce_scatter in place on those of 512 KiB, as it copies a block onto itself. Those of derived
/// datatypes, and by operations of the program, may be MPI's where others are not.
bool diesInPlace(const Shape& shape, bool trusted) {
  const Reduction& reduction = shape.reduction;
  if (!shape.in_place || !shape.collective->reduces()) return false;
  if (trusted && reduction.layout.is_predefined && reduction.isPredefined()) return false;
  const int64_t bytes = shape.units * reduction.layout.extent;
  if (shape.collective->scattersSums()) return bytes >= 1 << 16;
  return shape.form == Form::kBlocking && shape.collective->is({"Reduce"}) && bytes > 2048;
}

/// A long message that was sent as bytes, and is received as elements of mixed kinds, is truncated
/// or comes out wrong: what sends from a packed copy does so.
bool isUnpackedInFragments(const Shape& shape) {
  const bool packs = shape.collective->is({"Gather", "Scatter"}) ||
                     (shape.in_place && shape.collective->isExchange());
  return packs && shape.spellings.front().isMixed() && shape.units > 200;
}

/// MPI_Ialltoallw and MPI_Alltoallw_init in place take a block's datatype for the other rank's.
bool confusesSpellings(const Shape& shape) {
  return shape.form != Form::kBlocking && shape.in_place && shape.spellings.size() > 1 &&
         shape.collective->is({"Alltoallw"});
}

/// Between groups of more than one rank, broadcasts that do not block know no root but the first,
/// and a persistent reduction gives wrong results. The spelling of one group is taken for that of
/// the other, and its size for its extent.
void avoidFaultsBetweenGroups(Shape& shape) {
  shape.in_place = shape.share_base = false;
  if (shape.collective->isPrefix()) shape.collective = &collectiveCalled("Allreduce");
  if (shape.collective->isBroadcast() && shape.form != Form::kBlocking) shape.root = 0;
  if (shape.collective->is({"Reduce_scatter_block"}) && shape.isPersistent())
    shape.form = Form::kNonblocking;
  if (shape.spellings.empty()) return;
  const Layout& first = shape.spellings.front();
  shape.spellings = {Layout::predefined(first.padding.empty() ? first.kind : Kind::kInt32)};
}

#ifdef OPEN_MPI
/// Open MPI 4.1.4 implements MPI 3.1, which has no functions of MPI_Count. Its sums of small
/// integers by AVX stop at the greatest number. A contribution that lies at the beginning of the
/// result is overwritten. Nonblocking calls use datatypes and lists after they have returned, take
/// MPI_BOTTOM for a null pointer, and mix up exchanges in place; MPI_Ialltoallw counts the
/// datatypes of a grid by its neighbours, and MPI_Alltoallw on one rank gets gaps wrong. Its
/// persistent reduce, and its blocking allreduce of long vectors, receive in front of the memory
/// that they allocate, where elements begin before their address.
void avoidOpenMpisFaults(Shape& shape, bool trusted) {
  Layout& layout = shape.reduction.layout;
  const bool receives_before =
      shape.isPersistent() ? shape.collective->is({"Reduce"}) : shape.collective->is({"Allreduce"});
  if (shape.collective->reduces() && receives_before && layout.lowest < 0)
    layout = Layout::contiguous(3, Kind::kUint32);
  if (trusted) return;
  shape.share_base = false;
  if (shape.collective->reduces() && shape.reduction.meaning == Meaning::kSum &&
      sizeOf(layout.atoms.front().scalar) < 4)
    layout = Layout::predefined(Kind::kInt32);
  if (shape.collective->each_type) {
    shape.form = Form::kBlocking;
    shape.spellings = {Layout::predefined(shape.spellings.front().kind)};
  }
  if (shape.form == Form::kBlocking) return;
  shape.free_early = shape.forget_lists = shape.at_bottom = false;
  if (shape.collective->isExchange()) shape.in_place = false;
}
#endif

}  // namespace

bool ignoresDisplacements(const Collective& collective, int size) {
#ifdef OPEN_MPI
  if (size == 1 && collective.isExchange()) return true;
#endif
  return size == 1 && collective.is({"Allgather", "Allgatherv"});
}

std::vector<std::string> faultyHabits(int threads) {
#ifdef OPEN_MPI
  static_cast<void>(threads);
  return {"frees", "idup", "windows", "files", "groups", "neighbors"};
#else
  if (threads > 1) return {"windows", "files"};
  return {};
#endif
}

void avoidFaults(Shape& shape, bool trusted, bool is_inter) {
  // Calls without data are MPI's even where others are not.
  trusted = trusted && shape.units > 0;
  shape.wide = shape.wide && MPI_VERSION >= 4;
#ifdef OPEN_MPI
  avoidOpenMpisFaults(shape, trusted);
#endif
  if (is_inter) avoidFaultsBetweenGroups(shape);
  if (isCutDifferently(shape)) shape.units = 1 + shape.units % 50;
  if (diesInPlace(shape, trusted)) shape.in_place = false;
  if (trusted) return;
  if (isBrokenFromTheStart(shape)) shape.form = Form::kNonblocking;
  if (isBrokenWhenRestarted(shape)) shape.rounds = 1;
  if (isUnpackedInFragments(shape)) shape.units %= 200;
  if (confusesSpellings(shape)) shape.in_place = false;
}

}  // namespace mpi_calls
