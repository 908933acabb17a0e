// The folder in which the process started: relative paths in variables mean files from there,
// whatever folder the program changes to.
#ifndef TORC_RUNTIME_PMPI_PROCESS_START_FOLDER_H_
#define TORC_RUNTIME_PMPI_PROCESS_START_FOLDER_H_

#include <string>

namespace torc::runtime::pmpi {

/// The path as it was meant when the process started. An empty one stays empty; so does a relative
/// one stay relative where the folder had no name.
std::string fromStart(const std::string& path);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_START_FOLDER_H_
