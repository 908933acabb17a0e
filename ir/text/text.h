// The text form of both IR levels: printer and parser. Grammar and meaning: docs/developers/ir.md.
// parse(print(p)) == p, and print(parse(t)) == t for every printed t.
#ifndef TORC_IR_TEXT_TEXT_H_
#define TORC_IR_TEXT_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/program.h"

namespace torc::ir {

/// The text of a program; plan operations as a plan, step operations by phase and stream. The
/// schedule has passed `validate`.
std::string programText(const Program& program);

/// Parses a program and validates its structure (schedules/validation/validate.h). On a fault the
/// error's message is `origin:line:column: error: what`, the line, and a caret under the place.
/// `operation_places` gets the place of each operation, in bytes.
llvm::Expected<Program> parseProgram(llvm::StringRef text, llvm::StringRef origin,
                                     std::vector<std::size_t>* operation_places = nullptr);

/// `origin:line:column: error: what`, the line and a caret under `offset`. Columns count bytes from
/// 1; tabs of the shown line are spaces, and a long line is cut around the caret.
std::string located(llvm::StringRef text, llvm::StringRef origin, std::size_t offset,
                    llvm::StringRef what);

/// The same schedule with its tables in the order of the parser: boxes and shifts once each, in the
/// order in which the text names them. parse(print(p)) == p for canonical p.
Schedule canonicalize(const ScheduleView& schedule);

/// A foreign text for a message: cut if it is longer than `longest`, nothing unprintable.
std::string printable(llvm::StringRef text, std::size_t longest = 40);
/// Pieces of the text form, for messages: `out[p2, (x+1, *, *)]`.
std::string regionText(const ScheduleView& schedule, const Region& region);
/// `(x+1, *, 0:2)`.
std::string boxText(const Topology& topology, const Box& box);
/// `%17 = send out[p2, (x+1, *, *)] to X+1 after %15`.
std::string operationText(const ScheduleView& schedule, std::uint32_t operation);

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_TEXT_H_
