// Slurm's lists of hosts: their expansion, and errors for invalid ones.
#include "support/hostlist.h"

#include <gtest/gtest.h>

namespace torc {
namespace {

std::string expanded(std::string_view text, std::size_t most = 100) {
  const StatusOr<std::vector<std::string>> hosts = expandHostlist(text, most);
  if (!hosts.ok()) return hosts.status().message();
  std::string joined;
  for (const std::string& host : *hosts)
    joined += (joined.empty() ? "" : " ") + host;
  return joined;
}

TEST(Hostlist, Names) {
  EXPECT_EQ(expanded("node7"), "node7");
  EXPECT_EQ(expanded("b,a-1.x,b"), "b a-1.x b");
  EXPECT_EQ(expanded("node[01-03,20]"), "node01 node02 node03 node20");
  EXPECT_EQ(expanded("n[8-11]"), "n8 n9 n10 n11");
  EXPECT_EQ(expanded("n[098-101]"), "n098 n099 n100 n101");
  EXPECT_EQ(expanded("r[1-2]n[1-2]s,x"), "r1n1s r1n2s r2n1s r2n2s x");
}

/// As `scontrol show hostnames` prints them, and as people write them.
TEST(Hostlist, Blanks) {
  EXPECT_EQ(expanded("n1\nn2\n"), "n1 n2");
  EXPECT_EQ(expanded("n1\r\nn2\r\n"), "n1 n2");
  EXPECT_EQ(expanded(" n[1-2] n3,n4 , a.b.org\t"), "n1 n2 n3 n4 a.b.org");
}

TEST(Hostlist, Boxes) {
  EXPECT_EQ(expanded("t[000x011]"), "t000 t001 t010 t011");
  EXPECT_EQ(expanded("t[09x1A,ZZxZZ]"), "t09 t0A t19 t1A tZZ");
  EXPECT_EQ(base36Digit('Z'), 35);
  EXPECT_EQ(base36Digit('z'), -1);
}

// Others: tests/compiler/commands/refused.test.
TEST(Hostlist, Faults) {
  EXPECT_EQ(expanded(""), "hostlist '': a host is missing (column 1)");
  EXPECT_EQ(expanded(" \n"), "hostlist ' ?': a host is missing (column 3)");
}

TEST(Hostlist, AsManyAsAllowed) {
  EXPECT_EQ(expanded(std::string(255, 'n')), std::string(255, 'n'));
  EXPECT_TRUE(expanded(std::string(256, 'n')).ends_with("a host's name is too long (column 1)"));
  std::string brackets = "n[1-9]";
  for (int i = 0; i < 255; ++i)
    brackets += "[1]";
  EXPECT_TRUE(expanded(brackets).ends_with("a host's name is too long (column 769)"));
  EXPECT_EQ(expanded("n[1-3]", 3), "n1 n2 n3");
  EXPECT_EQ(expanded("n[1-4]", 3), "hostlist 'n[1-4]': has more than 3 hosts");
  EXPECT_EQ(expanded("n[1-2],m[1-2]", 3), "hostlist 'n[1-2],m[1-2]': has more than 3 hosts");
  EXPECT_EQ(expanded("n[1-2]m[1-2]", 3), "hostlist 'n[1-2]m[1-2]': has more than 3 hosts");
  EXPECT_EQ(expanded("n[0-999999999999999999]"),
            "hostlist 'n[0-999999999999999999]': has more than 100 hosts");
  EXPECT_EQ(expanded("n[00000xZZZZZ]"), "hostlist 'n[00000xZZZZZ]': has more than 100 hosts");
}

}  // namespace
}  // namespace torc
