// path: cold
//
// Measures receiving alone, on captures that net_pcap repeats: our port, bare DPDK calls in the
// same process, and dpdk-testpmd in rxonly mode on the same capture. All figures are by processor
// time of the receiving thread, so that other load on the machine matters less.
#include "nic/capture/capture_writer.h"
#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/eal.h"
#include "nic/dpdk/library.h"
#include "nic/open_port.h"
#include "tests/bench/measure.h"
#include "tests/bench/shapes.h"
#include "tests/nic/frames.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

namespace pinstrike::bench {
namespace {

constexpr unsigned burst_packets = 64;
constexpr std::size_t full_frames = 2'096;
constexpr std::size_t ordinary_frames = 10'096;

const nic::Group group{{0xE000CC01}, 45001};

std::size_t write_capture(const std::string& path, const Shape& shape) {
    Problems problems;
    auto writer = nic::CaptureWriter::open(path, problems);
    BlockMaker blocks(shape, 1, 100'000);
    const std::size_t count = shape.full ? full_frames : ordinary_frames;
    std::uint32_t sequence = 1;
    for (std::size_t i = 0; i < count; ++i) {
        unsigned messages = 0;
        const BlockBytes block = blocks.make(sequence, messages);
        sequence += messages;
        writer->write(nic::udp_frame(nic::route_of_tests, block), static_cast<std::int64_t>(i));
    }
    return writer->close(problems) ? count : 0;
}

nic::PortConfig port_on(const std::string& capture, bool hugepages) {
    nic::PortConfig port;
    port.name = "bench";
    port.kind = nic::PortKind::dpdk;
    auto& own = port.own.get<nic::dpdk::DpdkConfig>();
    own.vdev = "net_pcap0,infinite_rx=1,rx_pcap=" + capture;
    own.descriptors_count = 512;
    own.hugepages = hugepages;
    own.membership = nic::dpdk::Membership::fixed;
    return port;
}

Spread ours(nic::Port& port) {
    std::array<nic::Packet, burst_packets> burst;
    std::int64_t now_ns = 0;
    return rate_millions([&] {
        std::uint64_t received = 0;
        for (int i = 0; i < 1000; ++i) {
            received += port.receive(burst, ++now_ns);
            keep(burst);
        }
        return received;
    });
}

/// The least that receiving costs: the driver, and the return of every buffer.
Spread bare(std::uint16_t device) {
    std::array<rte_mbuf*, burst_packets> buffers;
    return rate_millions([&] {
        std::uint64_t received = 0;
        for (int i = 0; i < 1000; ++i) {
            const std::uint16_t count = rte_eth_rx_burst(device, 0, buffers.data(), burst_packets);
            rte_pktmbuf_free_bulk(buffers.data(), count);
            received += count;
        }
        return received;
    });
}

/// Processor seconds of testpmd's receiving thread; 0 if it has not started yet.
double worker_seconds(pid_t process) {
    std::error_code error;
    const std::string tasks = "/proc/" + std::to_string(process) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
        std::string name;
        std::ifstream(task.path() / "comm") >> name;
        if (name.find("worker") != std::string::npos) {
            double ns = 0;
            std::ifstream(task.path() / "schedstat") >> ns;
            return ns * 1e-9;
        }
    }
    return 0;
}

/// dpdk-testpmd as a child process. Its output goes to a file. Its input stays open, so that it
/// does not end by itself.
class Testpmd {
  public:
    Testpmd(const std::string& capture, bool hugepages, std::string log) : log_(std::move(log)) {
        if (pipe2(input_.data(), O_CLOEXEC) != 0) {
            return;
        }
        const std::string vdev = "net_pcap0,infinite_rx=1,rx_pcap=" + capture;
        const std::string command =
            "dpdk-testpmd --no-pci --no-telemetry --file-prefix=pinstrike-bench -l 0," +
            std::to_string(last_cpu()) + " --vdev " + vdev +
            (hugepages ? " --in-memory" : " --no-huge --no-shconf -m 512") +
            " -- --forward-mode=rxonly --total-num-mbufs=32768 --burst=64"
            " --mbcache=512 --no-mlockall --auto-start --stats-period=1";
        std::vector<std::string> arguments;
        std::istringstream words(command);
        for (std::string word; words >> word;) {
            arguments.push_back(word);
        }
        start(arguments);
    }

    ~Testpmd() {
        if (process_ > 0) {
            kill(process_, SIGINT);
            waitpid(process_, nullptr, 0);
        }
        close(input_[0]);
        close(input_[1]);
        std::error_code error;
        std::filesystem::remove_all("/var/run/dpdk/pinstrike-bench", error);
    }

    Testpmd(const Testpmd&) = delete;
    Testpmd& operator=(const Testpmd&) = delete;

    [[nodiscard]] pid_t process() const { return process_; }

    /// The last packet count that it printed.
    [[nodiscard]] std::optional<double> received_packets() const {
        std::ifstream in(log_);
        std::optional<double> packets;
        for (std::string word; in >> word;) {
            double count = 0;
            if (word == "RX-packets:" && in >> count) {
                packets = count;
            }
        }
        return packets;
    }

    static unsigned last_cpu() { return std::max(2U, std::thread::hardware_concurrency()) - 1; }

  private:
    void start(std::vector<std::string>& arguments) {
        std::vector<char*> argv;
        for (std::string& argument : arguments) {
            argv.push_back(argument.data());
        }
        argv.push_back(nullptr);
        process_ = fork();
        if (process_ != 0) {
            return;
        }
        const int out = open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(input_[0], STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
        execvp(argv[0], argv.data());
        _exit(127);
    }

    std::string log_;
    std::array<int, 2> input_{-1, -1};
    pid_t process_ = -1;
};

/// Measures testpmd by its own packet count and by the processor time of its receiving thread,
/// between two of its outputs, so that its start does not count.
std::optional<Spread> testpmd(const std::string& capture, bool hugepages, const std::string& log) {
    const Testpmd child(capture, hugepages, log);
    std::vector<double> rates;
    double packets = 0;
    double seconds = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(12);
    while (rates.size() < 4 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (waitpid(child.process(), nullptr, WNOHANG) != 0) {
            return std::nullopt;  // not installed, or failed to start
        }
        const double now_packets = child.received_packets().value_or(0);
        if (now_packets == packets) {
            continue;
        }
        const double now_seconds = worker_seconds(child.process());
        if (packets > 0 && now_seconds - seconds > 0.3) {
            rates.push_back((now_packets - packets) / (now_seconds - seconds) / 1e6);
        }
        packets = now_packets;
        seconds = now_seconds;
    }
    return rates.empty() ? std::nullopt : std::optional(spread_of(rates));
}

void measure(const Shape& shape, const std::string& capture, bool hugepages) {
    Problems problems;
    const std::string name = shape.name;
    Spread port_rate;
    {
        auto ports = nic::open_port(port_on(capture, hugepages), {{group}}, {}, problems);
        if (ports.empty()) {
            std::printf("%s\n", problems.front().text.c_str());
            return;
        }
        port_rate = ours(*ports.front());
        std::uint16_t device = 0;
        rte_eth_dev_get_port_by_name("net_pcap0", &device);
        print_row(name + ": Port::receive", port_rate, "M packets/s");
        const Spread bare_rate = bare(device);
        print_row(name + ": rx_burst and free, bare", bare_rate, "M packets/s");
        std::printf("%-44s %32.3f\n", "  ours to bare", port_rate.median / bare_rate.median);
    }
    if (const auto peer = testpmd(capture, hugepages, capture + ".log")) {
        print_row(name + ": testpmd rxonly", *peer, "M packets/s");
        std::printf("%-44s %32.3f\n", "  ours to testpmd", port_rate.median / peer->median);
    } else {
        std::printf("%s: dpdk-testpmd (package dpdk-dev) did not run\n", name.c_str());
    }
}

/// Whether there are enough hugepages. testpmd needs some in addition to ours.
bool enough_hugepages() {
    std::size_t free_bytes = 0;
    for (const nic::dpdk::Hugepages& size : nic::dpdk::read_hugepages()) {
        free_bytes += size.page_bytes * size.free_count;
    }
    return free_bytes >= std::size_t{512} << 20;
}

int run() {
    const nic::ScratchDirectory scratch;
    const std::string first = scratch.file("ordinary.pcap");
    write_capture(first, shapes[2]);
    const bool hugepages = enough_hugepages();
    Problems problems;
    const auto eal = nic::dpdk::Eal::start(
        {{nic::dpdk::demand_of(port_on(first, hugepages), 1)}, {0}, {}}, problems);
    if (eal == nullptr) {
        std::printf("%s\n", problems.front().text.c_str());
        return 1;
    }
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(Testpmd::last_cpu(), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    std::printf("net_pcap infinite_rx, %s hugepages, bursts of %u\n", hugepages ? "with" : "no",
                burst_packets);
    print_head("receive");
    for (const Shape& shape : shapes) {
        const std::string capture = scratch.file("capture.pcap");
        write_capture(capture, shape);
        measure(shape, capture, hugepages);
    }
    return 0;
}

}  // namespace
}  // namespace pinstrike::bench

int main() {
    return pinstrike::bench::run();
}
