// The counts of torc_statistics_take, called by a program that is not linked with torc.
#include <dlfcn.h>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/api/torc_statistics.h"
#include "tests/runtime/pmpi/mpi4_names.h"

namespace {

/// A function of the interposer, which is preloaded.
template <typename Function>
Function* preloaded(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

const auto take = preloaded<decltype(torc_statistics_take)>("torc_statistics_take");
const auto release = preloaded<decltype(torc_statistics_free)>("torc_statistics_free");
const auto rows = preloaded<decltype(torc_statistics_rows)>("torc_statistics_rows");
const auto query = preloaded<decltype(torc_statistics_query)>("torc_statistics_query");
const auto error_text = preloaded<decltype(torc_error_message)>("torc_error_message");

/// Calls so far, by function, datatype, and whether torc served them.
std::map<std::string, torc_statistics_row> counted() {
  std::map<std::string, torc_statistics_row> found;
  torc_statistics* statistics = nullptr;
  EXPECT_EQ(take(&statistics), TORC_OK) << error_text();
  for (std::size_t i = 0; i < rows(statistics); ++i) {
    torc_statistics_row row;
    EXPECT_EQ(query(statistics, i, &row), TORC_OK);
    const std::string name = std::string(row.function) + ' ' + row.communicator + ' ' +
                             row.datatype + ' ' + row.operation + (row.served ? "" : " MPI's");
    found[name] = row;
    // Of the texts only the numbers stay.
    found[name].function = found[name].by = nullptr;
  }
  torc_statistics_row row;
  EXPECT_EQ(query(statistics, rows(statistics), &row), TORC_ERR_ARGUMENT);
  release(statistics);
  return found;
}

TEST(CountsTest, BeforeMpi) {
  ASSERT_NE(take, nullptr) << "libtorc_pmpi.so is not preloaded";
  torc_statistics* statistics = nullptr;
  EXPECT_EQ(take(&statistics), TORC_ERR_UNSUPPORTED);
  EXPECT_EQ(statistics, nullptr);
  EXPECT_NE(std::string(error_text()).find("nothing is counted"), std::string::npos);
  EXPECT_EQ(rows(nullptr), 0u);
  release(nullptr);
}

TEST(CountsTest, EveryCallOnce) {
  MPI_Init(nullptr, nullptr);
  EXPECT_TRUE(counted().empty());
  std::vector<double> in(4000), out(4000 * 6);
  constexpr int kCalls = 50;
  for (int i = 0; i < kCalls; ++i) {
    MPI_Allreduce(in.data(), out.data(), 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(in.data(), 10, MPI_FLOAT, out.data(), 10, MPI_FLOAT, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Request request;
    MPI_Iallreduce(in.data(), out.data(), 10, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request persistent;
  MPI_Allreduce_init(in.data(), out.data(), 10, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &persistent);
  for (int i = 0; i < 4; ++i) {
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&persistent);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Allgather(in.data(), 7, pair, out.data(), 7, pair, MPI_COMM_WORLD);
  MPI_Type_free(&pair);
  MPI_Bcast(in.data(), 5, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(in.data(), out.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_SELF);

  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  auto found = counted();
  const auto expect = [&](const std::string& name, std::uint64_t calls, std::uint64_t bytes) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_EQ(found[name].calls, calls) << name;
    EXPECT_EQ(found[name].bytes, calls * bytes) << name;
    EXPECT_GE(found[name].least_seconds, 0) << name;
    EXPECT_LE(found[name].least_seconds, found[name].most_seconds) << name;
    EXPECT_LE(found[name].most_seconds, found[name].seconds) << name;
  };
  const auto bytes = static_cast<std::uint64_t>(size);
  expect("MPI_Allreduce 3x2 MPI_DOUBLE MPI_SUM", kCalls, 8000);
  expect("MPI_Allgather 3x2 MPI_FLOAT ", kCalls, 40 * bytes);
  expect("MPI_Iallreduce 3x2 MPI_INT MPI_MAX", 3, 40);
#ifdef OPEN_MPI
  const std::string init = "MPIX_Allreduce_init";
#else
  const std::string init = "MPI_Allreduce_init";
#endif
  expect(init + " 3x2 MPI_INT MPI_MAX", 4, 40);
  expect("MPI_Allgather 3x2 derived ", 1, 7 * 16 * bytes);
  expect("MPI_Bcast 3x2 MPI_DOUBLE ", 1, 40);
  expect("MPI_Allreduce 1 rank MPI_INT MPI_SUM MPI's", 1, 8);
  EXPECT_EQ(found.size(), 7u);

  MPI_Finalize();
  torc_statistics* statistics = nullptr;
  EXPECT_EQ(take(&statistics), TORC_ERR_UNSUPPORTED);
}

}  // namespace
