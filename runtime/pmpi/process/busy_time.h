// Busy time: the time during which at least one activity was under way.
#ifndef TORC_RUNTIME_PMPI_PROCESS_BUSY_TIME_H_
#define TORC_RUNTIME_PMPI_PROCESS_BUSY_TIME_H_

#include <mpi.h>

namespace torc::runtime::pmpi {

class BusyTime {
 public:
  void begin() {
    if (active_++ == 0) began_ = PMPI_Wtime();
  }
  void end() {
    if (--active_ == 0) seconds_ += PMPI_Wtime() - began_;
  }
  /// Adds time that was measured elsewhere.
  void add(double seconds) { seconds_ += seconds; }
  double seconds() const { return seconds_; }

 private:
  int active_ = 0;
  double began_ = 0, seconds_ = 0;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_BUSY_TIME_H_
