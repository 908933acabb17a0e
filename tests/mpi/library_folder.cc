// The folder: made as `torc library build` makes one, from schedules that exist already.
#include "tests/mpi/library_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <span>

#include "schedules/format/file.h"

namespace torc::runtime {
namespace {

constexpr const char* kCollectives[] = {"allreduce", "reduce_scatter", "allgather"};

std::string compiledPath(const std::string& collective, const std::string& shape) {
  return "tests/mpi/" + collective + "_" + shape + ".torc";
}

void writeWhole(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
}

}  // namespace

LibraryFolder::LibraryFolder(const std::vector<std::string>& partitions) {
  char name[] = "/tmp/torc-library-XXXXXX";
  if (worldRank() == 0) {
    EXPECT_NE(mkdtemp(name), nullptr);
  }
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
  path_ = name;
  index_.machine = "generic";
  index_.version = "0.1.0";
  for (const std::string& shape : partitions)
    addPartition(shape);
  addFiles();
  const std::string manifest = "{}\n";
  index_.manifest_checksum = checksumOf(std::as_bytes(std::span(manifest)));
  EXPECT_EQ(validate(index_).message(), "");
  change([&] {
    std::filesystem::create_directory(path_ + "/files");
    for (const LibraryFile& file : index_.files) {
      const std::string compiled = file.name.substr(0, file.name.find('-'));
      std::filesystem::copy_file("tests/mpi/" + compiled + ".torc",
                                 libraryFilePath(path_, file.name));
    }
    writeWhole(manifestPath(path_), std::as_bytes(std::span(manifest)));
    writeWhole(indexPath(path_), writeLibraryIndex(index_));
  });
}

LibraryFolder::~LibraryFolder() {
  change([&] { std::filesystem::remove_all(path_); });
}

/// With all its boxes that have schedules.
void LibraryFolder::addPartition(const std::string& shape) {
  const auto number = static_cast<std::uint32_t>(index_.partitions.size());
  const StatusOr<std::vector<std::byte>> file = readFile(compiledPath("allreduce", shape));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const StatusOr<LoadedSchedule> whole = readSchedule(*file, shape);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  const Topology partition = whole->view().topology;
  index_.partitions.push_back({partition});
  std::vector<Extents> all;
  for (std::uint64_t box = 0; box < partition.sites(); ++box) {
    const Coordinates steps = partition.coordinatesOfSite(static_cast<std::int32_t>(box));
    Extents extents{};
    for (std::uint32_t i = 0; i < partition.axis_count; ++i)
      extents[i] = static_cast<std::uint32_t>(steps[i]) + 1;
    if (isSubTorus(partition, extents)) all.push_back(extents);
  }
  std::ranges::sort(all);
  for (const Extents& extents : all) {
    const SubTorusAxes axes = canonicalAxes(partition, extents);
    const LibraryShape sub_torus_shape{subTorusTopology(partition, extents, axes)};
    if (!std::filesystem::exists(compiledPath("allreduce", sub_torus_shape.topology.shape())))
      continue;
    const auto found = std::ranges::find(index_.shapes, sub_torus_shape);
    const auto shape_number = static_cast<std::uint32_t>(found - index_.shapes.begin());
    if (found == index_.shapes.end()) index_.shapes.push_back(sub_torus_shape);
    index_.sub_tori.push_back(
        {.partition = number, .extents = extents, .shape = shape_number, .axes = axes});
  }
}

void LibraryFolder::addFiles() {
  std::map<std::string, std::uint32_t> numbers;  // of files, by name
  for (const LibraryShape& shape : index_.shapes) {
    for (const char* collective : kCollectives) {
      const std::string compiled = compiledPath(collective, shape.topology.shape());
      const StatusOr<std::vector<std::byte>> bytes = readFile(compiled);
      ASSERT_TRUE(bytes.ok()) << bytes.status().message();
      index_.files.push_back({std::string(collective) + "_" + shape.topology.shape() + "-1.torc",
                              bytes->size(), checksumOf(*bytes)});
    }
  }
  std::ranges::sort(index_.files, {}, &LibraryFile::name);
  for (std::uint32_t i = 0; i < index_.files.size(); ++i)
    numbers[index_.files[i].name] = i;
  for (std::uint32_t shape = 0; shape < index_.shapes.size(); ++shape) {
    for (std::size_t i = 0; i < std::size(kCollectives); ++i) {
      const std::string name =
          std::string(kCollectives[i]) + "_" + index_.shapes[shape].topology.shape() + "-1.torc";
      const auto collective = static_cast<Collective>(i);
      index_.entries.push_back(
          {.shape = shape,
           .collective = collective,
           .lowest = collective == Collective::kAllgather ? kLeastAllgatherBytes : 0,
           .highest = kOpenEnd,
           .file = numbers[name],
           .predicted_to = 1000,
           .lowest_s = 1e-6,
           .highest_s = 2e-6,
           .reason = "the only one"});
    }
  }
}

std::string LibraryFolder::schedulePath(const std::string& collective,
                                        const std::string& shape) const {
  return libraryFilePath(path_, collective + "_" + shape + "-1.torc");
}

std::string LibraryFolder::write(const std::string& name, const std::string& content) {
  const std::string path = path_ + "/" + name;
  change([&] { writeWhole(path, std::as_bytes(std::span(content))); });
  return path;
}

void LibraryTest::SetUp() {
  if (worldSize() < 4) GTEST_SKIP() << "no sub-tori";
  ASSERT_TORC_OK(torc_context_create(&context_));
  folder_ = std::make_unique<LibraryFolder>(
      worldSize() == 6 ? std::vector<std::string>{"3x2"} : std::vector<std::string>{"2x2", "4"});
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

void expectResultsOfMpi(torc_geometry* geometry, MPI_Comm comm, const std::string& what,
                        std::int64_t scale) {
  ASSERT_NE(geometry, nullptr) << what;
  int size = 0, rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(size)), displacements(counts.size());
  for (int r = 0; r < size; ++r)
    counts[r] = scale * (13 + 5 * r);
  std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), std::int64_t{0});
  const std::vector<int> mpi_counts(counts.begin(), counts.end());
  const std::vector<int> mpi_displacements(displacements.begin(), displacements.end());
  const std::int64_t total = displacements.back() + counts.back();

  torc_call call = allreduceOf(total);
  torc_schedule* schedule = nullptr;
  torc_collective* collective = nullptr;
  std::vector<int> in = numbers(total), out(in.size(), -1), expected(in.size());
  ASSERT_TORC_OK(torc_library_load(geometry, &call, &schedule));
  ASSERT_TORC_OK(
      torc_allreduce_init(schedule, in.data(), out.data(), total, MPI_INT, MPI_SUM, &collective));
  runAndFree(collective);
  EXPECT_TORC_OK(torc_schedule_free(schedule));
  MPI_Allreduce(in.data(), expected.data(), static_cast<int>(total), MPI_INT, MPI_SUM, comm);
  EXPECT_EQ(out, expected) << what;

  call = {TORC_REDUCE_SCATTER, 0, counts.data(), MPI_INT, MPI_SUM};
  out.assign(static_cast<std::size_t>(counts[rank]), -1);
  expected.assign(out.size(), 0);
  ASSERT_TORC_OK(torc_library_load(geometry, &call, &schedule));
  ASSERT_TORC_OK(torc_reduce_scatter_init(schedule, in.data(), out.data(), counts.data(), MPI_INT,
                                          MPI_SUM, &collective));
  runAndFree(collective);
  EXPECT_TORC_OK(torc_schedule_free(schedule));
  MPI_Reduce_scatter(in.data(), expected.data(), mpi_counts.data(), MPI_INT, MPI_SUM, comm);
  EXPECT_EQ(out, expected) << what;

  call = {TORC_ALLGATHER, 0, counts.data(), MPI_INT, MPI_OP_NULL};
  in = numbers(counts[rank]);
  out.assign(static_cast<std::size_t>(total), -1);
  expected.assign(out.size(), 0);
  ASSERT_TORC_OK(torc_library_load(geometry, &call, &schedule));
  ASSERT_TORC_OK(torc_allgatherv_init(schedule, in.data(), counts[rank], MPI_INT, out.data(),
                                      counts.data(), displacements.data(), MPI_INT, &collective));
  runAndFree(collective);
  EXPECT_TORC_OK(torc_schedule_free(schedule));
  MPI_Allgatherv(in.data(), mpi_counts[rank], MPI_INT, expected.data(), mpi_counts.data(),
                 mpi_displacements.data(), MPI_INT, comm);
  EXPECT_EQ(out, expected) << what;
}

}  // namespace torc::runtime
