#include "tests/runtime/pmpi/programs/calls/shape.h"

#include <algorithm>

#include "tests/runtime/pmpi/programs/calls/mpi_faults.h"

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

const Collective& drawCollective(Random& random, const Options& options) {
  int total = 0;
  for (const Collective& row : collectives())
    total += options.uses(row) ? row.weight : 0;
  int drawn = random.below(std::max(total, 1));
  for (const Collective& row : collectives()) {
    drawn -= options.uses(row) ? row.weight : 0;
    if (drawn < 0) return row;
  }
  return collectives().front();
}

}  // namespace

std::string Shape::describe() const {
  std::string text = collective->name(form, wide) + "(" + std::to_string(units);
  if (collective->flow == Flow::kNothing) {
    text = collective->name(form, wide) + "(";
  } else if (collective->isReduction()) {
    text += std::string(" x ") + reduction.layout.name + ", " + reduction.name();
  } else {
    for (const Layout& layout : spellings)
      text += (&layout == &spellings.front() ? " x " : " or ") + layout.name;
  }
  if (collective->hasRoot()) text += ", root " + std::to_string(root);
  if (in_place) text += ", in place";
  if (forget_lists) text += ", lists forgotten";
  if (free_early) text += ", freed early";
  if (at_bottom) text += ", at MPI_BOTTOM";
  if (share_base) text += ", one base";
  return text + ")";
}

Shape drawShape(Random& random, const Options& options, bool entire) {
  Shape shape;
  shape.collective = &drawCollective(random, options);
  const int form = random.below(100);
  if (options.all_forms && form >= 40)
    shape.form = form < 80 || !options.has("persistent") ? Form::kNonblocking : Form::kPersistent;
  shape.wide = shape.collective->has_wide && random.chance(20);
  shape.in_place = shape.collective->hasInPlace() && random.chance(30);
  shape.root = random.below(12);
  shape.units = drawUnits(random);
  shape.key = random.next();
  if (shape.collective->isReduction()) {
    shape.reduction = drawReduction(random);
  } else if (shape.collective->flow != Flow::kNothing) {
    shape.spellings = drawSpellings(random);
    if (shape.units > 1) shape.units = std::max<int64_t>(1, shape.units / shape.unitAtoms());
    shape.at_bottom = random.chance(10);
    shape.share_base =
        shape.collective->flow == Flow::kAllgather && !shape.in_place && random.chance(20);
  }
  shape.forget_lists = shape.form != Form::kBlocking && random.chance(50);
  shape.free_early = shape.form != Form::kBlocking && random.chance(50);
  if (shape.form == Form::kPersistent) shape.rounds = random.between(1, 4);
  shape.wide = shape.wide && options.has("wide");
  shape.in_place = shape.in_place && options.has("place");
  shape.forget_lists = shape.forget_lists && options.has("lists");
  shape.free_early = shape.free_early && options.has("frees");
  shape.at_bottom = shape.at_bottom && options.has("bottom");
  shape.share_base = shape.share_base && options.has("base");
  avoidFaults(shape, entire && options.trusts(*shape.collective));
  return shape;
}

}  // namespace programs
