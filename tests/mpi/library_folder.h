// A copy of a small schedule library of tests/mpi/BUILD, which tests may corrupt.
#ifndef TORC_TESTS_MPI_LIBRARY_FOLDER_H_
#define TORC_TESTS_MPI_LIBRARY_FOLDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/torc.h"
#include "schedules/library/index.h"
#include "tests/mpi/job.h"

namespace torc::runtime {

/// A folder that is removed with the object. All functions are collective over MPI_COMM_WORLD.
class LibraryFolder {
 public:
  explicit LibraryFolder(const std::string& library);
  LibraryFolder(const LibraryFolder&) = delete;
  LibraryFolder& operator=(const LibraryFolder&) = delete;
  ~LibraryFolder();

  const std::string& path() const { return path_; }
  /// The original index.
  const LibraryIndex& index() const { return index_; }
  void restore();
  /// The entry for a collective of 1000 bytes on a shape, with name and path of its schedule.
  const LibraryEntry& entry(const std::string& collective, const std::string& shape) const;
  std::string fileName(const std::string& collective, const std::string& shape) const;
  std::string schedulePath(const std::string& collective, const std::string& shape) const;

  /// Rank 0 changes the folder, the others wait.
  template <typename Change>
  void change(Change change) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (worldRank() == 0) change();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /// Writes `content` to a file of the folder and returns its path.
  std::string write(const std::string& name, const std::string& content);

 private:
  std::string library_, path_;
  LibraryIndex index_;
};

/// torc_library_options, for designated initializers.
struct OpenOptions {
  const char* directory = nullptr;
  const char* torus = nullptr;
  const char* order = nullptr;
  const char* mapping = nullptr;
  const char* machine = nullptr;
  std::uint64_t memory_limit = 0;

  torc_library_options value() const {
    return {directory, torus, order, mapping, machine, memory_limit};
  }
};

/// A context, and a library for this number of ranks: of partitions 3x2 for 6 ranks, 2x2 and 4 for
/// 4 ranks (with 2x2 chosen), each with its lines, for vectors of 8 to 512 bytes and more.
class LibraryTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Opens the folder on the world's torus, unless the options say otherwise.
  void open(OpenOptions options = {});
  void close();
  torc_geometry* recognised(MPI_Comm comm);

  torc_context* context_ = nullptr;
  std::unique_ptr<LibraryFolder> folder_;
  torc_library* library_ = nullptr;
};

/// Calls all collectives on a recognised geometry, with schedules of its library: results are right
/// on `comm`. Blocks have `scale` times a few dozen elements.
void expectResults(torc_geometry* geometry, MPI_Comm comm, const std::string& what,
                   std::int64_t scale = 1);

/// An allreduce of `count` integers.
torc_call allreduceOf(std::int64_t count);

}  // namespace torc::runtime

#endif  // TORC_TESTS_MPI_LIBRARY_FOLDER_H_
