#include "model/machine.h"

#include <algorithm>

namespace torc {

double Machine::linkBandwidth(std::uint32_t dimension) const {
  const MachineDimension& of = dimensions[dimension];
  double cable = of.bandwidth * packet.efficiency();
  if (gap > 0) {
    double fastest = 0;
    for (const MachineDimension& other : dimensions)
      fastest = std::max(fastest, other.bandwidth);
    cable = of.bandwidth / fastest / gap;
  }
  return of.torus && of.size == 2 && of.width > 1 ? cable * of.width / 2 : cable * of.width;
}

}  // namespace torc
