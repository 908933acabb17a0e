// The version of the compiler, which goes into what it makes.
#ifndef TORC_COMPILER_VERSION_H_
#define TORC_COMPILER_VERSION_H_

#include "schedules/version.h"

#endif  // TORC_COMPILER_VERSION_H_
