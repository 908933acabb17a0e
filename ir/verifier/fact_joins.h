// Facts that are one: joined as they come, and anew where that was not the best way.
#ifndef TORC_IR_VERIFIER_FACT_JOINS_H_
#define TORC_IR_VERIFIER_FACT_JOINS_H_

#include <cstdint>
#include <vector>

#include "ir/verifier/facts.h"

namespace torc::ir {

/// The place of `part` in `whole`, which it lies in.
std::uint32_t nodeOffset(const Range& whole, const Range& part, std::uint32_t size);

/// What `fact` says of the `nodes` nodes along an axis that begin with its k-th, its nodes left as
/// they are.
void rebase(Fact& fact, std::uint32_t axis, std::int64_t k, std::uint32_t nodes,
            const BlockAxes& axes);

/// `fact` with other nodes, which are among its own, along one axis.
void narrow(Fact& fact, std::uint32_t axis, const Range& nodes, const BlockAxes& axes);
/// The same with other blocks of these nodes along one block axis.
void narrow(Fact& fact, std::uint32_t block_axis, const NodeSpan& to, const BlockAxes& axes);

/// Makes `a` both of them, if that is a fact.
bool joinFacts(Fact& a, const Fact& b, const FactSetting& setting);

/// Facts that are joined as they come may lie across each other: those of nodes in a row that have
/// a block each, say, where all of these nodes' blocks would be one. Cuts them into those of nodes
/// that all of them tell apart alike, one axis after another, and joins them anew, each node's
/// blocks first; keeps that where they are fewer.
void joinAnew(std::vector<Fact>& facts, const FactSetting& setting);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_FACT_JOINS_H_
