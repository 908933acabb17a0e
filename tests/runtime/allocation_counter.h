// Counts allocations of the whole program: malloc and functions that use it, operator new included.
#ifndef TORC_TESTS_RUNTIME_ALLOCATION_COUNTER_H_
#define TORC_TESTS_RUNTIME_ALLOCATION_COUNTER_H_

#include <cstdint>

namespace torc::runtime {

/// Allocations by any thread since the program began.
std::uint64_t allocationCount();

/// Whether allocations are counted: sanitizers have their own allocator.
bool allocationsAreCounted();

}  // namespace torc::runtime

#endif  // TORC_TESTS_RUNTIME_ALLOCATION_COUNTER_H_
