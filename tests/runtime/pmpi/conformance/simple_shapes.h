// Calls for programs that are about something else than datatypes.
#ifndef TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_SIMPLE_SHAPES_H_
#define TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_SIMPLE_SHAPES_H_

#include "tests/runtime/pmpi/conformance/call.h"

namespace conformance {

/// The datatypes and the operation that the shapes name; lives as long as the calls.
class SimpleShapes {
 public:
  SimpleShapes()
      : doubles_(Type::predefined(Kind::kDouble)),
        gaps_(Type::vector(2, 2, 3, Kind::kInt32)),
        ints_(Type::predefined(Kind::kInt32)),
        sum_(Meaning::kSum) {}

  /// Sums of doubles; doubles that move.
  Shape of(Collective collective, Form form, int64_t count) const {
    Shape shape{collective, form};
    shape.type = &doubles_;
    shape.operation = &sum_;
    shape.count = count;
    return shape;
  }

  /// The `number`-th of many different calls; `count` about its elements.
  Shape various(int number, Form form, int64_t count) const {
    Shape shape = of(kCollectives[number % kCollectiveCount], form, count + number % 3);
    // MPI's own where the ranks are not in the torus's order; and its persistent ones are broken.
    if (isPrefix(shape.collective) && form == Form::kPersistent) {
      shape.collective = Collective::kAllreduce;
    }
    shape.wide = number / kCollectiveCount % 2 == 1;
    shape.in_place = number / 3 % 2 == 1;
    // MPICH 4.0.2's own blocking MPI_Reduce reads MPI_IN_PLACE as an address where the root is not
    // the first rank of its node; these calls run without torc too.
    if (shape.collective == Collective::kReduce && form == Form::kBlocking) shape.in_place = false;
    shape.root = number;
    if (number % 4 == 1) shape.type = &ints_;
    if (number % 4 == 2 && !isReduction(shape.collective)) shape.type = &gaps_;
    return shape;
  }

 private:
  Type doubles_;
  Type gaps_;
  Type ints_;
  Operation sum_;
};

}  // namespace conformance

#endif  // TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_SIMPLE_SHAPES_H_
