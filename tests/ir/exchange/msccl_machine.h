// A machine that reads MSCCL programs, and runs them without any buffering: a send ends with its
// receive. Programs that run here also run with buffered messages.
#ifndef TORC_TESTS_IR_EXCHANGE_MSCCL_MACHINE_H_
#define TORC_TESTS_IR_EXCHANGE_MSCCL_MACHINE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ir/exchange/read_forms.h"

namespace torc {

class MscclMachine {
 public:
  struct Step {
    std::string type;
    char src = 'i', dst = 'i';
    std::int64_t srcoff = 0, dstoff = 0, count = 0;
    std::int64_t depid = -1, deps = -1;
    bool hasdep = false;
  };
  struct Block {
    std::int64_t send = -1, recv = -1, channel = 0;
    std::vector<Step> steps;
    std::size_t done = 0;
  };
  struct Rank {
    std::map<char, std::vector<std::uint64_t>> buffers;  // a number for each chunk
    std::vector<Block> blocks;
  };

  /// The fault that the program's readers would report; empty: none.
  std::string read(std::string_view xml);
  /// Runs all ranks from the start; executable steps are taken in an order drawn by `seed`. `in`
  /// has the number `drawn` of rank and chunk. Returns the reason of a deadlock, or an empty text.
  std::string run(std::uint64_t seed);

  static std::uint64_t drawn(std::size_t rank, std::size_t chunk) {
    return (rank * 1000003 + chunk + 1) * 0x9e3779b97f4a7c15ull;
  }

  ReadTag algo;  // its attributes
  std::vector<Rank> ranks;

 private:
  std::string readRank(const std::vector<ReadTag>& tags, std::size_t& at);
  std::string checkRank(std::size_t rank) const;
  bool isReady(const Rank& rank, const Block& block) const;
  bool tryStep(std::size_t rank, std::size_t block);
  void execute(std::size_t rank, const Step& step, const std::uint64_t* arrived);

  /// The block that receives on a connection: sender, receiver, channel.
  std::map<std::vector<std::int64_t>, std::size_t> receivers_;
};

}  // namespace torc

#endif  // TORC_TESTS_IR_EXCHANGE_MSCCL_MACHINE_H_
