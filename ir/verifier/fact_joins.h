// Joins facts, and cuts them for new joins.
#ifndef TORC_IR_VERIFIER_FACT_JOINS_H_
#define TORC_IR_VERIFIER_FACT_JOINS_H_

#include <cstdint>
#include <vector>

#include "ir/verifier/facts.h"

namespace torc::ir {

/// The offset of `part` in `whole`, which contains it.
std::uint32_t nodeOffset(const Range& whole, const Range& part, std::uint32_t size);

/// Shifts the values of `fact` along an axis to the `nodes` nodes from the k-th on; its nodes stay
/// unchanged.
void rebase(Fact& fact, std::uint32_t axis, std::int64_t k, std::uint32_t nodes,
            const BlockAxes& axes);

/// Restricts `fact` to some of its own nodes along one axis.
void narrow(Fact& fact, std::uint32_t axis, const Range& nodes, const BlockAxes& axes);
/// Restricts it to some blocks of these nodes along one block axis.
void narrow(Fact& fact, std::uint32_t block_axis, const NodeSpan& to, const BlockAxes& axes);

/// Makes `a` their union, if that is a fact.
bool joinFacts(Fact& a, const Fact& b, const FactSetting& setting);

/// Facts cut at common borders of their nodes along an axis. Nothing if there are no borders, or
/// too many pieces.
std::vector<Fact> piecesOf(const std::vector<Fact>& facts, std::uint32_t axis,
                           const BlockAxes& axes);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_FACT_JOINS_H_
