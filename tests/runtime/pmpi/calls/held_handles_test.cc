// Objects of the program held by a call: handles that the program frees, and lists.
#include "runtime/pmpi/calls/held_handles.h"

#include <gtest/gtest.h>

#include "runtime/pmpi/calls/collective_call.h"

namespace torc::runtime::pmpi {
namespace {

class HeldHandlesTest : public testing::Test {
 protected:
  /// A type whose end counts itself.
  static MPI_Datatype countedType(int* freed) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(3, MPI_INT, &type);
    PMPI_Type_commit(&type);
    static int keyval = MPI_KEYVAL_INVALID;
    if (keyval == MPI_KEYVAL_INVALID) {
      PMPI_Type_create_keyval(
          MPI_TYPE_NULL_COPY_FN,
          [](MPI_Datatype, int, void* counter, void*) {
            ++*static_cast<int*>(counter);
            return MPI_SUCCESS;
          },
          &keyval, nullptr);
    }
    PMPI_Type_set_attr(type, keyval, freed);
    return type;
  }
};

TEST_F(HeldHandlesTest, PredefinedOnesAreNotHeld) {
  EXPECT_FALSE(isHeldType(MPI_INT));
  EXPECT_FALSE(isHeldType(MPI_DATATYPE_NULL));
  EXPECT_FALSE(isHeldOp(MPI_SUM));
  EXPECT_FALSE(isHeldOp(MPI_OP_NULL));
  int freed = 0;
  MPI_Datatype type = countedType(&freed);
  EXPECT_TRUE(isHeldType(type));
  PMPI_Type_free(&type);
}

TEST_F(HeldHandlesTest, WhatNoCallUsesIsTheProgramsToFree) {
  HeldTypes held;
  int freed = 0;
  MPI_Datatype type = countedType(&freed);
  EXPECT_FALSE(held.keep(type));
  held.hold(type);
  held.release(type);
  EXPECT_EQ(freed, 0);
  EXPECT_FALSE(held.keep(type));
  PMPI_Type_free(&type);
  EXPECT_EQ(freed, 1);
}

TEST_F(HeldHandlesTest, WhatTheProgramFreesGoesWithTheLastCall) {
  HeldTypes held;
  int freed = 0;
  const MPI_Datatype type = countedType(&freed);
  held.hold(type);
  held.hold(type);
  EXPECT_TRUE(held.keep(type));
  held.release(type);
  EXPECT_EQ(freed, 0);
  held.release(type);
  EXPECT_EQ(freed, 1);
}

TEST_F(HeldHandlesTest, OperationsLikewise) {
  HeldOps held;
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
  ASSERT_TRUE(isHeldOp(op));
  held.hold(op);
  EXPECT_TRUE(held.keep(op));
  held.release(op);
  EXPECT_FALSE(held.keep(op));
}

TEST_F(HeldHandlesTest, ListsAreCopiedForACallThatReadsThemLater) {
  KeptLists kept;
  long counts[] = {3, 1, 2};
  int others[] = {7};
  NumberList list = counts;
  kept.keep(list, 3);
  counts[1] = -1;
  EXPECT_EQ(list[1], 1);
  EXPECT_NE(kept.find(counts), counts);
  EXPECT_EQ(kept.find(counts)[2], 2);
  EXPECT_EQ(kept.find(others), others);

  NumberList none;
  kept.keep(none, 3);
  EXPECT_TRUE(none.isNull());
}

TEST_F(HeldHandlesTest, MpisCallHasTheProgramsArguments) {
  KeptLists kept;
  int counts[] = {5};
  NumberList list = counts;
  kept.keep(list, 1);
  const int* const program_counts = counts;
  const MpiCall call([program_counts](const KeptLists& lists, MPI_Comm comm, MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    return comm == MPI_COMM_SELF ? lists.find(program_counts)[0] : -1;
  });
  counts[0] = 6;
  MPI_Request request;
  EXPECT_EQ(call(kept, MPI_COMM_SELF, &request), 5);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
}

}  // namespace
}  // namespace torc::runtime::pmpi
