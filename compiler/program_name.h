// The name of the running program for its messages.
#ifndef TORC_COMPILER_PROGRAM_NAME_H_
#define TORC_COMPILER_PROGRAM_NAME_H_

namespace torc::compiler {

/// Set once, by main().
inline const char* g_program = "torc";

}  // namespace torc::compiler

#endif  // TORC_COMPILER_PROGRAM_NAME_H_
