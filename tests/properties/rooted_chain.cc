// Chains to the origin and back, operation by operation.
#include "tests/properties/rooted_chain.h"

namespace torc {
namespace {

class ChainBuilder {
 public:
  ChainBuilder(const std::vector<std::uint32_t>& sizes, std::uint32_t chunks) {
    schedule_.collective = Collective::kAllreduce;
    schedule_.name = "chain";
    Topology& topology = schedule_.topology;
    Color color;
    color.chunks = chunks;
    for (std::uint32_t axis = 0; axis < sizes.size(); ++axis) {
      topology.axes[axis].size = sizes[axis];
      topology.axes[axis].name = kAxisNames[axis];
      topology.order[axis] = color.order[axis] = static_cast<std::uint8_t>(axis);
    }
    topology.axis_count = color.axis_count = static_cast<std::uint32_t>(sizes.size());
    schedule_.colors.push_back(color);
    schedule_.boxes.push_back({});  // everything
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      for (const std::int32_t step : {1, -1}) {
        schedule_.shifts.push_back({});
        schedule_.shifts.back()[axis] = step;
      }
    }
  }

  Schedule run() {
    const std::uint32_t axes = schedule_.topology.axis_count;
    const std::uint32_t chunks = schedule_.colors.front().chunks;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
      schedule_.streams.push_back({chunk, 0});
    // Per chunk: what the next phase has to wait for.
    std::vector<std::vector<std::uint32_t>> has_sum(chunks), has_sent(chunks);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      for (std::uint32_t axis = 0; axis < axes; ++axis)
        reduceAlong(chunk, axis, has_sum[chunk], has_sent[chunk]);
    }
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      for (std::uint32_t axis = axes; axis-- > 0;)
        distributeAlong(chunk, axis, has_sum[chunk], has_sent[chunk]);
    }
    return std::move(schedule_);
  }

 private:
  using After = std::vector<std::uint32_t>;

  /// Nodes at coordinates `first` to `last` of `axis`, and at 0 of the axes before it.
  std::uint32_t guard(std::uint32_t axis, std::uint32_t first, std::uint32_t last) {
    Box box;
    for (std::uint32_t before = 0; before < axis; ++before)
      box[before] = Interval::absolute(0);
    box[axis] = Interval::absolute(static_cast<std::int32_t>(first), last - first + 1);
    schedule_.boxes.push_back(box);
    return static_cast<std::uint32_t>(schedule_.boxes.size() - 1);
  }
  std::uint32_t add(Operation operation, const After& after) {
    operation.first_dependence = static_cast<std::uint32_t>(schedule_.dependences.size());
    operation.dependence_count = static_cast<std::uint32_t>(after.size());
    schedule_.dependences.insert(schedule_.dependences.end(), after.begin(), after.end());
    schedule_.operations.push_back(operation);
    return static_cast<std::uint32_t>(schedule_.operations.size() - 1);
  }
  std::uint32_t send(std::uint32_t chunk, Buffer from, std::uint32_t shift, std::uint32_t guard,
                     const After& after) {
    Operation operation;
    operation.kind = OperationKind::kSend;
    operation.phase = phase_;
    operation.stream = chunk;
    operation.peer = shift;
    operation.guard = guard;
    operation.a = boxRegion(from, chunk, 0);
    return add(operation, after);
  }

  /// Towards coordinate 0: the nodes at 0 end with the sums.
  void reduceAlong(std::uint32_t chunk, std::uint32_t axis, After& has_sum, After& has_sent) {
    const std::uint32_t last = schedule_.topology.axes[axis].size - 1;
    const Buffer from = axis == 0 ? Buffer::kIn : Buffer::kOut;
    const std::uint32_t down = 2 * axis + 1, up = 2 * axis;
    has_sent.push_back(send(chunk, from, down, guard(axis, last, last), has_sum));
    const auto frame = static_cast<std::uint32_t>(schedule_.frames.size());
    schedule_.frames.push_back({chunk, 0, schedule_.slot_count++, 0});
    Operation add_up;
    add_up.kind = OperationKind::kRecvReduce;
    add_up.stream = chunk;
    add_up.peer = up;
    add_up.guard = guard(axis, 0, last - 1);
    add_up.dst = boxRegion(Buffer::kOut, chunk, 0);
    add_up.a = boxRegion(from, chunk, 0);
    add_up.b = wholeFrame(schedule_.frames[frame], frame);
    has_sum = {add(add_up, has_sum)};
    has_sent.push_back(send(chunk, Buffer::kOut, down, guard(axis, 1, last - 1), has_sum));
  }

  /// From coordinate 0 on.
  void distributeAlong(std::uint32_t chunk, std::uint32_t axis, After& has_sum,
                       const After& has_sent) {
    phase_ = 1;
    const std::uint32_t last = schedule_.topology.axes[axis].size - 1;
    const std::uint32_t down = 2 * axis + 1, up = 2 * axis;
    send(chunk, Buffer::kOut, up, guard(axis, 0, 0), has_sum);
    Operation receive;
    receive.kind = OperationKind::kRecv;
    receive.phase = phase_;
    receive.stream = chunk;
    receive.peer = down;
    receive.guard = guard(axis, 1, last);
    receive.dst = boxRegion(Buffer::kOut, chunk, 0);
    const std::uint32_t received = add(receive, has_sent);
    send(chunk, Buffer::kOut, up, guard(axis, 1, last - 1), {received});
    has_sum.push_back(received);
  }

  Schedule schedule_;
  std::uint16_t phase_ = 0;
};

}  // namespace

Schedule rootedChain(const std::vector<std::uint32_t>& sizes, std::uint32_t chunks) {
  return ChainBuilder(sizes, chunks).run();
}

}  // namespace torc
