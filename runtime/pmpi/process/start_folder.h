// The folder in which the process started: relative paths in variables refer to it, even if the
// program changes its folder.
#ifndef TORC_RUNTIME_PMPI_PROCESS_START_FOLDER_H_
#define TORC_RUNTIME_PMPI_PROCESS_START_FOLDER_H_

#include <string>

namespace torc::runtime::pmpi {

/// The path relative to the start folder, as an absolute path. An empty path stays empty; a
/// relative path stays relative if the folder had no name.
std::string fromStart(const std::string& path);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_START_FOLDER_H_
