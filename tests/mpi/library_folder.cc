#include "tests/mpi/library_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "schedules/format/file.h"
#include "tests/mpi/api_calls.h"

namespace torc::runtime {

LibraryFolder::LibraryFolder(const std::string& library) : library_("tests/mpi/" + library) {
  char name[] = "/tmp/torc-library-XXXXXX";
  if (worldRank() == 0) {
    EXPECT_NE(mkdtemp(name), nullptr);
  }
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
  path_ = name;
  restore();
  const StatusOr<std::vector<std::byte>> bytes = readFile(indexPath(path_));
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  StatusOr<LibraryIndex> index = readLibraryIndex(*bytes, path_);
  EXPECT_TRUE(index.ok()) << index.status().message();
  index_ = std::move(*index);
}

LibraryFolder::~LibraryFolder() {
  change([&] { std::filesystem::remove_all(path_); });
}

void LibraryFolder::restore() {
  change([&] {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ + "/files");
    std::filesystem::copy(library_, path_, std::filesystem::copy_options::recursive);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all);
  });
}

const LibraryEntry& LibraryFolder::entry(const std::string& collective,
                                         const std::string& shape) const {
  std::uint32_t i = 0;
  while (index_.shapes.at(i).topology.shape() != shape)
    ++i;
  return *index_.findEntry(i, *collectiveNamed(collective), 1000);
}

std::string LibraryFolder::fileName(const std::string& collective, const std::string& shape) const {
  return index_.files[entry(collective, shape).file].name;
}

std::string LibraryFolder::schedulePath(const std::string& collective,
                                        const std::string& shape) const {
  return libraryFilePath(path_, fileName(collective, shape));
}

std::string LibraryFolder::write(const std::string& name, const std::string& content) {
  const std::string path = path_ + "/" + name;
  change([&] { std::ofstream(path, std::ios::binary) << content; });
  return path;
}

void LibraryTest::SetUp() {
  if (worldSize() < 4) GTEST_SKIP() << "no sub-tori";
  ASSERT_TORC_OK(torc_context_create(&context_));
  folder_ = std::make_unique<LibraryFolder>(worldSize() == 6 ? "small_3x2" : "small_2x2");
}

void LibraryTest::TearDown() {
  close();
  EXPECT_TORC_OK(torc_context_destroy(context_));
  folder_.reset();
}

void LibraryTest::open(OpenOptions options) {
  const std::string torus = shapeOfWorld();
  if (options.directory == nullptr) options.directory = folder_->path().c_str();
  if (options.torus == nullptr) options.torus = torus.c_str();
  const torc_library_options value = options.value();
  ASSERT_TORC_OK(torc_library_open(context_, MPI_COMM_WORLD, &value, &library_));
}

void LibraryTest::close() {
  EXPECT_TORC_OK(torc_library_close(library_));
  library_ = nullptr;
}

torc_geometry* LibraryTest::recognised(MPI_Comm comm) {
  torc_geometry* geometry = nullptr;
  EXPECT_TORC_OK(torc_geometry_recognise(library_, comm, &geometry));
  return geometry;
}

torc_call allreduceOf(std::int64_t count) {
  return {TORC_ALLREDUCE, count, nullptr, MPI_INT, MPI_SUM};
}

void expectResults(torc_geometry* geometry, MPI_Comm comm, const std::string& what,
                   std::int64_t scale) {
  ASSERT_NE(geometry, nullptr) << what;
  const std::pair<torc_kind, const char*> functions[] = {{TORC_ALLREDUCE, "allreduce"},
                                                         {TORC_REDUCE_SCATTER, "reduce_scatter"},
                                                         {TORC_ALLGATHER, "allgatherv"}};
  for (const auto& [kind, name] : functions) {
    const mpi_calls::Collective& function = apiFunction(name);
    const torc_call call = {kind, 20 * scale, nullptr, MPI_INT,
                            function.reduces() ? MPI_SUM : MPI_OP_NULL};
    torc_schedule* schedule = nullptr;
    ASSERT_TORC_OK(torc_library_load(geometry, &call, &schedule));
    expectRight(schedule, {what, comm}, shapeOf(function, 20 * scale));
    EXPECT_TORC_OK(torc_schedule_free(schedule));
  }
}

}  // namespace torc::runtime
