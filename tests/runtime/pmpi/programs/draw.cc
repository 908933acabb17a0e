#include "tests/runtime/pmpi/programs/draw.h"

#include "tests/runtime/pmpi/mpi_calls/mpi_faults.h"

namespace programs {
namespace {

int64_t drawUnits(Random& random) {
  const int way = random.below(100);
  if (way < 10) return 0;
  if (way < 25) return 1;
  if (way < 65) return random.between(2, 20);
  if (way < 93) return random.between(21, 600);
  return random.between(1000, 5000);
}

const Collective& drawCollective(Random& random, const Options& options, bool of_neighbours) {
  const auto weightOf = [&](const Collective& row) {
    if (of_neighbours) return row.isOfNeighbours() ? 1 : 0;
    return options.uses(row) ? row.weight : 0;
  };
  int total = 0;
  for (const Collective& row : collectives())
    total += weightOf(row);
  int drawn = random.below(std::max(total, 1));
  for (const Collective& row : collectives()) {
    drawn -= weightOf(row);
    if (drawn < 0) return row;
  }
  return collectives().front();
}

}  // namespace

Shape drawShape(Random& random, const Options& options, Among among) {
  Shape shape;
  shape.collective = &drawCollective(random, options, among == Among::kNeighbors);
  const int form = random.below(100);
  // MPI makes calls of groups and neighbours by itself; persistent requests are kept for the world.
  const bool has_persistent = options.has("persistent") && among < Among::kGroups;
  if (form >= 40)
    shape.form = form < 80 || !has_persistent ? Form::kNonblocking : Form::kPersistent;
  shape.wide = !shape.collective->isBarrier() && random.chance(20);
  shape.in_place = shape.collective->hasInPlace() && random.chance(30);
  shape.root = random.below(12);
  shape.units = drawUnits(random);
  shape.key = random.next();
  if (shape.collective->reduces()) {
    shape.reduction = drawReduction(random);
  } else if (!shape.collective->isBarrier()) {
    shape.spellings = drawSpellings(random);
    shape.setAtoms(shape.units);
    shape.at_bottom = random.chance(10);
    shape.share_base =
        shape.collective->is({"Allgather", "Allgatherv"}) && !shape.in_place && random.chance(20);
  }
  shape.forget_lists = shape.form != Form::kBlocking && random.chance(50);
  shape.free_early = shape.form != Form::kBlocking && random.chance(50);
  if (shape.isPersistent()) shape.rounds = random.between(1, 4);
  shape.wide = shape.wide && options.has("wide");
  shape.in_place = shape.in_place && options.has("place");
  shape.forget_lists = shape.forget_lists && options.has("lists");
  shape.free_early = shape.free_early && options.has("frees");
  shape.at_bottom = shape.at_bottom && options.has("bottom");
  shape.share_base = shape.share_base && options.has("base");
  avoidFaults(shape, false, among == Among::kGroups);
  return shape;
}

}  // namespace programs
