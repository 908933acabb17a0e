// Which sends the executor asks its transport to end with their receive.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/execution/executor.h"
#include "runtime/reductions/reduction.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::runtime {
namespace {

/// Remembers the mode of each send, in the order of the program.
class RecordingTransport final : public Transport {
 public:
  explicit RecordingTransport(std::vector<SendMode>* modes) : modes_(modes) {}

  StatusOr<ChannelId> prepareSend(std::int32_t, std::uint32_t, const Segments&,
                                  std::span<const std::size_t>, SendMode mode) override {
    modes_->push_back(mode);
    return channels_++;
  }
  StatusOr<ChannelId> prepareRecv(std::int32_t, std::uint32_t, const Segments&,
                                  std::span<const std::size_t>) override {
    return channels_++;
  }
  Status commit() override { return {}; }
  Status bind(const Bases&) override { return {}; }
  bool start(ChannelId) override { return false; }
  int poll(std::span<ChannelId>) override { return -1; }
  void abandon() override {}
  Status status() const override { return {}; }

 private:
  std::vector<SendMode>* modes_;
  ChannelId channels_ = 0;
};

struct Count {
  int synchronous = 0, standard = 0;
};

/// Compares every send of rank 1 with what the program says; how many there are of each mode.
Count compareModes(const Schedule& schedule) {
  Counts counts;
  counts.count = 64;
  const StatusOr<FlatProgram> program = expand(schedule.view(), 1, counts);
  EXPECT_TRUE(program.ok()) << program.status().message();
  std::vector<SendMode> modes;
  std::vector<std::byte> in(1024), out(1024), scratch(1024);
  const Buffers buffers{in.data(), out.data(), scratch.data(), sizeof(float), false};
  const Reducer sum{reductionKernel(ElementKind::kFloat, ReduceOp::kSum), nullptr};
  EXPECT_TRUE(
      Executor::create(*program, buffers, sum, std::make_unique<RecordingTransport>(&modes)).ok());
  Count count;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < program->operations.size(); ++i) {
    const FlatOperation& operation = program->operations[i];
    if (!sends(operation.kind)) continue;
    bool is_awaited = false;
    for (const FlatOperation& later : program->operations) {
      for (const std::uint32_t d : program->dependencesOf(later))
        is_awaited = is_awaited || d == i;
    }
    const bool expected = (schedule.flags & kSynchronousSends) != 0 && is_awaited &&
                          operation.kind != OperationKind::kNotify;
    EXPECT_EQ(modes.at(next) == SendMode::kSynchronous, expected) << "operation " << i;
    ++(expected ? count.synchronous : count.standard);
    ++next;
  }
  EXPECT_EQ(next, modes.size());
  return count;
}

TEST(SendMode, DataThatSomethingWaitsForOfASynchronousSchedule) {
  Schedule schedule = samples::ringAllreduce(4);
  EXPECT_EQ(compareModes(schedule).synchronous, 0);
  schedule.flags |= kSynchronousSends;
  const Count count = compareModes(schedule);
  EXPECT_GT(count.synchronous, 0);
  EXPECT_GT(count.standard, 0);
}

TEST(SendMode, SignalsNever) {
  Schedule schedule = samples::signalledAllgather(4);
  schedule.flags |= kSynchronousSends;
  EXPECT_GT(compareModes(schedule).standard, 0);
}

}  // namespace
}  // namespace torc::runtime
