#include "linalg/layout/redistribution.h"

#include <algorithm>
#include <vector>

namespace torc::linalg {
namespace {

/// Elements that all processes together send in a round; one process may have to receive them all.
constexpr std::int64_t kRoundElements = std::int64_t{1} << 22;

/// A placement relative to the copied matrix: `lines` are its rows (transposed: columns), `across`
/// the other dimension.
template <typename T>
class View {
 public:
  explicit View(const Placement<T>& place)
      : lines_(place.transposed ? place.columns : place.rows),
        across_(place.transposed ? place.rows : place.columns),
        line_(place.transposed ? place.column : place.row),
        first_across_(place.transposed ? place.row : place.column),
        place_(place) {}

  int rank(int line_owner, int across_owner) const {
    const int row = place_.transposed ? across_owner : line_owner;
    const int column = place_.transposed ? line_owner : across_owner;
    const int process = place_.row_major ? row * place_.columns.processes + column
                                         : column * place_.rows.processes + row;
    return place_.ranks == nullptr ? process : (*place_.ranks)[static_cast<std::size_t>(process)];
  }
  /// The process of a rank; processes() if it has none.
  int processOf(int rank) const {
    if (place_.ranks == nullptr) return std::min(rank, place_.processes());
    return static_cast<int>(std::find(place_.ranks->begin(), place_.ranks->end(), rank) -
                            place_.ranks->begin());
  }
  bool has(int process) const { return process < place_.processes(); }
  int lineOwnerOf(int process) const {
    return place_.transposed ? columnOf(process) : rowOf(process);
  }
  int acrossOwnerOf(int process) const {
    return place_.transposed ? rowOf(process) : columnOf(process);
  }
  int lineOwner(std::int64_t i) const { return lines_.owner(line_ + i); }
  int acrossOwner(std::int64_t j) const { return across_.owner(first_across_ + j); }
  std::int64_t lineOffset(std::int64_t i) const {
    return lines_.local(line_ + i) * (place_.transposed ? place_.leading : 1);
  }
  std::int64_t acrossOffset(std::int64_t j) const {
    return across_.local(first_across_ + j) * (place_.transposed ? 1 : place_.leading);
  }
  int lineOwners() const { return lines_.processes; }
  int acrossOwners() const { return across_.processes; }
  T* data() const { return place_.data; }

 private:
  int rowOf(int process) const {
    return place_.row_major ? process / place_.columns.processes : process % place_.rows.processes;
  }
  int columnOf(int process) const {
    return place_.row_major ? process % place_.columns.processes : process / place_.rows.processes;
  }

  const Cyclic lines_, across_;
  const std::int64_t line_, first_across_;
  const Placement<T> place_;
};

/// Offsets of this process on one side, by the owner on the other side.
using Offsets = std::vector<std::vector<std::int64_t>>;

/// Appends the offsets of the lines of `process`.
template <typename Mine, typename Other>
void addLines(const Mine& mine, const Other& other, int process, std::int64_t rows,
              Offsets& offsets) {
  for (std::int64_t i = 0; mine.has(process) && i < rows; ++i) {
    if (mine.lineOwner(i) == mine.lineOwnerOf(process))
      offsets[static_cast<std::size_t>(other.lineOwner(i))].push_back(mine.lineOffset(i));
  }
}

/// Calls visit(owner on the other side, offset) for the indices of `process` across from `begin` to
/// `end`.
template <typename Mine, typename Other, typename Visit>
void eachAcross(const Mine& mine, const Other& other, int process, std::int64_t begin,
                std::int64_t end, Visit&& visit) {
  for (std::int64_t j = begin; mine.has(process) && j < end; ++j) {
    if (mine.acrossOwner(j) == mine.acrossOwnerOf(process))
      visit(static_cast<std::size_t>(other.acrossOwner(j)), mine.acrossOffset(j));
  }
}

/// The offsets of one exchange, in memory reused between exchanges.
template <typename Mine, typename Other>
void setAcross(const Mine& mine, const Other& other, int process, std::int64_t begin,
               std::int64_t end, Offsets& offsets) {
  for (std::vector<std::int64_t>& each : offsets)
    each.clear();
  eachAcross(mine, other, process, begin, end,
             [&](std::size_t peer, std::int64_t offset) { offsets[peer].push_back(offset); });
}

/// Reserves memory for the largest of the exchanges of `step` columns: for offsets, and for
/// elements.
template <typename Half, typename Mine, typename Other>
void reserve(const Mine& mine, const Other& other, int process, std::int64_t rows,
             std::int64_t columns, std::int64_t step, std::size_t ranks, Half& half) {
  half.counts.resize(ranks);
  half.places.resize(ranks);
  half.lines.resize(static_cast<std::size_t>(other.lineOwners()));
  addLines(mine, other, process, rows, half.lines);
  std::size_t lines = 0, most = 0;
  for (const std::vector<std::int64_t>& each : half.lines)
    lines += each.size();
  const auto peers = static_cast<std::size_t>(other.acrossOwners());
  half.across.resize(peers);
  std::vector<std::size_t> count(peers), largest(peers);
  for (std::int64_t begin = 0; begin < columns; begin += step) {
    std::fill(count.begin(), count.end(), 0);
    std::size_t all = 0;
    eachAcross(mine, other, process, begin, std::min(columns, begin + step),
               [&](std::size_t peer, std::int64_t) {
                 ++count[peer];
                 ++all;
               });
    for (std::size_t peer = 0; peer < peers; ++peer)
      largest[peer] = std::max(largest[peer], count[peer]);
    most = std::max(most, all);
  }
  for (std::size_t peer = 0; peer < peers; ++peer)
    half.across[peer].reserve(largest[peer]);
  half.elements.resize(lines * most);
}

/// Counts and displacements of the messages to, or from, each rank.
template <typename Other>
void layOut(const Other& other, const Offsets& lines, const Offsets& across,
            std::vector<int>& counts, std::vector<int>& places) {
  std::fill(counts.begin(), counts.end(), 0);
  for (std::size_t p = 0; p < lines.size(); ++p) {
    for (std::size_t q = 0; q < across.size(); ++q)
      counts[static_cast<std::size_t>(other.rank(static_cast<int>(p), static_cast<int>(q)))] =
          static_cast<int>(lines[p].size() * across[q].size());
  }
  int at = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    places[rank] = at;
    at += counts[rank];
  }
}

/// Calls visit(element of this process, index in the message buffer).
template <typename Other, typename Visit>
void eachElement(const Other& other, const Offsets& lines, const Offsets& across,
                 const std::vector<int>& places, Visit&& visit) {
  for (std::size_t p = 0; p < lines.size(); ++p) {
    for (std::size_t q = 0; q < across.size(); ++q) {
      std::int64_t place =
          places[static_cast<std::size_t>(other.rank(static_cast<int>(p), static_cast<int>(q)))];
      for (const std::int64_t column : across[q]) {
        for (const std::int64_t line : lines[p])
          visit(column + line, place++);
      }
    }
  }
}

}  // namespace

template <typename T>
Redistribution<T>::Redistribution(MPI_Comm comm, const Placement<T>& from, const Placement<T>& to,
                                  std::int64_t rows, std::int64_t columns)
    : comm_(comm), from_(from), to_(to), rows_(rows), columns_(rows > 0 ? columns : 0) {
  step_ = std::max<std::int64_t>(1, kRoundElements / std::max<std::int64_t>(1, rows));
}

template <typename T>
void Redistribution<T>::allocate() {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &size);
  const View<T> source(from_), target(to_);
  const auto ranks = static_cast<std::size_t>(size);
  reserve(source, target, source.processOf(rank), rows_, columns_, step_, ranks, sent_);
  reserve(target, source, target.processOf(rank), rows_, columns_, step_, ranks, received_);
}

template <typename T>
void Redistribution<T>::run() {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  const View<T> source(from_), target(to_);
  const int in_source = source.processOf(rank), in_target = target.processOf(rank);
  for (std::int64_t begin = 0; begin < columns_; begin += step_) {
    const std::int64_t end = std::min(columns_, begin + step_);
    setAcross(source, target, in_source, begin, end, sent_.across);
    setAcross(target, source, in_target, begin, end, received_.across);
    layOut(target, sent_.lines, sent_.across, sent_.counts, sent_.places);
    layOut(source, received_.lines, received_.across, received_.counts, received_.places);
    eachElement(target, sent_.lines, sent_.across, sent_.places,
                [&](std::int64_t element, std::int64_t place) {
                  sent_.elements[static_cast<std::size_t>(place)] = source.data()[element];
                });
    MPI_Alltoallv(sent_.elements.data(), sent_.counts.data(), sent_.places.data(), mpiType<T>(),
                  received_.elements.data(), received_.counts.data(), received_.places.data(),
                  mpiType<T>(), comm_);
    eachElement(source, received_.lines, received_.across, received_.places,
                [&](std::int64_t element, std::int64_t place) {
                  target.data()[element] = received_.elements[static_cast<std::size_t>(place)];
                });
  }
}

template class Redistribution<double>;
template class Redistribution<float>;

}  // namespace torc::linalg
