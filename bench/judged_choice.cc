#include "bench/judged_choice.h"

#include <limits>
#include <utility>

#include "compiler/choice/choice.h"
#include "compiler/target.h"
#include "model/packets/packet_simulator.h"
#include "model/simulator/simulator.h"

namespace torc::bench {
namespace {

llvm::Expected<double> judge(const ScheduleView& schedule, const model::Machine& machine,
                             double bytes, double element_bytes) {
  if (machine.router) {
    model::PacketOptions options;
    options.parameters = *machine.router;
    model::ProgramOptions program;
    program.bytes = bytes;
    program.element_bytes = element_bytes;
    auto result = model::simulateProgram(schedule, machine, program, options);
    if (!result) return result.takeError();
    return result->makespan_s;
  }
  model::SimulateOptions options;
  options.bytes = bytes;
  options.per_rank = true;
  options.element_bytes = element_bytes;
  auto result = model::simulate(schedule, machine, options);
  if (!result) return result.takeError();
  return result->makespan_s;
}

}  // namespace

llvm::Expected<JudgedChoice> judgeChoice(Collective collective, llvm::StringRef shape,
                                         llvm::StringRef machine, double bytes, double within) {
  auto target = compiler::readTarget(shape.str(), "", machine.str());
  if (!target) return target.takeError();
  const compiler::CollectiveSpec spec{collective, target->topology};
  compiler::CompileCache programs(spec);
  auto choice = compiler::choose(programs, target->machine, bytes, {});
  if (!choice) return choice.takeError();
  JudgedChoice judged;
  judged.best_s = std::numeric_limits<double>::infinity();
  judged.chosen = choice->best().description();
  const double element_bytes = compiler::elementBytesFor(spec, bytes).value_or(1);
  for (const compiler::Candidate& candidate : choice->candidates) {
    if (!candidate.refusal.empty() || candidate.predicted_s > within * choice->best().predicted_s)
      continue;
    auto program = compiler::programOf(programs, candidate);
    if (!program) return program.takeError();
    auto seconds = judge((*program)->schedule.view(), target->machine, bytes, element_bytes);
    if (!seconds) return seconds.takeError();
    ++judged.judged;
    if (&candidate == &choice->best()) judged.chosen_s = *seconds;
    if (*seconds >= judged.best_s) continue;
    judged.best_s = *seconds;
    judged.best = candidate.description();
  }
  return judged;
}

}  // namespace torc::bench
