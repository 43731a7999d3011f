// path: cold
//
// Sends one feed to two or more receivers with independent losses. A loop of generated traffic goes
// to each interface, and for every packet, each receiver's loss is drawn separately. A message that
// one receiver lost on both streams has nearly always reached the other. The number of messages
// that no receiver has is known.
//
//   soak_sender LINES SHAPE GIGABITS SECONDS LOSS SEED INTERFACE...
//
// GIGABITS is the rate of one receiver's wire per second, including both streams, preamble and gap.
// The program ends with the true counts as JSON.
#include "config/problem.h"
#include "config/time_units.h"
#include "feed/opra/lines.h"
#include "feed/opra/traffic/loop_source.h"
#include "nic/frame_sender.h"
#include "nic/packet/bytes.h"

#include <fmt/core.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace nic = pinstrike::nic;
namespace feed = pinstrike::feed;
namespace opra = pinstrike::feed::opra;

constexpr std::size_t block_at = 42;
constexpr std::size_t burst_packets = 64;
constexpr std::size_t wire_extra_bytes = 24;  // preamble, frame checksum and gap
constexpr std::int64_t behind_ns_max = 50'000'000;
// The first and last blocks of a line are not lost, because no receiver could know that blocks
// before or behind its traffic existed.
constexpr std::int64_t spared_ns = 2 * pinstrike::second_ns;

volatile std::sig_atomic_t stopped = 0;

std::int64_t clock_ns(clockid_t which) {
    timespec now{};
    clock_gettime(which, &now);
    return now.tv_sec * pinstrike::second_ns + now.tv_nsec;
}

/// The header fields of a frame that this program made.
struct Copy {
    std::size_t stream = 0;
    std::size_t line = 0;
    unsigned messages = 0;  ///< number of messages that have numbers

    explicit Copy(const nic::Packet& packet) {
        const std::byte* block = packet.bytes + block_at;
        const std::uint32_t group = nic::load_be32(packet.bytes + 30);
        const auto category = static_cast<char>(block[22]);
        const auto type = static_cast<char>(block[23]);
        stream = (group >> 8 & 0xFF) == 204 ? 0 : 1;
        line = group & 0xFF;
        messages = category == 'H' && (type == 'C' || type == 'K' || type == 'N')
                       ? 0
                       : std::to_integer<unsigned>(block[10]);
    }
};

class Receiver {
  public:
    Receiver(nic::FrameSender sender, std::uint64_t seed, double loss)
        : sender_(std::move(sender)), random_(seed), loss_(loss) {}

    /// Takes the packets in the order of sending. A packet may be lost unless it is spared.
    void take(const nic::Packet& packet, const Copy& copy, bool spared) {
        const bool lost = !spared && loss_(random_);
        lost_packets_[copy.stream] += lost ? 1 : 0;
        const bool first_lost = std::exchange(first_lost_, lost);
        both_lost_ = copy.stream == 1 && lost && first_lost;
        lost_messages_ += both_lost_ ? copy.messages : 0;
        if (!lost) {
            burst_[count_++] = packet;
        }
    }

    bool flush() {
        const bool sent = sender_.send(std::span{burst_}.first(count_));
        count_ = 0;
        return sent;
    }

    /// Whether both copies of the block whose second copy was drawn last were lost.
    [[nodiscard]] bool both_lost() const { return both_lost_; }

    [[nodiscard]] std::string text() const {
        return fmt::format(R"({{"packets": {}, "lost_a": {}, "lost_b": {}, "lost_on_both": {}}})",
                           sender_.sent_packets(), lost_packets_[0], lost_packets_[1],
                           lost_messages_);
    }

  private:
    nic::FrameSender sender_;
    std::mt19937_64 random_;
    std::bernoulli_distribution loss_;
    std::array<nic::Packet, burst_packets> burst_;
    std::size_t count_ = 0;
    std::array<std::uint64_t, 2> lost_packets_{};
    std::uint64_t lost_messages_ = 0;  ///< messages lost on both streams
    bool first_lost_ = false;
    bool both_lost_ = false;
};

/// Paces bytes at the rate of a wire. It does not make up for time in which the sender was too
/// slow.
class Wire {
  public:
    explicit Wire(double gigabits_per_s) : ns_per_byte_(8 / gigabits_per_s) {}

    void sent(std::size_t bytes) { due_ns_ += static_cast<double>(bytes) * ns_per_byte_; }

    [[nodiscard]] bool is_free(std::int64_t passed_ns) {
        const auto passed = static_cast<double>(passed_ns);
        if (passed - due_ns_ > behind_ns_max) {
            late_ns_ += passed - due_ns_ - behind_ns_max;
            due_ns_ = passed - behind_ns_max;
        }
        return due_ns_ <= passed;
    }

    /// Time by which the sender was too slow for the rate.
    [[nodiscard]] double late_s() const { return late_ns_ * 1e-9; }

  private:
    double ns_per_byte_;
    double due_ns_ = 0;
    double late_ns_ = 0;
};

struct Sending {
    opra::traffic::LoopSource source;
    std::vector<Receiver> receivers;
    Wire wire;
    std::vector<std::uint64_t> highest;  ///< by line number
    std::uint64_t nobody_has = 0;        ///< messages that all receivers lost on both streams
    std::uint64_t wire_bytes = 0;

    bool send(std::span<nic::Packet> packets, bool spared) {
        for (const nic::Packet& packet : packets) {
            const Copy copy{packet};
            highest[copy.line] += copy.stream == 0 ? copy.messages : 0;
            bool nobody = true;
            for (Receiver& receiver : receivers) {
                receiver.take(packet, copy, spared);
                nobody = nobody && receiver.both_lost();
            }
            nobody_has += nobody ? copy.messages : 0;
            wire_bytes += packet.length_bytes + wire_extra_bytes;
            wire.sent(packet.length_bytes + wire_extra_bytes);
        }
        bool good = true;
        for (Receiver& receiver : receivers) {
            good = receiver.flush() && good;
        }
        return good;
    }

    bool run(std::int64_t length_ns) {
        std::array<nic::Packet, burst_packets> burst;
        const std::int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
        std::int64_t passed_ns = 0;
        while (passed_ns < length_ns && stopped == 0) {
            if (wire.is_free(passed_ns)) {
                const std::size_t count = source.fill(burst, clock_ns(CLOCK_REALTIME));
                const bool spared = passed_ns < spared_ns || passed_ns > length_ns - spared_ns;
                if (!send(std::span{burst}.first(count), spared)) {
                    return false;
                }
            } else {
                const timespec wait{0, 20'000};
                nanosleep(&wait, nullptr);
            }
            passed_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
        }
        return true;
    }

    void print(double seconds) const {
        fmt::print(R"({{"gigabits_per_s": {:.4f}, "late_s": {:.3f}, "nobody_has": {}, )",
                   static_cast<double>(wire_bytes) * 8e-9 / seconds, wire.late_s(), nobody_has);
        const char* separator = "\"receivers\": [";
        for (const Receiver& receiver : receivers) {
            fmt::print("{}{}", separator, receiver.text());
            separator = ", ";
        }
        separator = "], \"lines\": [";
        for (std::size_t line = 0; line < highest.size(); ++line) {
            if (highest[line] != 0) {
                fmt::print(R"({}{{"line": {}, "highest": {}}})", separator, line, highest[line]);
                separator = ", ";
            }
        }
        fmt::print("]}}\n");
    }
};

std::vector<Receiver> open_receivers(std::span<char*> interfaces, std::uint64_t seed, double loss) {
    std::vector<Receiver> receivers;
    for (const char* interface : interfaces) {
        pinstrike::Problems problems;
        auto sender = nic::FrameSender::open(interface, problems);
        if (!sender) {
            fmt::print(stderr, "soak_sender: {}\n", problems.front().text);
            std::exit(1);
        }
        receivers.emplace_back(std::move(*sender), seed + receivers.size(), loss);
    }
    return receivers;
}

opra::TrafficConfig traffic_of(const std::string& shape, std::size_t lines_count) {
    opra::TrafficConfig config;
    config.shape = shape == "full" ? opra::PacketShape::full : opra::PacketShape::ordinary;
    config.lines_count = lines_count;
    config.roots_count = 1000;
    config.series_count = 100'000;
    config.messages_count = 500'000;
    // The wire sets the pace.
    config.rate_messages_per_second = opra::traffic::unpaced_messages_per_second;
    return config;
}

}  // namespace

int main(int count, char** words) {
    if (count < 8) {
        fmt::print(stderr, "soak_sender LINES SHAPE GIGABITS SECONDS LOSS SEED INTERFACE...\n");
        return 2;
    }
    std::signal(SIGTERM, [](int) { stopped = 1; });
    std::vector<feed::LineConfig> lines;
    std::vector<nic::Group> groups;
    for (std::uint16_t number = 1; number <= std::strtoul(words[1], nullptr, 10); ++number) {
        lines.push_back(*opra::published_line(number));
        groups.insert(groups.end(), lines.back().streams.begin(), lines.back().streams.end());
    }
    const double seconds = std::strtod(words[4], nullptr);
    Sending sending{
        {traffic_of(words[2], lines.size()), lines, groups, nic::UdpChecksumSent::computed},
        open_receivers(std::span{words, static_cast<std::size_t>(count)}.subspan(7),
                       std::strtoull(words[6], nullptr, 10), std::strtod(words[5], nullptr)),
        Wire{std::strtod(words[3], nullptr)},
        std::vector<std::uint64_t>(256)};
    if (!sending.run(static_cast<std::int64_t>(seconds * pinstrike::second_ns))) {
        fmt::print(stderr, "soak_sender: cannot send\n");
        return 1;
    }
    sending.print(seconds);
    return stopped != 0;
}
