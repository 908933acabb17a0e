// The proof by cells, rule by rule.
#include "ir/verifier/cells/proof.h"

#include "ir/families/families.h"

namespace torc::ir {

bool verifyByCells(VerifyContext& context) {
  // Facts are of the blocks of nodes, and what arrives is what one neighbour has sent.
  if (context.schedule.hasPairs() || hasFamilies(context.schedule)) return false;
  const VerifyResult before = context.result;
  CellProof proof(context, kMaxCellWork);
  const auto prove = [&] {
    checkLinksOfCells(proof);
    if (proof.work.tooMuch()) return;
    matchCells(proof);
    if (proof.work.tooMuch() || !context.result.ok()) return;
    const auto order = orderCells(proof);
    checkRaces(context);
    if (order.has_value() && context.result.ok()) checkMeaningOfCells(proof, *order);
  };
  prove();
  if (proof.work.tooMuch()) {
    context.result = before;
    return false;
  }
  context.result.by_cells = true;
  context.result.classes = std::max<std::uint64_t>(1, proof.cells);
  context.result.work += proof.work.done;
  return true;
}

}  // namespace torc::ir
