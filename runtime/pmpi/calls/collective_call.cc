// Names, notes and descriptions of calls.
#include "runtime/pmpi/calls/collective_call.h"

#include <array>
#include <cstddef>
#include <span>

#include "runtime/reductions/mpi_reduction.h"
#include "runtime/transport/which_mpi.h"
#include "schedules/library/index.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

constexpr const char* kFunctionNames[][3] = {
#define TORC_NAMES(Name, name, parameters, collective) \
  {"MPI_" #Name, "MPI_I" #name, TORC_PERSISTENT_NAME(Name)},
    TORC_ALL_COLLECTIVES(TORC_NAMES)
#undef TORC_NAMES
};

}  // namespace

const char* functionName(CallId id, Form form) {
  return kFunctionNames[static_cast<std::size_t>(id)][static_cast<std::size_t>(form)];
}

std::uint64_t signatureOf(const CollectiveCall& call) {
  const CallArguments& arguments = call.arguments;
  // The handle of a user-defined operation may differ between ranks.
  const MPI_Fint op = isPredefinedOp(arguments.op) ? PMPI_Op_c2f(arguments.op) : 0;
  // For collectives whose ranks know different numbers of bytes. No call is so long.
  const std::uint64_t bytes =
      arguments.hasPairLists() ? ~static_cast<std::uint64_t>(call.id()) : call.bytes;
  // Per function: together with its ordinal in that function, this names a call uniquely.
  const std::array<std::uint64_t, 4> words = {static_cast<std::uint64_t>(call.id()), bytes,
                                              static_cast<std::uint64_t>(op),
                                              static_cast<std::uint64_t>(arguments.root)};
  return checksumOf(std::as_bytes(std::span(words)));
}

CallNote noteOn(const CollectiveCall& call) {
  const CallArguments& arguments = call.arguments;
  CallNote note;
  note.signature = signatureOf(call);
  note.id = call.id();
  note.reason = call.verdict.reason();
  if (call.id() == CallId::kBarrier) return note;
  note.bytes = call.bytes;
  note.op = PMPI_Op_c2f(isPredefinedOp(arguments.op) ? arguments.op : MPI_OP_NULL);
  note.has_op = arguments.op != MPI_OP_NULL;
  if (rowOf(arguments.collective).isRooted()) note.root = arguments.root;
  return note;
}

std::string describe(const CallNote& note) {
  std::string what = functionName(note.id, Form::kBlocking);
  if (note.bytes > 0) what += message(" of ", note.bytes, " bytes");
  if (note.has_op) {
    const MPI_Op op = PMPI_Op_f2c(note.op);
    what += op == MPI_OP_NULL ? ", an operation of the user" : ", " + describeOp(op);
  }
  if (note.root >= 0) what += message(", root ", note.root);
  if (note.isMpis() && note.reason != Reason::kCollective) {
    what += message(", handed to MPI there (", text(note.reason), ")");
  }
  return what;
}

}  // namespace torc::runtime::pmpi
