#include "tests/runtime/pmpi/programs/calls/mpi_faults.h"

#include <string_view>

namespace programs {
namespace {

bool isOneOf(const Shape& shape, std::initializer_list<std::string_view> stems) {
  for (const std::string_view stem : stems)
    if (shape.collective->stem == stem) return true;
  return false;
}

/// MPI_Gather_init gives wrong results from the first start on, MPI_Scatter_init aborts.
bool isBrokenFromTheStart(const Shape& shape) {
  return shape.form == Form::kPersistent && isOneOf(shape, {"Gather", "Scatter"});
}

/// MPI_Allgather_init gives wrong results from the second start on.
bool isBrokenWhenRestarted(const Shape& shape) {
  return shape.form == Form::kPersistent && isOneOf(shape, {"Allgather"});
}

/// Large blocks of an allgatherv are cut by the extent of the receive datatype: where it differs
/// between ranks, the fragments do not match. 32 KiB is the least.
bool isCutDifferently(const Shape& shape) {
  return isOneOf(shape, {"Allgatherv"}) && shape.spellings.size() > 1 &&
         shape.units * shape.unitAtoms() * 8 >= 1 << 14;
}

/// MPI_Reduce in place on another root than 0 dies on vectors of more than 2048 bytes.
bool diesInPlace(const Shape& shape) {
  return shape.form == Form::kBlocking && shape.in_place && isOneOf(shape, {"Reduce"}) &&
         shape.units * shape.reduction.layout.extent > 2048;
}

/// A long message that was sent as bytes, and is received as elements of mixed kinds, is truncated
/// or comes out wrong: what sends from a packed copy does so.
bool isUnpackedInFragments(const Shape& shape) {
  const bool packs = isOneOf(shape, {"Gather", "Scatter"}) ||
                     (shape.in_place && isOneOf(shape, {"Alltoall", "Alltoallv", "Alltoallw"}));
  return packs && shape.spellings.front().made == Layout::Make::kStruct && shape.units > 200;
}

/// MPI_Ialltoallw and MPI_Alltoallw_init in place take a block's datatype for the other rank's.
bool confusesSpellings(const Shape& shape) {
  return shape.form != Form::kBlocking && shape.in_place && shape.spellings.size() > 1 &&
         isOneOf(shape, {"Alltoallw"});
}

#ifdef OPEN_MPI
/// Open MPI 4.1.4 is MPI 3.1, without functions of MPI_Count. Its sums of small integers by AVX
/// stop at the greatest number. A contribution that lies at the beginning of the result is
/// overwritten. Nonblocking calls use datatypes and lists after they have returned, take MPI_BOTTOM
/// for a null pointer, and mix up exchanges in place; MPI_Ialltoallw counts the datatypes of a grid
/// by its neighbours, and MPI_Alltoallw on one rank gets gaps wrong.
void avoidOpenMpisFaults(Shape& shape) {
  shape.wide = false;
  shape.share_base = false;
  if (shape.collective->isReduction() && shape.reduction.meaning == Meaning::kSum &&
      sizeOf(shape.reduction.layout.kind) < 4)
    shape.reduction.layout = Layout::predefined(Kind::kInt32);
  if (shape.collective->each_type) {
    shape.form = Form::kBlocking;
    shape.spellings = {Layout::predefined(shape.spellings.front().kind)};
  }
  if (shape.form == Form::kBlocking) return;
  shape.free_early = shape.forget_lists = shape.at_bottom = false;
  if (shape.collective->flow == Flow::kAlltoall) shape.in_place = false;
}
#endif

}  // namespace

bool ignoresDisplacements(const Collective& collective, int size) {
  return size == 1 && collective.flow == Flow::kAllgather;
}

void avoidFaults(Options& options, int threads) {
  const auto leaveOut = [&](std::initializer_list<const char*> habits) {
    options.without.insert(options.without.end(), habits.begin(), habits.end());
  };
  if (threads > 1) leaveOut({"windows", "files"});
#ifdef OPEN_MPI
  leaveOut({"frees", "idup", "windows", "files", "groups", "neighbors"});
#endif
}

void avoidFaults(Shape& shape, bool trusted) {
#ifdef OPEN_MPI
  avoidOpenMpisFaults(shape);
#endif
  if (!trusted && isBrokenFromTheStart(shape)) shape.form = Form::kNonblocking;
  // Calls without data are MPI's even where others are not.
  if ((!trusted || shape.units == 0) && isBrokenWhenRestarted(shape)) shape.rounds = 1;
  if (diesInPlace(shape)) shape.in_place = false;
  if (isUnpackedInFragments(shape)) shape.units %= 200;
  if (!trusted && confusesSpellings(shape)) shape.in_place = false;
  if (isCutDifferently(shape)) shape.units = 1 + shape.units % 50;
}

}  // namespace programs
