// A machine that runs MSCCL++ plans, independent of the importer: thread blocks in random order,
// stores and reads at once, ports in the order of their proxy, packets with flags. Chunks are
// numbers, sums are modulo 2^64.
#ifndef TORC_TESTS_IR_EXCHANGE_MSCCLPP_MACHINE_H_
#define TORC_TESTS_IR_EXCHANGE_MSCCLPP_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace torc::ir {

class MscclppMachine {
 public:
  /// `plan` has been accepted by the importer.
  explicit MscclppMachine(const nlohmann::json& plan);

  /// Empty: all results are right.
  std::string run(unsigned seed);

 private:
  using Json = nlohmann::json;
  using Cell = std::tuple<std::size_t, char, std::size_t>;  // gpu, buffer, share of a chunk
  struct Request {
    Cell from, to;
    std::size_t count = 0;  // 0: a signal, if `signals`
    bool signals = false, packets = false;
  };

  Cell cellOf(std::size_t gpu, char buffer, std::size_t cell) const;
  std::uint64_t input(std::size_t gpu, std::size_t cell) const;
  std::uint64_t result(std::size_t gpu, std::size_t cell) const;
  /// The cells of one entry of src_buff or dst_buff.
  std::pair<Cell, std::size_t> cells(std::size_t gpu, const Json& block, const Json& op,
                                     const Json& chunks) const;
  std::size_t channel(const Json& block, const Json& op, std::size_t index) const;
  bool step(std::size_t gpu, std::size_t block);
  bool proxy(std::size_t gpu, std::size_t channel);
  bool hasPackets(const Cell& first, std::size_t count) const;
  std::uint64_t& at(const Cell& first, std::size_t i);

  const Json& plan_;
  std::vector<std::vector<std::vector<const Json*>>> ops_;  // of gpus' thread blocks
  std::size_t shares_ = 1, gpus_ = 0, chunks_ = 0;          // shares of the vector
  // Of gpus' channels of a type: the peer, and its channel back.
  std::map<std::string, std::vector<std::vector<std::pair<std::size_t, std::size_t>>>> channels_;

  std::map<Cell, std::uint64_t> memory_;
  std::map<Cell, bool> flags_;
  std::vector<std::vector<std::size_t>> next_;
  std::vector<std::vector<std::size_t>> progress_;  // of a barrier: number of arrivals
  std::map<std::tuple<std::string, std::size_t, std::size_t>, std::size_t> signals_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<Request>> proxies_;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> semaphores_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> barriers_;  // arrivals
};

}  // namespace torc::ir

#endif  // TORC_TESTS_IR_EXCHANGE_MSCCLPP_MACHINE_H_
