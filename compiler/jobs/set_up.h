// Checks of a job's set-up before it starts, with a remedy for each fault.
#ifndef TORC_COMPILER_JOBS_SET_UP_H_
#define TORC_COMPILER_JOBS_SET_UP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torc::compiler {

/// The parts of a set-up to check, besides the variables of the environment; empty, or 0: not said.
struct SetUp {
  std::uint64_t ranks = 0;
  std::string library;  // else TORC_LIBRARY
  std::string machine;  // that the library is to be for
  std::string program;
  std::string shared_memory = "/dev/shm";  // MPI's
};

/// A check that was made.
struct Finding {
  std::string check;
  std::string found{};   // a phrase
  std::string remedy{};  // an instruction; empty: it is good

  bool isGood() const { return remedy.empty(); }
};

std::vector<Finding> checkSetUp(const SetUp& set_up);

/// The fault of the file or folder that a variable names; empty: no fault, or no file is named.
std::string pathFault(std::string_view variable, std::string_view value);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_SET_UP_H_
