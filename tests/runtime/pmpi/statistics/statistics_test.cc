// Recording of calls on one rank. A single process: MPI starts without mpiexec.
#include "runtime/pmpi/statistics/statistics.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace torc::runtime::pmpi {
namespace {

class StatisticsTest : public testing::Test {
 protected:
  /// A call of an allreduce.
  CallRecord call(std::uint64_t bytes, double seconds) const {
    return {"MPI_Allreduce", communicator_,    0,     MPI_INT, MPI_SUM, bytes,
            seconds,         Service::kServed, "file"};
  }

  Statistics statistics_{false};
  std::uint32_t communicator_ = statistics_.communicator("4x2 sub-torus of 4x4x2", "", 0);
};

TEST_F(StatisticsTest, CountsBytesAndTimesOfASignature) {
  statistics_.record(call(65536, 0.25));
  statistics_.record(call(65536, 0.125));
  statistics_.record(call(80000, 1));
  const std::vector<CallRow> rows = statistics_.snapshot({}).calls;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0],
            (CallRow{Service::kServed, "MPI_Allreduce", "4x2 sub-torus of 4x4x2", "MPI_INT",
                     "MPI_SUM", "file", 17, 3, 211072, 65536, 80000, 1.375, 0.125, 1, 1}));
}

TEST_F(StatisticsTest, RowsAreToldApart) {
  std::vector<CallRecord> calls(8, call(65536, 1));
  calls[1].function = "MPI_Iallreduce";
  calls[2].communicator = statistics_.communicator("4x4x2", "", 0);
  calls[3].type = MPI_DOUBLE;
  calls[4].op = MPI_MAX;
  calls[5].bytes = 65535;
  calls[6].by = "reason";
  calls[6].service = Service::kNotTorcs;
  calls[7].communicator = 0;
  for (int round = 0; round < 2; ++round) {
    for (const CallRecord& one : calls)
      statistics_.record(one);
  }
  const std::vector<CallRow> rows = statistics_.snapshot({}).calls;
  ASSERT_EQ(rows.size(), calls.size());
  for (const CallRow& row : rows)
    EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(rows[3].datatype, "MPI_DOUBLE");
  EXPECT_EQ(rows[4].operation, "MPI_MAX");
  EXPECT_EQ(rows[6].service, Service::kNotTorcs);
  EXPECT_EQ(rows[7].communicator, "not known");
}

// Their handles are used again for other types: a row of each would name the wrong one.
TEST_F(StatisticsTest, DerivedTypesShareARow) {
  for (int elements = 1; elements <= 100; ++elements) {
    CallRecord one = call(4000, 1);
    PMPI_Type_contiguous(elements, MPI_INT, &one.type);
    statistics_.record(one);
    PMPI_Type_free(&one.type);
  }
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
  CallRecord users = call(4000, 1);
  users.op = op;
  statistics_.record(users);
  PMPI_Op_free(&op);
  CallRecord barrier = call(0, 1);
  barrier.type = MPI_DATATYPE_NULL;
  barrier.op = MPI_OP_NULL;
  statistics_.record(barrier);
  const std::vector<CallRow> rows = statistics_.snapshot({}).calls;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].datatype, "derived");
  EXPECT_EQ(rows[0].calls, 100u);
  EXPECT_EQ(rows[1].operation, "user's");
  EXPECT_EQ(rows[2].datatype, "");
  EXPECT_EQ(rows[2].operation, "");
}

TEST_F(StatisticsTest, NoCallIsLostWhenSignaturesAreMany) {
  // Each by a reason of its own, as texts are told apart by their address.
  std::vector<std::string> reasons(kMostCallRows + 500);
  for (int round = 0; round < 2; ++round) {
    for (const std::string& reason : reasons) {
      CallRecord one = call(8, 0.5);
      one.by = reason.c_str();
      statistics_.record(one);
    }
  }
  // What is handed to MPI is counted apart from what is served, also then.
  CallRecord handed = call(16, 0.25);
  handed.service = Service::kNotTorcs;
  statistics_.record(handed);
  const JobStatistics counted = statistics_.snapshot({});
  ASSERT_EQ(counted.calls.size(), kMostCallRows + 2);
  const CallRow& served = counted.calls[kMostCallRows];
  EXPECT_TRUE(served.isRest());
  EXPECT_EQ(served.service, Service::kServed);
  EXPECT_EQ(served.calls, 1000u);
  EXPECT_EQ(served.bytes, 8000u);
  EXPECT_EQ(counted.calls.back().service, Service::kNotTorcs);
  EXPECT_EQ(counted.calls.back().calls, 1u);
  EXPECT_EQ(counted.calls.front().calls, 2u);
}

TEST_F(StatisticsTest, CommunicatorsAreCountedByTheirRank0) {
  EXPECT_EQ(statistics_.communicator("4x2 sub-torus of 4x4x2", "", 1), communicator_);
  EXPECT_NE(statistics_.communicator("4x2 sub-torus of 4x4x2", "no room", 0), communicator_);
  EXPECT_EQ(statistics_.communicator("4x2 sub-torus of 4x4x2", "", 0), communicator_);
  const std::vector<CommunicatorRow> rows = statistics_.snapshot({}).communicators;
  EXPECT_EQ(rows,
            (std::vector<CommunicatorRow>{{"4x2 sub-torus of 4x4x2", "", 2, 0, 0, 0, 3},
                                          {"4x2 sub-torus of 4x4x2", "no room", 1, 0, 0, 0, 1}}));
  for (std::size_t i = 0; i < 2 * kMostCommunicatorRows; ++i)
    statistics_.communicator(std::to_string(i), "", 0);
  const std::vector<CommunicatorRow> many = statistics_.snapshot({}).communicators;
  EXPECT_EQ(many.size(), kMostCommunicatorRows + 1);
  EXPECT_EQ(many.back().used, kMostCommunicatorRows + 2);
}

// One description stands for communicators that torc serves and for those that it does not, by
// different reasons: the calls of each are its own, while they share the row of their signature.
TEST_F(StatisticsTest, CommunicatorsOfOneShapeHaveCallsOfTheirOwn) {
  const std::uint32_t corner = statistics_.communicator("5 ranks", "(2, 1) is missing", 0);
  const std::uint32_t middle = statistics_.communicator("5 ranks", "(1, 0) is missing", 0);
  CallRecord handed = call(80, 0.25);
  handed.service = Service::kShouldBeServed;
  handed.by = "the library has no such sub-torus";
  for (const std::uint32_t number : {corner, middle, middle}) {
    handed.communicator = number;
    statistics_.record(handed);
  }
  statistics_.record(call(80, 2));
  const JobStatistics counted = statistics_.snapshot({});
  EXPECT_EQ(counted.communicators,
            (std::vector<CommunicatorRow>{{"4x2 sub-torus of 4x4x2", "", 1, 1, 0, 2, 1},
                                          {"5 ranks", "(2, 1) is missing", 1, 0, 1, 0.25, 1},
                                          {"5 ranks", "(1, 0) is missing", 1, 0, 2, 0.5, 1}}));
  ASSERT_EQ(counted.calls.size(), 2u);
  EXPECT_EQ(counted.calls[0].communicator, "5 ranks");
  EXPECT_EQ(counted.calls[0].calls, 3u);
  EXPECT_EQ(counted.calls[0].ranks, 1u);
}

// Also of calls and communicators beyond the most rows.
TEST_F(StatisticsTest, CommunicatorsHaveTheCallsOfSignaturesWithoutARow) {
  std::vector<std::string> reasons(kMostCallRows + 50);
  for (const std::string& reason : reasons) {
    CallRecord one = call(8, 0.5);
    one.by = reason.c_str();
    statistics_.record(one);
  }
  for (std::size_t i = 0; i < 2 * kMostCommunicatorRows; ++i) {
    CallRecord one = call(8, 0.5);
    one.communicator = statistics_.communicator(std::to_string(i), "", 0);
    statistics_.record(one);
  }
  const std::vector<CommunicatorRow> rows = statistics_.snapshot({}).communicators;
  ASSERT_EQ(rows.size(), kMostCommunicatorRows + 1);
  EXPECT_EQ(rows.front().served, kMostCallRows + 50);
  EXPECT_EQ(rows.back(),
            (CommunicatorRow{"others", "too many kinds to list", kMostCommunicatorRows + 1,
                             kMostCommunicatorRows + 1, 0, 0.5 * (kMostCommunicatorRows + 1),
                             kMostCommunicatorRows + 1}));
}

TEST_F(StatisticsTest, FactsAreTheRanks) {
  const RankFacts facts{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const JobStatistics counted = statistics_.snapshot(facts);
  EXPECT_EQ(counted.facts, facts);
  EXPECT_EQ(counted.ranks, 1u);
}

TEST_F(StatisticsTest, ThreadsRecordAtOnce) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this] {
      for (std::uint64_t i = 0; i < 20000; ++i)
        statistics_.record(call(i % 50, 1));
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  std::uint64_t calls = 0;
  for (const CallRow& row : statistics_.snapshot({}).calls)
    calls += row.calls;
  EXPECT_EQ(calls, 80000u);
}

TEST_F(StatisticsTest, ExplainsANewSignatureOnce) {
  Statistics explaining(true);
  const std::uint32_t known = explaining.communicator("4x2 sub-torus of 4x4x2", "", 0);
  LibraryEntry entry;
  entry.lowest = 1000;
  entry.highest = kOpenEnd;
  entry.predicted_to = 3000;
  entry.lowest_s = 10e-6;
  entry.highest_s = 30e-6;
  entry.reason = "fewest steps";
  CallRecord served = call(2000, 1);
  served.communicator = known;
  served.entry = &entry;
  CallRecord handed = call(2000, 1);
  handed.function = "MPI_Barrier";
  handed.communicator = known;
  handed.type = MPI_DATATYPE_NULL;
  handed.op = MPI_OP_NULL;
  handed.service = Service::kNotTorcs;
  handed.by = "torc does not serve this collective";
  CallRecord of_rank1 = call(5000, 1);
  of_rank1.communicator_rank = 1;

  testing::internal::CaptureStderr();
  for (int round = 0; round < 3; ++round) {
    for (const CallRecord& one : {served, handed, of_rank1})
      explaining.record(one);
    statistics_.record(served);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "torc: MPI_Allreduce on 4x2 sub-torus of 4x4x2, 2000 bytes of MPI_INT, MPI_SUM: "
            "file, predicted 20 us: fewest steps\n"
            "torc: MPI_Barrier on 4x2 sub-torus of 4x4x2: handed to MPI: torc does not serve "
            "this collective\n");
}

}  // namespace
}  // namespace torc::runtime::pmpi
