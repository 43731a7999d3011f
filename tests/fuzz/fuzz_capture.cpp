// path: cold
//
// Reads any bytes as a capture, with the reader and with the port that replays it.
#include "config/check.h"
#include "nic/capture/pcap_port.h"
#include "nic/packet/datagram.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>

namespace {

using namespace pinstrike;
using namespace pinstrike::nic;

/// A file in memory that has a path.
class MemoryFile {
  public:
    explicit MemoryFile(std::span<const std::byte> bytes) : fd_(memfd_create("capture", 0)) {
        PINSTRIKE_CHECK(fd_ >= 0);
        PINSTRIKE_CHECK(write(fd_, bytes.data(), bytes.size()) ==
                        static_cast<ssize_t>(bytes.size()));
    }

    ~MemoryFile() { close(fd_); }

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  private:
    int fd_;
};

std::size_t drain(Port& port) {
    std::array<Packet, 8> burst;
    std::size_t total = 0;
    while (const std::size_t count = port.receive(burst, 0)) {
        for (const Packet& packet : std::span(burst).first(count)) {
            Datagram datagram;
            static_cast<void>(parse_udp(packet, ChecksumCheck::software, datagram));
        }
        total += count;
    }
    return total;
}

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    const MemoryFile file(bytes);
    Problems problems;
    auto port = PcapPort::open("fuzz", std::array{file.path()}, Pace{}, 8, problems);
    PINSTRIKE_CHECK((port != nullptr) == problems.empty());
    if (!port) {
        return 0;
    }
    const std::size_t total = drain(*port);
    PINSTRIKE_CHECK(port->exhausted());
    PINSTRIKE_CHECK(port->counters().read(nic::PortCount::packets) == total);
    PINSTRIKE_CHECK(port->statistics().errors == port->remarks().size());
    return 0;
}
