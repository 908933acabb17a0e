// Names of communicators. An attribute holds the name in its upper bits, a hash of the parent's
// attribute, and the number of children so far in the lower ones. All ranks of a communicator
// create others from it in the same order.
#include "runtime/pmpi/engine/communicator_name.h"

#include "runtime/pmpi/engine/engine.h"
#include "support/hash.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::uint64_t kChildren = (std::uint64_t{1} << 20) - 1;

std::uint64_t attributeOf(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, engine->names, &attribute, &found);
  return found ? reinterpret_cast<std::uint64_t>(attribute) : 0;
}

void setAttribute(MPI_Comm comm, int keyval, std::uint64_t value) {
  PMPI_Comm_set_attr(comm, keyval, reinterpret_cast<void*>(value));
}

}  // namespace

void openNames(int& keyval) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  setAttribute(MPI_COMM_WORLD, keyval, kChildren + 1);
}

bool nameChild(MPI_Comm parent, MPI_Comm child) {
  const std::uint64_t known = parent == MPI_COMM_NULL ? 0 : attributeOf(parent);
  if (known == 0 || (known & kChildren) == kChildren) return false;
  setAttribute(parent, engine->names, known + 1);
  // Children of a split share the name but not their members: `nameOf` adds their first member.
  if (child != MPI_COMM_NULL) {
    setAttribute(child, engine->names, hashNumbers(known) & ~kChildren);
  }
  return true;
}

std::uint64_t nameOf(MPI_Comm comm) {
  const std::uint64_t name = attributeOf(comm) & ~kChildren;
  if (name == 0) return 0;
  MPI_Group group = MPI_GROUP_NULL;
  int first = 0, in_world = MPI_UNDEFINED;
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, 1, &first, engine->library->world, &in_world);
  PMPI_Group_free(&group);
  // The ranks combine their numbers by MPI_MAX, which treats all words as signed in MPICH 4.0.2.
  return hashNumbers(name, in_world) >> 1;
}

}  // namespace torc::runtime::pmpi
