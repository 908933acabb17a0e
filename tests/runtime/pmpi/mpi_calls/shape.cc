#include "tests/runtime/pmpi/mpi_calls/shape.h"

#include <algorithm>

namespace mpi_calls {

void Shape::setAtoms(int64_t atoms) {
  units = atoms > 1 ? std::max<int64_t>(1, atoms / unitAtoms()) : atoms;
}

std::string Shape::describe() const {
  std::string text = collective->name(form, wide) + "(";
  if (collective->reduces()) {
    text += std::to_string(units) + " x " + reduction.layout.name + ", " + reduction.name();
  } else if (!collective->isBarrier()) {
    text += std::to_string(units);
    for (const Layout& layout : spellings)
      text += (&layout == &spellings.front() ? " x " : " or ") + layout.name;
  }
  if (collective->isRooted()) text += ", root " + std::to_string(root);
  if (in_place) text += ", in place";
  if (forget_lists) text += ", lists forgotten";
  if (free_early) text += ", freed early";
  if (at_bottom) text += ", at MPI_BOTTOM";
  if (share_base) text += ", one base";
  return text + ")";
}

Shape simpleShape(const Collective& collective, Form form, int64_t count) {
  Shape shape{&collective, form};
  shape.units = count;
  shape.spellings = {Layout::predefined(Kind::kDouble)};
  shape.reduction = {Meaning::kSum, shape.spellings.front()};
  return shape;
}

Shape variousShape(int number, Form form, int64_t count) {
  Shape shape = simpleShape(collectives()[number % kCollectiveCount], form, count + number % 3);
  const int lap = number / kCollectiveCount, turn = number + lap;
  // MPI's own where the ranks are not in the torus's order, or always; and its persistent ones are
  // broken.
  const bool may_be_mpis =
      shape.collective->isPrefix() || shape.collective->is({"Gatherv", "Scatterv"});
  if (may_be_mpis && shape.isPersistent()) shape.collective = &collectiveCalled("Allreduce");
  shape.key = static_cast<uint64_t>(number);
  shape.wide = lap % 2 == 1;
  shape.in_place = shape.collective->hasInPlace() && turn / 3 % 2 == 1;
  // MPICH 4.0.2's own blocking MPI_Reduce reads MPI_IN_PLACE as an address where the root is not
  // the first rank of its node; these calls run without torc too.
  if (shape.collective->is({"Reduce"}) && form == Form::kBlocking) shape.in_place = false;
  shape.root = number;
  if (turn % 4 == 1) shape.spellings = {Layout::predefined(Kind::kInt32)};
  if (turn % 4 == 1) shape.reduction.layout = shape.spellings.front();
  if (turn % 4 == 2) shape.spellings = {Layout::vector(2, 2, 3, Kind::kInt32)};
  if (!shape.collective->reduces()) shape.setAtoms(shape.units * 12);
  return shape;
}

}  // namespace mpi_calls
