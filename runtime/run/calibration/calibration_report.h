// Prints a calibration: links, the slowest of them by name, and the numbers of the machine.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_CALIBRATION_REPORT_H_
#define TORC_RUNTIME_RUN_CALIBRATION_CALIBRATION_REPORT_H_

#include <string>

#include "runtime/run/calibration/derived_machine.h"

namespace torc::runtime {

/// Lines of text.
std::string calibrationReport(const DerivedMachine& machine);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_CALIBRATION_REPORT_H_
