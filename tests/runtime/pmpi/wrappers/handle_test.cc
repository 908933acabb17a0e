// Handles as MPI requests: waited for, tested, in arrays, started again, completed with an error.
#include "runtime/pmpi/calls/handle.h"

#include <gtest/gtest.h>
#include <mpi.h>

namespace torc::runtime::pmpi {
namespace {

class HandleTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(handles_.open().ok()); }
  void TearDown() override { handles_.close(); }

  static bool isComplete(MPI_Request request) {
    int done = 0;
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }

  HandleSpace handles_;
};

TEST_F(HandleTest, IsPendingUntilItIsCompleted) {
  MPI_Request request = MPI_REQUEST_NULL;
  int tag = -1;
  ASSERT_TRUE(handles_.make(false, &request, &tag).ok());
  EXPECT_FALSE(isComplete(request));
  ASSERT_TRUE(handles_.complete(tag, false).ok());
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
}

TEST_F(HandleTest, CompletesInAnyOrderAmongOthers) {
  MPI_Request requests[3];
  int tags[3];
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(handles_.make(false, &requests[i], &tags[i]).ok());
  for (const int i : {1, 2, 0}) {
    ASSERT_TRUE(handles_.complete(tags[i], false).ok());
    int index = -1, done = 0;
    ASSERT_EQ(MPI_Testany(3, requests, &index, &done, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(done);
    EXPECT_EQ(index, i);
  }
}

TEST_F(HandleTest, FailureIsAnErrorOfTheWait) {
  MPI_Request request = MPI_REQUEST_NULL;
  int tag = -1;
  ASSERT_TRUE(handles_.make(false, &request, &tag).ok());
  ASSERT_TRUE(handles_.complete(tag, true).ok());
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &error_class);
  EXPECT_EQ(error_class, MPI_ERR_TRUNCATE);
}

TEST_F(HandleTest, PersistentOneIsStartedAgain) {
  MPI_Request request = MPI_REQUEST_NULL;
  int tag = -1;
  ASSERT_TRUE(handles_.make(true, &request, &tag).ok());
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
    EXPECT_FALSE(isComplete(request));
    ASSERT_TRUE(handles_.complete(tag, false).ok());
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_NE(request, MPI_REQUEST_NULL);
  }
  MPI_Request_free(&request);
  handles_.release(tag);
}

TEST_F(HandleTest, FreedWhileActiveItIsCompletedByNobody) {
  MPI_Request persistent = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL;
  int tag = -1, other_tag = -1;
  ASSERT_TRUE(handles_.make(true, &persistent, &tag).ok());
  ASSERT_EQ(MPI_Start(&persistent), MPI_SUCCESS);
  ASSERT_EQ(MPI_Request_free(&persistent), MPI_SUCCESS);
  ASSERT_TRUE(handles_.make(false, &other, &other_tag).ok());
  ASSERT_TRUE(handles_.complete(tag, false).ok());
  EXPECT_FALSE(isComplete(other));
  ASSERT_TRUE(handles_.complete(other_tag, false).ok());
  EXPECT_EQ(MPI_Wait(&other, MPI_STATUS_IGNORE), MPI_SUCCESS);
  handles_.release(tag);
}

}  // namespace
}  // namespace torc::runtime::pmpi
