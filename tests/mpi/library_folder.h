// A small schedule library for tests, made by rank 0 from schedules that tests/mpi/BUILD compiles:
// partitions with every box of theirs that there are schedules for.
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

/// Allgathers of fewer bytes have no schedule in these libraries.
inline constexpr std::uint64_t kLeastAllgatherBytes = 8;

/// A folder that is gone when the object is. All functions are collective over MPI_COMM_WORLD.
class LibraryFolder {
 public:
  /// Partitions by their shapes, undamaged.
  explicit LibraryFolder(const std::vector<std::string>& partitions);
  LibraryFolder(const LibraryFolder&) = delete;
  LibraryFolder& operator=(const LibraryFolder&) = delete;
  ~LibraryFolder();

  const std::string& path() const { return path_; }
  /// The same on all ranks, as the index that was written.
  const LibraryIndex& index() const { return index_; }
  /// Path of the schedule of a collective on a shape.
  std::string schedulePath(const std::string& collective, const std::string& shape) const;

  /// Rank 0 does something to the folder, the others wait.
  template <typename Change>
  void change(Change change) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (worldRank() == 0) change();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /// Writes `content` to a file of the folder and returns its path.
  std::string write(const std::string& name, const std::string& content);

 private:
  void addPartition(const std::string& shape);
  void addFiles();

  std::string path_;
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
/// 4 ranks (where 2x2 is chosen), each with its lines and some boxes.
class LibraryTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Opens the folder on the world's torus, where the options do not say otherwise.
  void open(OpenOptions options = {});
  void close();
  torc_geometry* recognised(MPI_Comm comm);

  torc_context* context_ = nullptr;
  std::unique_ptr<LibraryFolder> folder_;
  torc_library* library_ = nullptr;
};

/// Calls of all collectives on a recognised geometry, with schedules of its library: results are
/// those of MPI on `comm`. Blocks have `scale` times a few dozen elements.
void expectResultsOfMpi(torc_geometry* geometry, MPI_Comm comm, const std::string& what,
                        std::int64_t scale = 1);

/// An allreduce of `count` integers.
torc_call allreduceOf(std::int64_t count);

}  // namespace torc::runtime

#endif  // TORC_TESTS_MPI_LIBRARY_FOLDER_H_
