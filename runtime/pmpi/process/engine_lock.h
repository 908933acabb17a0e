// The engine's lock, for Clang's thread-safety analysis (support/thread_annotations.h). An
// EngineLock (runtime/pmpi/engine/engine.h) holds it, also when no mutex is locked because there is
// one thread.
#ifndef TORC_RUNTIME_PMPI_PROCESS_ENGINE_LOCK_H_
#define TORC_RUNTIME_PMPI_PROCESS_ENGINE_LOCK_H_

#include "support/thread_annotations.h"

namespace torc::runtime::pmpi {

class TORC_CAPABILITY("lock") EngineCapability {};
inline constexpr EngineCapability engine_lock;

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_ENGINE_LOCK_H_
