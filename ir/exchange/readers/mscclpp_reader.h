// MSCCL++ execution plans as rank programs. Data move one-sided there: a gpu writes into another
// one's buffer, or reads it, and a signal tells that one of it. A schedule's messages have two
// ends. So what a thread block does in the memory of another gpu becomes a thread block there,
// which does nothing else:
//
// - put by memory: a message that is complete when it has arrived, as stores are before the signal
//   that follows. By a port: one that a thread block of its own sends, the proxy, in
//   the order in which it is asked, as it does the port's signals. A flush waits for it.
// - get, and the reading reductions: a signal that asks for the chunks, and a message back.
// - signal and wait: messages of no chunks, which order what memory alone does not, and of which
//   the schedule keeps nothing. Barriers and semaphores: dependences.
// - packets: whoever reads one waits for who has written it. A place in scratch has one, once.
//
// Operations of a thread block are taken to be in order: that a `nop` stands where threads of the
// block must wait for each other is not looked at. A pipeline is run once, as for chunks of no more
// bytes than its unit. Shares of thread block groups are taken to be of equal size.
#ifndef TORC_IR_EXCHANGE_READERS_MSCCLPP_READER_H_
#define TORC_IR_EXCHANGE_READERS_MSCCLPP_READER_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Reads the text of a plan; `origin` is its name in messages. Errors: those of readMscclppPlan;
/// barriers, signals of ports, semaphores and packets that do not match.
llvm::Expected<RankPrograms> readMscclpp(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_MSCCLPP_READER_H_
