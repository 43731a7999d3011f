// path: cold
#include "nic/multicast/reverse_path.h"

#include "tests/nic/frames.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

namespace pinstrike::nic {
namespace {

TEST(ReversePath, ReadsTheKernelsCount) {
    const ScratchDirectory scratch;
    const std::string file = scratch.file("netstat");
    std::ofstream(file) << "TcpExt: SyncookiesSent IPReversePathFilter TCPHPHits\n"
                           "TcpExt: 3 18446744073709551615 7\n"
                           "IpExt: InNoRoutes\nIpExt: 5\n";
    EXPECT_EQ(reverse_path_drops(file), 18446744073709551615U);
    std::ofstream(file) << "IpExt: InNoRoutes\nIpExt: 5\nTcpExt: IPReversePathFilter\nTcpExt: 0\n";
    EXPECT_EQ(reverse_path_drops(file), 0U);
}

TEST(ReversePath, SaysNothingWhereTheKernelDoesNotCount) {
    const ScratchDirectory scratch;
    const std::string file = scratch.file("netstat");
    EXPECT_EQ(reverse_path_drops(file), std::nullopt);
    for (const char* const text :
         {"", "TcpExt: IPReversePathFilter\n", "TcpExt: A B\nTcpExt: 1 2\n",
          "TcpExt: IPReversePathFilter\nTcpExt: many\n"}) {
        std::ofstream(file) << text;
        EXPECT_EQ(reverse_path_drops(file), std::nullopt) << text;
    }
}

TEST(ReversePath, IsCountedByThisKernelForPortsThatUseItsSockets) {
    std::vector<PortConfig> ports(2);
    ports[0].kind = PortKind::capture;
    ports[1].kind = PortKind::uring;
    EXPECT_TRUE(reverse_path_drops(ports));
    ports.pop_back();
    EXPECT_EQ(reverse_path_drops(ports), std::nullopt);
}

}  // namespace
}  // namespace pinstrike::nic
