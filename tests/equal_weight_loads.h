// The cost of equal weights on asymmetric tori: the total load of the busiest link over the
// optimum, (p-1)/(pN), computed independently in exact rationals
// (docs/research/algorithms/rings.md).
#ifndef TORC_TESTS_EQUAL_WEIGHT_LOADS_H_
#define TORC_TESTS_EQUAL_WEIGHT_LOADS_H_

namespace torc {

struct EqualWeightLoad {
  const char* shape;
  double ratio;  // to three places
};

inline constexpr EqualWeightLoad kEqualWeightLoads[] = {
    {"4x8", 1.129},       {"16x8x8", 1.070}, {"8x32x16", 1.098}, {"40x32x16", 1.038},
    {"4x4x2", 1.258},     {"2x3x5", 1.241},  {"8x2", 1.400},     {"4x4x64", 1.293},
    {"12x10x3x2", 1.545}, {"2x2x32", 1.709}};

}  // namespace torc

#endif  // TORC_TESTS_EQUAL_WEIGHT_LOADS_H_
