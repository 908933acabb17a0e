#include "compiler/algorithms/trees/root_classes.h"

#include <algorithm>
#include <bit>

#include "schedules/root.h"

namespace torc::compiler {

RootClass classOf(TreeAxis axis, std::int32_t at, std::int32_t root, std::uint32_t size) {
  if (axis == TreeAxis::kSingle || at == root) return RootClass::kAtRoot;
  if (axis == TreeAxis::kLine && at < root) return RootClass::kBelow;
  if (axis != TreeAxis::kRing) return RootClass::kAbove;
  const std::uint32_t ahead = wrap(std::int64_t{at} - root, size);
  return ahead == 1 ? RootClass::kNext : ahead == size - 1 ? RootClass::kLast : RootClass::kMiddle;
}

RootGrid::RootGrid(llvm::ArrayRef<TreeAxis> axes, llvm::ArrayRef<std::uint32_t> sizes) {
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    lines_.push_back(lineOf(axes[axis], sizes[axis]));
    cells_ *= lines_.back().classes.size();
  }
}

RootGrid::Line RootGrid::lineOf(TreeAxis axis, std::uint32_t size) {
  Line line;
  const auto last = static_cast<std::int32_t>(size) - 1;
  switch (axis) {
    case TreeAxis::kSingle:
      line.classes = {RootClass::kAtRoot};
      line.runs = {{1, Interval::all()}};
      break;
    case TreeAxis::kLineFromRoot:
      line.classes = {RootClass::kAtRoot, RootClass::kAbove};
      line.runs = {
          {1, Interval::absolute(0)}, {2, Interval::absolute(1, size - 1)}, {3, Interval::all()}};
      break;
    case TreeAxis::kLine:
      line.classes = {RootClass::kBelow, RootClass::kAtRoot, RootClass::kAbove};
      line.runs = {{1, Interval::toRoot(0, -1)},         {2, Interval::root()},
                   {4, Interval::fromRoot(1, size - 1)}, {3, Interval::toRoot(0, 0)},
                   {6, Interval::fromRoot(0, size - 1)}, {7, Interval::all()}};
      break;
    case TreeAxis::kRing: {
      llvm::SmallVector<std::int32_t, 4> starts{0, 1};
      line.classes = {RootClass::kAtRoot, RootClass::kNext};
      if (size > 3) {
        line.classes.push_back(RootClass::kMiddle);
        starts.push_back(2);
      }
      if (size > 2) {
        line.classes.push_back(RootClass::kLast);
        starts.push_back(last);
      }
      const auto count = static_cast<std::uint32_t>(starts.size());
      for (std::uint32_t length = 1; length < count; ++length) {
        for (std::uint32_t first = 0; first < count; ++first) {
          Run run;
          for (std::uint32_t i = 0; i < length; ++i)
            run.classes |= 1u << (first + i) % count;
          const std::uint32_t end = (first + length) % count;
          run.interval = Interval::absolute(starts[first],
                                            wrap(std::int64_t{starts[end]} - starts[first], size));
          line.runs.push_back(run);
        }
      }
      line.runs.push_back({(1u << count) - 1, Interval::all()});
      break;
    }
  }
  return line;
}

std::vector<Box> RootGrid::cover(llvm::function_ref<bool(RootClasses)> holds) const {
  // Cells in numeric order, the first axis fastest.
  std::vector<bool> left(cells_);
  llvm::SmallVector<std::uint32_t, kMaxAxes> at(lines_.size(), 0);
  llvm::SmallVector<RootClass, kMaxAxes> classes(lines_.size());
  for (std::size_t cell = 0; cell < cells_; ++cell) {
    std::size_t rest = cell;
    for (std::size_t axis = 0; axis < lines_.size(); ++axis) {
      const auto& of_axis = lines_[axis].classes;
      classes[axis] = of_axis[rest % of_axis.size()];
      rest /= of_axis.size();
    }
    left[cell] = holds(classes);
  }
  // Visits the cells of a product of runs until `visit` returns false.
  const auto all = [&](llvm::ArrayRef<const Run*> runs, auto visit) {
    for (std::size_t cell = 0; cell < cells_; ++cell) {
      std::size_t rest = cell;
      bool inside = true;
      for (std::size_t axis = 0; axis < lines_.size() && inside; ++axis) {
        const std::size_t count = lines_[axis].classes.size();
        inside = (runs[axis]->classes >> rest % count & 1) != 0;
        rest /= count;
      }
      if (inside && !visit(cell)) return false;
    }
    return true;
  };
  std::vector<Box> boxes;
  for (std::size_t cell = 0; cell < cells_; ++cell) {
    if (!left[cell]) continue;
    // A box of this cell grows along one axis after another as far as possible.
    llvm::SmallVector<const Run*, kMaxAxes> runs;
    std::size_t rest = cell;
    for (const Line& line : lines_) {
      const std::uint32_t own = 1u << rest % line.classes.size();
      rest /= line.classes.size();
      runs.push_back(std::ranges::find(line.runs, own, &Run::classes));
    }
    for (std::size_t axis = 0; axis < lines_.size(); ++axis) {
      const Run* best = runs[axis];
      const std::uint32_t own = best->classes;
      for (const Run& run : lines_[axis].runs) {
        if ((run.classes & own) != own ||
            std::popcount(run.classes) <= std::popcount(best->classes)) {
          continue;
        }
        const Run* before = runs[axis];
        runs[axis] = &run;
        if (all(runs, [&](std::size_t i) { return bool{left[i]}; })) best = &run;
        runs[axis] = before;
      }
      runs[axis] = best;
    }
    all(runs, [&](std::size_t i) {
      left[i] = false;
      return true;
    });
    Box box;
    for (std::size_t axis = 0; axis < lines_.size(); ++axis)
      box[axis] = runs[axis]->interval;
    boxes.push_back(box);
  }
  return boxes;
}

Box movedBack(const Box& box, std::uint32_t axis, int sign, std::uint32_t size) {
  Box moved = box;
  Interval& interval = moved[axis];
  switch (interval.kind) {
    case IntervalKind::kAll:
      break;
    case IntervalKind::kRootWithin:
      interval = Interval::root(-sign);
      // The neighbour below a root that rootWithin restricts to the far end: r - 1, for these roots
      // only.
      if (sign > 0) {
        interval = Interval::toRoot(static_cast<std::uint32_t>(box[axis].start - 1), -1);
      }
      break;
    case IntervalKind::kFromRoot:
    case IntervalKind::kToRoot:
      interval.start -= sign;
      interval.length -= static_cast<std::uint32_t>(sign);
      break;
    default:
      interval.start = static_cast<std::int32_t>(wrap(std::int64_t{interval.start} - sign, size));
      break;
  }
  return moved;
}

bool mayMeet(const Box& a, const Box& b, llvm::ArrayRef<std::uint32_t> sizes) {
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const std::uint32_t size = sizes[axis];
    const auto last = static_cast<std::int32_t>(size) - 1;
    const auto at = [&](const Interval& interval, std::int32_t root) {
      return resolve(isRootRelative(interval.kind) ? atRoot(interval, root, size) : interval, 0,
                     size);
    };
    // Both ends of the line, their neighbours, and the middle represent all places.
    const bool meet = std::ranges::any_of(
        std::initializer_list<std::int32_t>{0, std::min(1, last), last / 2, std::max(0, last - 1),
                                            last},
        [&](std::int32_t root) { return overlaps(at(a[axis], root), at(b[axis], root), size); });
    if (!meet) return false;
  }
  return true;
}

bool absoluteMeet(const Box& a, const Box& b, llvm::ArrayRef<std::uint32_t> sizes) {
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (a[axis].kind == IntervalKind::kAll || b[axis].kind == IntervalKind::kAll) continue;
    const std::int64_t ahead = std::int64_t{b[axis].start} - a[axis].start;
    if (wrap(ahead, sizes[axis]) >= a[axis].length && wrap(-ahead, sizes[axis]) >= b[axis].length) {
      return false;
    }
  }
  return true;
}

}  // namespace torc::compiler
