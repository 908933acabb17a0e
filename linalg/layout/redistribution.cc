#include "linalg/layout/redistribution.h"

#include <algorithm>
#include <vector>

namespace torc::linalg {
namespace {

/// Elements that all processes together send at a time; a process may have to take them all.
constexpr std::int64_t kRoundElements = std::int64_t{1} << 22;

/// A placement seen from what is copied: `lines` are its rows (or, transposed, the columns),
/// `across` the other dimension.
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
  /// The process that a rank is; processes() where it is none.
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

/// Of this process on one side: offsets of its lines (or columns), by the owner on the other side.
using Offsets = std::vector<std::vector<std::int64_t>>;

template <typename Mine, typename Other>
Offsets linesByPeer(const Mine& mine, const Other& other, int process, std::int64_t rows) {
  Offsets offsets(static_cast<std::size_t>(other.lineOwners()));
  for (std::int64_t i = 0; mine.has(process) && i < rows; ++i) {
    if (mine.lineOwner(i) == mine.lineOwnerOf(process))
      offsets[static_cast<std::size_t>(other.lineOwner(i))].push_back(mine.lineOffset(i));
  }
  return offsets;
}

template <typename Mine, typename Other>
Offsets acrossByPeer(const Mine& mine, const Other& other, int process, std::int64_t begin,
                     std::int64_t end) {
  Offsets offsets(static_cast<std::size_t>(other.acrossOwners()));
  for (std::int64_t j = begin; mine.has(process) && j < end; ++j) {
    if (mine.acrossOwner(j) == mine.acrossOwnerOf(process))
      offsets[static_cast<std::size_t>(other.acrossOwner(j))].push_back(mine.acrossOffset(j));
  }
  return offsets;
}

/// Counts and places of what goes to, or comes from, each rank; returns the sum.
template <typename Other>
std::size_t layOut(const Other& other, const Offsets& lines, const Offsets& across,
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
  return static_cast<std::size_t>(at);
}

/// Calls visit(element of this process, place in the message buffer).
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
void redistribute(MPI_Comm comm, const Placement<const T>& from, const Placement<T>& to,
                  std::int64_t rows, std::int64_t columns) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const View<const T> source(from);
  const View<T> target(to);
  const int mine_in_source = source.processOf(rank), mine_in_target = target.processOf(rank);
  const Offsets sent_lines = linesByPeer(source, target, mine_in_source, rows);
  const Offsets received_lines = linesByPeer(target, source, mine_in_target, rows);
  std::vector<T> sent, received;
  std::vector<int> sent_counts(static_cast<std::size_t>(size)), sent_places(sent_counts.size());
  std::vector<int> received_counts(sent_counts.size()), received_places(sent_counts.size());

  const std::int64_t step =
      std::max<std::int64_t>(1, kRoundElements / std::max<std::int64_t>(1, rows));
  for (std::int64_t begin = 0; rows > 0 && begin < columns; begin += step) {
    const std::int64_t end = std::min(columns, begin + step);
    const Offsets sent_across = acrossByPeer(source, target, mine_in_source, begin, end);
    const Offsets received_across = acrossByPeer(target, source, mine_in_target, begin, end);
    sent.resize(layOut(target, sent_lines, sent_across, sent_counts, sent_places));
    received.resize(
        layOut(source, received_lines, received_across, received_counts, received_places));
    eachElement(target, sent_lines, sent_across, sent_places,
                [&](std::int64_t element, std::int64_t place) {
                  sent[static_cast<std::size_t>(place)] = source.data()[element];
                });
    MPI_Alltoallv(sent.data(), sent_counts.data(), sent_places.data(), mpiType<T>(),
                  received.data(), received_counts.data(), received_places.data(), mpiType<T>(),
                  comm);
    eachElement(source, received_lines, received_across, received_places,
                [&](std::int64_t element, std::int64_t place) {
                  target.data()[element] = received[static_cast<std::size_t>(place)];
                });
  }
}

template void redistribute(MPI_Comm, const Placement<const double>&, const Placement<double>&,
                           std::int64_t, std::int64_t);
template void redistribute(MPI_Comm, const Placement<const float>&, const Placement<float>&,
                           std::int64_t, std::int64_t);

}  // namespace torc::linalg
