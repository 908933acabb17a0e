// The two ends of a message: what a send takes and a receive brings, and where these differ.
#ifndef TORC_IR_VERIFIER_MESSAGES_H_
#define TORC_IR_VERIFIER_MESSAGES_H_

#include <string>

#include "ir/verifier/context.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// The region whose blocks a message carries, at either end.
inline const Region& messageRegion(const Operation& operation) {
  return sends(operation.kind) ? operation.a : operation.dst;
}

/// What a message carries, as the text form says it.
std::string messageText(const ScheduleView& schedule, const Operation& operation);

/// What a message brings to `peer_at` against what is received there, piece by piece; empty if they
/// are the same. `distance` is from the sender to the receiver along collapsed axes.
std::string describeDifference(const VerifyContext& context, const Region& sent,
                               const Coordinates& at, const Coordinates& distance,
                               const Region& received, const Coordinates& peer_at);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_MESSAGES_H_
