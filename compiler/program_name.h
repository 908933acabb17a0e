// The program that runs, as its messages name it.
#ifndef TORC_COMPILER_PROGRAM_NAME_H_
#define TORC_COMPILER_PROGRAM_NAME_H_

namespace torc::compiler {

/// Set once, by main().
inline const char* g_program = "torc";

}  // namespace torc::compiler

#endif  // TORC_COMPILER_PROGRAM_NAME_H_
