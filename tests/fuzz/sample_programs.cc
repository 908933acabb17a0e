// The sample programs: the same on every machine.
#include "tests/fuzz/sample_programs.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include <llvm/Support/Error.h>

#include "ir/text/text.h"
#include "tests/fuzz/mutate.h"
#include "tests/ir/random_schedule.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::fuzz {
std::vector<Schedule> loopedSchedules() {
  std::ifstream file("tests/fuzz/looped.tir");
  std::vector<std::string> sections;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("//---")) sections.emplace_back();
    if (!sections.empty()) sections.back() += line + '\n';
  }
  if (sections.empty()) std::abort();
  std::vector<Schedule> schedules;
  for (const std::string& text : sections)
    schedules.push_back(cantFail(ir::parseProgram(text, "sample.tir")).schedule);
  return schedules;
}

std::vector<ir::Program> samplePrograms() {
  std::vector<ir::Program> programs;
  for (Schedule& schedule : samples::all())
    programs.push_back({std::move(schedule), {}});
  for (Schedule& schedule : loopedSchedules())
    programs.push_back({std::move(schedule), {}});
  Random random(1);
  const ir::Draw draw = [&](std::int64_t lowest, std::int64_t highest) {
    return lowest + static_cast<std::int64_t>(
                        random.below(static_cast<std::uint64_t>(highest - lowest + 1)));
  };
  for (int i = 0; i < 40; ++i)
    programs.push_back(ir::randomProgram(draw));
  return programs;
}

}  // namespace torc::fuzz
