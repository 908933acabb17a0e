// The main() of a fuzz test in an ordinary build: runs the target once on each file of the command
// line, so that inputs which once failed stay fixed.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: error: cannot be read\n", argv[i]);
      return 1;
    }
    std::printf("%s\n", argv[i]);
    std::fflush(stdout);
    // Exactly as long as the input: reads past the end are visible to the sanitizers.
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return 0;
}
