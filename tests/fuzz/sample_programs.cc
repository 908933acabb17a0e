// The sample programs: the same on every machine.
#include "tests/fuzz/sample_programs.h"

#include <cstdint>
#include <utility>

#include <llvm/Support/Error.h>

#include "ir/text/text.h"
#include "tests/fuzz/mutate.h"
#include "tests/ir/random_schedule.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::fuzz {
namespace {

/// An allreduce round a ring of six: sums, then what they came to.
constexpr char kRing[] = R"(schedule @ring {
  collective allreduce
  topology torus [X=6] order X
  color 0 weight 1/1 order X
  stream 0 of p0
  slots 2
  frame f0 = p0 (x-2-i) in slots 0..1
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x-1)] to X+1
      for i in 0..4 {
        %1 = recv_reduce out[p0, (x-2-i)] = in[p0, (x-2-i)] + f0[*] from X-1 after %1 of i-2
        %2 = send out[p0, (x-2-i)] to X+1 after %1
      }
      %3 = recv out[p0, (x-1)] from X-1 after %0
      for i in 0..3 {
        %4 = send out[p0, (x-1-i)] to X+1 after %3, %5 of i-1
        %5 = recv out[p0, (x-2-i)] from X-1 after %2 of i
      }
    }
  }
}
)";

/// An allgather of three ranks, two of which reach each other over a switch alone.
constexpr char kGraph[] = R"(schedule @graph {
  collective allgather
  topology graph [X=3] order X links [0->1 bandwidth 5e10 latency 5e-7, 1->3 bandwidth 1e9 latency 0,
    2->0 bandwidth 1e9 latency 1e-6, 3->2 bandwidth 1e9 latency 1e-6]
  color 0 weight 1/1 order X
  stream 0 of p0
  phase 0 {
    stream 0 {
      %0 = copy out[p0, (x)] = in[p0, (x)]
      %1 = send in[p0, (x)] to X+1
      %2 = recv out[p0, (x-1)] from X-1
      %3 = send out[p0, (x-1)] to X+1 after %2
      %4 = recv out[p0, (x+1)] from X-1
    }
  }
}
)";

/// Loops in loops, guards that grow, iterations named in every way.
constexpr char kNest[] = R"(schedule @nest {
  collective allgather
  topology torus [X=8 mesh, Y=4] order XY
  color 0 weight 1/1 order XY
  stream 0 of p0
  stream 1 of p0
  phase 0 {
    stream 0 {
      for i in 0..2 {
        for j in 0..1 {
          %0 = notify to X+1 after %1 of (i-1, last) when x in 0..0+i
          %1 = await from X-1 after %0 of (i, j-1), %0 when x in 1..1+i
        }
      }
    }
    for i in 0..1 {
      stream 0 {
        %2 = notify to Y+1 after %1 of (first+1, all), %2 of i-1
      }
      stream 1 {
        %3 = notify to Y+2 after %0 of (i, last-1), %2 when x = 0+2*i
      }
    }
  }
}
)";

/// Gathers to the root, down a ring: frames, guards and iterations of other loops.
constexpr char kLine[] = R"(schedule @line {
  collective gather
  topology torus [X=5] order X
  color 0 weight 1/1 order X
  stream 0 of p0
  slots 2
  frame f0 = p0 (2+i) in slots 0..1
  phase 0 {
    stream 0 {
      %0 = copy out[p0, (x)] = in[p0, (x)] when x = 0
      %1 = send in[p0, (x)] to X-1 when x in 1..4
      for i in 0..3 {
        %2 = recv out[p0, (1+i)] from X+1 when x = 0
      }
      for i in 0..2 {
        %3 = recv f0[(2+i)] from X+1 after %4 of i-2 when x in 1..1+i
        %4 = send f0[(2+i)] to X-1 after %1, %3, %4 of i-1 when x in 1..1+i
      }
    }
  }
}
)";

/// An all-to-all round a ring of four: lists of pairs of boxes that shrink, handed on.
constexpr char kPairs[] = R"(schedule @pairs {
  collective alltoall
  topology torus [X=4] order X
  color 0 weight 1/1 order X chunks 2
  stream 0 of *
  slots 2
  frame f0 = p0:2 (x-1-i) -> (x:3-i) in slots 0..1
  phase 0 {
    stream 0 {
      %0 = copy out[p0:2, (x) -> (x)] = in[p0:2, (x) -> (x)]
      %1 = send in[p0:2, (x) -> (x+1:3)] to X+1
      for i in 0..1 {
        %2 = recv f0[p0:2, (x-1-i) -> (x:3-i)] from X-1 after %3 of i-2, %4 of i-2
        %3 = copy out[p0:2, (x-1-i) -> (x)] = f0[p0:2, (x-1-i) -> (x)] after %2
        %4 = send f0[p0:2, (x-1-i) -> (x+1:2-i)] to X+1 after %2
      }
      %5 = recv out[p0:2, (x-3) -> (x)] from X-1
    }
  }
}
)";

/// An allgather on rings along X, then Y: row by row, a loop in a loop.
constexpr char kRows[] = R"(schedule @rows {
  collective allgather
  topology torus [X=3, Y=4] order XY
  color 0 weight 1/1 order XY
  stream 0 of p0
  phase 0 {
    stream 0 {
      %0 = copy out[p0, (x, y)] = in[p0, (x, y)]
      %1 = send in[p0, (x, y)] to X+1
      %2 = recv out[p0, (x-1, y)] from X-1
      %3 = send out[p0, (x-1, y)] to X+1 after %2
      %4 = recv out[p0, (x-2, y)] from X-1
    }
  }
  phase 1 {
    stream 0 {
      for i in 0..2 {
        %5 = send out[p0, (x-i, y)] to Y+1 after %0, %2, %4
      }
      for i in 0..1 {
        for j in 0..2 {
          %6 = recv out[p0, (x-j, y-1-i)] from Y-1
          %7 = send out[p0, (x-j, y-1-i)] to Y+1 after %6
        }
      }
      for i in 0..2 {
        %8 = recv out[p0, (x-i, y-3)] from Y-1
      }
    }
  }
}
)";

/// An allreduce whose sums are copied block by block: its loops may change places.
constexpr char kTiles[] = R"(schedule @tiles {
  collective allreduce
  topology torus [X=2, Y=3] order XY
  color 0 weight 1/1 order XY
  stream 0 of p0
  slots 6
  frame f0 = p0 (*, *) in slot 0
  frame f1 = p0 (*, *) in slot 1
  frame f2 = p0 (*, *) in slot 2
  frame f3 = p0 (*, *) in slot 3
  frame f4 = p0 (*, *) in slot 4
  frame f5 = p0 (*, *) in slot 5
  phase 0 {
    stream 0 {
      %0 = send in[p0, (*, *)] to X+1
      %1 = recv_reduce f1[*] = in[p0, (*, *)] + f0[*] from X-1
      %2 = send f1[*] to Y+1 after %1
      %3 = send f1[*] to Y-1 after %1
      %4 = recv_reduce f3[*] = f1[*] + f2[*] from Y-1 after %1
      %5 = recv_reduce f5[*] = f3[*] + f4[*] from Y+1 after %4
      for i in 0..1 {
        for j in 0..2 {
          %6 = copy out[p0, (0+i, 0+j)] = f5[(0+i, 0+j)] after %0, %5, %6 of (i, j-1)
        }
      }
    }
  }
}
)";

/// The ring in segments, on five nodes: frames, iterations and segments before.
constexpr char kPipeline[] = R"(schedule @pipeline {
  collective allreduce
  topology torus [X=5] order X
  color 0 weight 1/1 order X
  stream 0 of p0
  slots 2
  frame f0 = p0 (x-2-i) in slots 0..1
  for s in 0..3 window 2 {
    phase 0 {
      stream 0 {
        %0 = send in[p0, (x-1)] to X+1 after %0 of s-1
        for i in 0..3 {
          %1 = recv_reduce out[p0, (x-2-i)] = in[p0, (x-2-i)] + f0[*] from X-1 after %1 of i-2, %1 of (s-2, all)
          %2 = send out[p0, (x-2-i)] to X+1 after %1, %2 of (s-1, i)
        }
        %3 = recv out[p0, (x-1)] from X-1 after %0
        for i in 0..2 {
          %4 = send out[p0, (x-1-i)] to X+1 after %3, %5 of i-1
          %5 = recv out[p0, (x-2-i)] from X-1 after %2 of i
        }
      }
    }
  }
}
)";

}  // namespace

std::vector<Schedule> loopedSchedules() {
  std::vector<Schedule> schedules;
  for (const char* text : {kRing, kNest, kLine, kPairs, kRows, kTiles, kPipeline, kGraph})
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
