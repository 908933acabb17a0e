// MSCCL++ plans, right and with an injected fault: an imported and proved plan gives the right
// result for any order of thread blocks and proxies, by a machine independent of the importer.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ir/counted/counted_proof.h"
#include "ir/exchange/import.h"
#include "ir/exchange/readers/readers.h"
#include "ir/verifier/verifier.h"
#include "schedules/topology/topology.h"
#include "tests/ir/exchange/mscclpp_machine.h"

namespace torc::ir {
namespace {

using nlohmann::json;

constexpr const char* kPlans[] = {
    "put-allgather_4",   "read-allreduce_3",     "packet-allreduce_3", "port-allgather_4",
    "group-allreduce_3", "semaphore-alltoall_3", "ring-allreduce_3",
};

json readPlan(const std::string& name) {
  std::ifstream file("tests/ir/exchange/" + name + ".json");
  EXPECT_TRUE(file.good()) << name;
  return json::parse(file);
}

/// Why a converted plan is refused; empty: it is imported and proved.
std::string refusal(const std::string& converted) {
  if (!llvm::StringRef(converted).starts_with("<algo")) return converted;
  llvm::Expected<RankPrograms> programs = readMsccl(converted, "plan");
  if (!programs) return toString(programs.takeError());
  llvm::Expected<ImportedSchedule> imported =
      importPrograms(*programs, *parseTopology(std::to_string(programs->ranks.size())));
  if (!imported) return toString(imported.takeError());
  const ScheduleView schedule = imported->schedule.view();
  const VerifyResult proof = verify(schedule);
  if (!proof.ok()) return proof.faults[0].message;
  const StatusOr<CountedResult> counted = proveCounted(schedule, 23);
  EXPECT_TRUE(counted.ok() && counted->fault.empty()) << (counted.ok() ? counted->fault : "");
  return {};
}

/// Of each plan.
std::vector<std::string> refusals(const std::vector<json>& plans) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/plans") << json(plans);
  const std::string command =
      "python3 tests/ir/exchange/convert_plans.py <" + folder + "/plans >" + folder + "/programs";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream programs(folder + "/programs");
  std::vector<std::string> refused;
  for (const json& converted : json::parse(programs))
    refused.push_back(refusal(converted.get<std::string>()));
  EXPECT_EQ(refused.size(), plans.size());
  return refused;
}

TEST(ImportMscclpp, ExamplesAreProvedAndRunRight) {
  for (const char* const name : kPlans) {
    const json plan = readPlan(name);
    EXPECT_EQ(refusals({plan}), std::vector{std::string()}) << name;
    for (unsigned seed = 0; seed < 20; ++seed)
      EXPECT_EQ(MscclppMachine(plan).run(seed), "") << name;
  }
}

/// A step of n chunks waits for n others, n operations each time: a short file that asks for much.
TEST(ImportMscclpp, WaitsAreBounded) {
  const auto plan_of = [](int chunks) {
    const auto region = [](const char* buffer, int index, int size) {
      return json::array({{{"type", buffer}, {"index", index}, {"size", size}}});
    };
    json plan = json::parse(
        R"({"name": "wide", "collective": "allreduce", "protocol": "LL", "inplace": false,
            "gpus": [{"id": 0, "threadblocks": [{"id": 0, "ops": []}]}]})");
    json& gpu = plan["gpus"][0];
    gpu["input_chunks"] = gpu["output_chunks"] = gpu["scratch_chunks"] = chunks;
    json& ops = gpu["threadblocks"][0]["ops"];
    for (int chunk = 0; chunk < chunks; ++chunk) {
      ops.push_back({{"name", "cpkt"},
                     {"src_buff", region("i", chunk, 1)},
                     {"dst_buff", region("s", chunk, 1)}});
    }
    ops.push_back({{"name", "upkt"},
                   {"src_buff", region("s", 0, chunks)},
                   {"dst_buff", region("o", 0, chunks)}});
    return plan;
  };
  const std::vector<std::string> faults = {
      "",
      "plan: error: its steps wait for each other more than 16777216 times, chunk by chunk: "
      "steps of fewer chunks wait for fewer"};
  EXPECT_EQ(refusals({plan_of(50), plan_of(5000)}), faults);
}

/// Puts one fault in; what it is.
std::string mutate(json& plan, std::mt19937& random) {
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  json& gpu = plan["gpus"][draw(plan["gpus"].size())];
  json& block = gpu["threadblocks"][draw(gpu["threadblocks"].size())];
  json& ops = block["ops"];
  if (ops.empty()) return "nothing";
  const std::size_t index = draw(ops.size());
  json& op = ops[index];
  const auto chunks = [&](const char* key, const char* what) -> std::string {
    if (!op.contains(key)) return "nothing";
    json& one = op[key][draw(op[key].size())];
    if (one.contains("buffer_id") && draw(2) == 0) {
      one["buffer_id"] = draw(3);
    } else if (one.contains("type") && draw(2) == 0) {
      one["type"] = std::string(1, "ios"[draw(3)]);
    } else {
      one["index"] = draw(4);
    }
    return what;
  };
  static constexpr const char* kNames[] = {"put",  "pws", "pwsf", "signal", "wait", "copy",
                                           "upkt", "re",  "rre",  "res",    "get",  "nop"};
  switch (draw(8)) {
    case 0:
    case 1:
      ops.erase(index);
      return "operation dropped";
    case 2:
      if (index + 1 < ops.size()) std::swap(op, ops[index + 1]);
      return "neighbours exchanged";
    case 3:
      return chunks("src_buff", "another source");
    case 4:
      return chunks("dst_buff", "another target");
    case 5:
      if (op.contains("channel_ids")) op["channel_ids"][draw(op["channel_ids"].size())] = draw(3);
      if (op.contains("semaphore_ids")) op["semaphore_ids"].push_back(0);
      if (op.contains("num_threadblocks")) op["num_threadblocks"] = draw(4);
      return "another channel";
    case 6:
      op["name"] = kNames[draw(std::size(kNames))];
      return "another name";
    default: {
      const json copy = op;
      ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(draw(ops.size())), copy);
      return "operation twice";
    }
  }
}

TEST(ImportMscclpp, WhatIsAcceptedIsRightInAnyOrder) {
  std::mt19937 random(17);
  std::map<std::string, std::array<int, 3>> counts;  // accepted, refused, refused though right
  for (const char* const name : kPlans) {
    std::vector<json> plans(120, readPlan(name));
    std::vector<std::string> faults;
    for (json& plan : plans)
      faults.push_back(mutate(plan, random));
    const std::vector<std::string> refused = refusals(plans);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const auto runsRight = [&] {
        for (unsigned seed = 0; seed < 12; ++seed) {
          if (!MscclppMachine(plans[i]).run(seed).empty()) return false;
        }
        return true;
      };
      if (refused[i].empty()) {
        ++counts[faults[i]][0];
        ASSERT_TRUE(runsRight()) << name << ", mutant " << i << ": " << faults[i] << "\n"
                                 << plans[i].dump(1);
        continue;
      }
      ++counts[faults[i]][1];
      // What does not have its form has no meaning.
      const llvm::StringRef fault = refused[i];
      const bool has_meaning =
          fault.contains("race") || fault.contains("deadlock") || fault.contains("adds");
      if (has_meaning && runsRight()) ++counts[faults[i]][2];
    }
  }
  std::printf("| fault put in | accepted | refused | of these right in twelve runs |\n");
  for (const auto& [what, of] : counts)
    std::printf("| %s | %d | %d | %d |\n", what.c_str(), of[0], of[1], of[2]);
}

}  // namespace
}  // namespace torc::ir
