// The loader that runs this program lists the libraries, as ldd does: nothing that a file names is
// executed.
#include "compiler/jobs/mpi_program.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <memory>
#include <optional>
#include <sys/auxv.h>
#include <unistd.h>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>

#include "ir/make_error.h"

namespace torc::compiler {
namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readWhole(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, false, /*RequiresNullTerminator=*/false);
  if (!buffer) return makeError("cannot read '" + file + "': " + buffer.getError().message());
  return std::move(*buffer);
}

/// A record of an ELF file.
template <typename Record>
std::optional<Record> recordAt(llvm::StringRef file, std::uint64_t offset) {
  Record record;
  if (offset > file.size() || file.size() - offset < sizeof(record)) return std::nullopt;
  std::memcpy(&record, file.data() + offset, sizeof(record));
  return record;
}

/// Whether an ELF file is loaded with libraries; nothing: it is none.
std::optional<bool> isDynamic(llvm::StringRef file) {
  const auto header = recordAt<Elf64_Ehdr>(file, 0);
  if (!header || !file.starts_with(ELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64) return {};
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = recordAt<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type == PT_DYNAMIC)
      return segment ? std::optional(true) : std::nullopt;
  }
  return false;
}

/// The loader's list of the libraries that it loads for a file, lines of
/// `libm.so.6 => /lib/libm.so.6 (0x7f..)`.
llvm::Expected<std::string> loaderList(llvm::StringRef file) {
  llvm::SmallString<128> list;
  if (const auto error = fs::createTemporaryFile("torc", "list", list))
    return makeError("no temporary file: " + error.message());
  const llvm::FileRemover remover(list);
  std::vector<llvm::StringRef> environment = {"LD_TRACE_LOADED_OBJECTS=1"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!llvm::StringRef(*entry).starts_with("LD_PRELOAD=")) environment.emplace_back(*entry);
  }
  Dl_info loader{};
  ::dladdr(reinterpret_cast<void*>(::getauxval(AT_BASE)), &loader);
  const llvm::StringRef program = loader.dli_fname == nullptr ? "" : loader.dli_fname;
  const std::optional<llvm::StringRef> redirects[] = {"", list.str(), ""};
  llvm::sys::ExecuteAndWait(program, {program, file}, environment, redirects);
  auto lines = readWhole(list);
  return lines ? llvm::Expected<std::string>((*lines)->getBuffer().str()) : lines.takeError();
}

}  // namespace

const char* nameOf(Mpi mpi) {
  return mpi == Mpi::kMpich ? "MPICH" : mpi == Mpi::kOpenMpi ? "Open MPI" : "no MPI";
}

bool MpiProgram::needs(llvm::StringRef library) const {
  return llvm::any_of(libraries, [&](llvm::StringRef name) { return name.starts_with(library); });
}

std::string findProgram(llvm::StringRef word) {
  if (!word.contains('/')) {
    if (auto found = llvm::sys::findProgramByName(word)) return *found;
  }
  return fs::can_execute(word) && fs::is_regular_file(word) ? word.str() : std::string();
}

llvm::Expected<MpiProgram> readProgram(llvm::StringRef file) {
  auto content = readWhole(file);
  if (!content) return content.takeError();
  const std::optional<bool> is_dynamic = isDynamic((*content)->getBuffer());
  if (!is_dynamic)
    return makeError("'" + file + "' is no program of this system, but a script or data");
  llvm::Expected<std::string> list = *is_dynamic ? loaderList(file) : "statically linked";
  if (!list) return list.takeError();
  if (list->empty()) return makeError("'" + file + "' is for another kind of processor");
  MpiProgram program{.path = file.str()};
  program.calls_mpi = (*content)->getBuffer().contains("MPI_Init");
  if (llvm::StringRef(*list).contains("statically linked")) {
    program.fault = "is linked statically, so that nothing can be preloaded";
    program.remedy = "link it with MPI's shared library";
  }
  for (const llvm::StringRef line : llvm::split(*list, '\n')) {
    const auto [name, where] = line.trim().split(' ');
    program.libraries.push_back(name.str());
    if (!where.ends_with("not found") || !program.fault.empty()) continue;
    program.fault = "needs " + name.str() + ", which is nowhere";
    program.remedy = "set LD_LIBRARY_PATH";
  }
  // libmpi.so.12 is the name in the binary interface of MPICH and its relatives.
  const bool is_mpich = program.needs("libmpich.so") || program.needs("libmpi.so.12");
  program.mpi = is_mpich ? Mpi::kMpich : program.needs("libmpi.so.") ? Mpi::kOpenMpi : Mpi::kNone;
  return program;
}

llvm::Expected<std::string> findPreload(Mpi mpi) {
  std::vector<std::string> places;
  const char* set = std::getenv("LD_PRELOAD");
  for (const llvm::StringRef file : llvm::split(set == nullptr ? "" : set, ':')) {
    if (path::filename(file).starts_with("libtorc_pmpi.so")) places.push_back(file.str());
  }
  llvm::SmallString<128> self;
  (void)fs::real_path("/proc/self/exe", self);
  const std::string root = path::parent_path(path::parent_path(self)).str();
  // Of an installation, a package, a build.
  for (const char* place : {"/lib/libtorc_pmpi.so.1", "/lib/torc/openmpi/lib/libtorc_pmpi.so.1",
                            "/runtime/libtorc_pmpi.so", "/runtime/openmpi/libtorc_pmpi.so"})
    places.push_back(root + place);
  for (const std::string& place : places) {
    llvm::Expected<MpiProgram> library = readProgram(place);
    if (library && library->mpi == mpi) return place;
    if (!library) consumeError(library.takeError());
  }
  return makeError(llvm::Twine("no libtorc_pmpi.so for ") + nameOf(mpi) +
                   " is in LD_PRELOAD or installed in " + root);
}

}  // namespace torc::compiler
