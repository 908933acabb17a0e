// Checks a trace file: check_trace FILE. Prints its content; exits with 1 if a property does not
// hold.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/runtime/trace/trace_facts.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  const torc::runtime::TraceFacts facts = torc::runtime::readTrace(text.str());
  for (const auto& [rank, title] : facts.ranks)
    std::printf("process: %s\n", title.c_str());
  for (const auto& [name, count] : facts.events)
    std::printf("event: %s x %llu\n", name.c_str(), static_cast<unsigned long long>(count));
  for (const auto& [name, count] : facts.rows)
    std::printf("row: %s x %llu\n", name.c_str(), static_cast<unsigned long long>(count));
  std::printf("flows: %llu\ndropped: %llu\n", static_cast<unsigned long long>(facts.flows),
              static_cast<unsigned long long>(facts.dropped));
  for (const std::string& fault : facts.faults)
    std::printf("fault: %s\n", fault.c_str());
  return facts.faults.empty() ? 0 : 1;
}
