// The proof by cells: the rules of the verifier, proved for boxes of nodes ("cells") at a time, so
// that they cost what guards tell apart and not what nodes there are. Guards are boxes, and what a
// region names depends on every axis on the node's coordinate there alone; so is what nodes hold
// (facts.h). Nothing is approximated: what is refused here is wrong, and what takes too much work
// is left undecided.
#ifndef TORC_IR_VERIFIER_CELLS_PROOF_H_
#define TORC_IR_VERIFIER_CELLS_PROOF_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/verifier/cells/domains.h"
#include "ir/verifier/cells/span.h"
#include "ir/verifier/context.h"

namespace torc::ir {

/// A send and its receive, on the nodes of a box.
struct CellMatch {
  std::uint32_t send = 0, receive = 0;  // operations
  Ranges senders{}, receivers{};        // nodes
  Coordinates distance{};               // from a sender to its receiver
};

/// What the rules share.
struct CellProof {
  explicit CellProof(VerifyContext& verification, std::uint64_t most_work)
      : context(verification), domains(verification.schedule), work{0, most_work} {}

  VerifyContext& context;
  Domains domains;
  CellWork work;
  std::vector<CellMatch> matches;
  std::vector<std::vector<std::uint32_t>> matches_of;  // by operation that receives
  std::uint64_t cells = 0;                             // told apart at most, in one channel
};

inline constexpr std::int32_t kEverywhere = -1;

/// An event (2 * operation for its start, + 1 for its completion) on the nodes that execute it: on
/// all, or on those at one coordinate of some axes.
struct CellStep {
  std::uint64_t event = 0;
  Coordinates at{};  // kEverywhere on the other axes
};

/// Rules 1, 2, 4 and 6, as in context.h.
void matchCells(CellProof& proof);
/// An order of steps that respects dependences and rendezvous; nothing after a fault, or where it
/// is too much work.
std::optional<std::vector<CellStep>> orderCells(CellProof& proof);
void checkMeaningOfCells(CellProof& proof, const std::vector<CellStep>& order);
void checkLinksOfCells(CellProof& proof);

/// All rules. False where it gave up, and where blocks are of pairs or messages of families: then
/// `context.result` is as it was.
bool verifyByCells(VerifyContext& context);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_CELLS_PROOF_H_
