// path: cold
//
// A wire with faults. It receives the feed's frames on one interface and sends them on others, one
// for each receiver. It loses, damages, repeats and delays frames as its arguments say. It records
// what happened to each copy of each block, so that a test knows exactly which messages its
// receiver can have.
//
//   relay IN RECORD SEED NAME=INTERFACE... NAME/STREAMS[LINE]/FAULT[=SHARE][@FROM-UNTIL]...
//
// If `-` is among the arguments, the relay also reads orders from standard input, one a line: a
// fault adds that fault, and NAME alone ends all faults of that receiver. FROM and UNTIL are
// milliseconds since the first block, by the time stamps of the blocks. The same traffic, seed and
// faults therefore give the same result. The relay ends at SIGTERM, behind the frames that wait
// then. Its status is 1 if the kernel dropped a frame, because the record is then incomplete.
#include "config/problem.h"
#include "config/time_units.h"
#include "nic/frame_sender.h"
#include "nic/packet/bytes.h"

#include <fmt/core.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace nic = pinstrike::nic;

// Frames of the feed have no VLAN tag and no IPv4 options.
constexpr std::size_t ip_at = 14;
constexpr std::size_t udp_checksum_at = ip_at + 20 + 6;
constexpr std::size_t block_at = ip_at + 20 + 8;
constexpr std::size_t messages_at = block_at + 21;
constexpr int idle_ms = 20;
constexpr int receive_buffer_bytes = 64 << 20;

volatile std::sig_atomic_t stopped = 0;

[[noreturn]] void fail(const std::string& what) {
    fmt::print(stderr, "relay: {}\n", what);
    std::exit(1);
}

/// One copy of a block of a regular line.
struct Copy {
    std::vector<std::byte> frame;
    std::size_t stream = 0;
    unsigned line = 0;
    std::uint32_t number = 0;
    unsigned messages = 0;  ///< number of messages that have numbers
    std::int64_t stamp_ns = 0;
};

bool carries_no_number(std::span<const std::byte> frame) {
    const auto category = static_cast<char>(frame[messages_at + 1]);
    const auto type = static_cast<char>(frame[messages_at + 2]);
    return category == 'H' && (type == 'C' || type == 'K' || type == 'N');
}

/// Returns nothing for frames that are not the feed's.
std::optional<Copy> parse(std::span<const std::byte> frame) {
    if (frame.size() < messages_at + 12 || nic::load_be16(frame.data() + 12) != ETH_P_IP) {
        return std::nullopt;
    }
    const std::uint32_t group = nic::load_be32(frame.data() + ip_at + 16);
    constexpr std::array<std::uint32_t, 2> groups{0xE000'CC00, 0xE000'CE00};  // 224.0.204, .206
    Copy copy;
    copy.stream = (group & 0xFFFF'FF00) == groups[0] ? 0 : 1;
    if ((group & 0xFFFF'FF00) != groups[copy.stream]) {
        return std::nullopt;
    }
    const std::byte* block = frame.data() + block_at;
    copy.frame.assign(frame.begin(), frame.end());
    copy.line = group & 0xFF;
    copy.number = nic::load_be32(block + 6);
    copy.messages = carries_no_number(frame) ? 0 : std::to_integer<unsigned>(block[10]);
    copy.stamp_ns =
        std::int64_t{nic::load_be32(block + 11)} * 1'000'000'000 + nic::load_be32(block + 15);
    return copy;
}

enum class Kind : unsigned char {
    lose,
    damage,   ///< changes a byte behind the Ethernet header; the IP or UDP checksum detects it
    falsify,  ///< changes a byte of the block; only the block's checksum detects it
    repeat,
    delay,  ///< sends the frame behind some of the next ones of its stream
};

struct Fault {
    Kind kind = Kind::lose;
    double share = 1;
    std::array<bool, 2> streams{};
    unsigned line = 0;  ///< 0: any line
    std::int64_t from_ns = 0;
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool meets(const Copy& copy, std::int64_t time_ns) const {
        return streams[copy.stream] && (line == 0 || line == copy.line) && time_ns >= from_ns &&
               time_ns < until_ns;
    }
};

Kind kind_of(const std::string& word) {
    static const std::map<std::string, Kind> kinds{{"lose", Kind::lose},
                                                   {"damage", Kind::damage},
                                                   {"falsify", Kind::falsify},
                                                   {"repeat", Kind::repeat},
                                                   {"delay", Kind::delay}};
    const auto found = kinds.find(word);
    return found != kinds.end() ? found->second : (fail("no fault is called " + word), Kind::lose);
}

/// Parses STREAMS[LINE]/FAULT[=SHARE][@FROM-UNTIL].
Fault parse_fault(const std::string& text) {
    const std::size_t slash = text.find('/');
    const std::size_t at = text.find('@');
    const std::size_t dash = text.find('-', at);
    if (slash == std::string::npos || (at != std::string::npos && dash == std::string::npos)) {
        fail("not understood: " + text);
    }
    const std::size_t end = std::min(at, text.size());
    const std::size_t equals = std::min(text.find('='), end);
    Fault fault;
    fault.kind = kind_of(text.substr(slash + 1, equals - slash - 1));
    fault.share = equals == end ? 1 : std::stod(text.substr(equals + 1, end - equals - 1));
    fault.streams = {text.find('A') < slash, text.find('B') < slash};
    if (const std::size_t digit = text.find_first_of("0123456789"); digit < slash) {
        fault.line = static_cast<unsigned>(std::stoul(text.substr(digit)));
    }
    if (at != std::string::npos) {
        fault.from_ns = std::stoll(text.substr(at + 1, dash - at - 1)) * pinstrike::ms_ns;
        fault.until_ns = std::stoll(text.substr(dash + 1)) * pinstrike::ms_ns;
    }
    return fault;
}

/// The link to one receiver.
class Output {
  public:
    Output(std::string name, nic::FrameSender sender, std::uint64_t seed)
        : name_(std::move(name)),
          sender_(std::move(sender)),
          random_{make(seed, 0), make(seed, 1)} {}

    [[nodiscard]] const std::string& name() const { return name_; }

    void add(const Fault& fault) { faults_.push_back(fault); }

    void end_faults() { faults_.clear(); }

    void pass(Copy copy, std::int64_t time_ns, std::ostream& record) {
        const char* fate = "whole";
        unsigned times = 1;
        unsigned behind = 0;
        bool corrupt = false;
        std::mt19937_64& random = random_[copy.stream];
        for (const Fault& fault : faults_) {
            if (!fault.meets(copy, time_ns) || !std::bernoulli_distribution{fault.share}(random)) {
                continue;
            }
            if (fault.kind == Kind::lose) {
                fate = "lost";
                times = 0;
            } else if (fault.kind == Kind::repeat) {
                times = 2;
            } else if (fault.kind == Kind::delay) {
                behind = std::uniform_int_distribution{1U, 8U}(random);
            } else if (!corrupt) {
                corrupt = true;
                fate = fault.kind == Kind::damage ? "damaged" : "falsified";
                fault.kind == Kind::damage ? damage(copy.frame, random)
                                           : falsify(copy.frame, random);
            }
        }
        record << fmt::format("{} {} {} {} {} {} {}\n", name_, "AB"[copy.stream], copy.line,
                              copy.number, copy.messages, fate, times);
        if (behind != 0 && times != 0) {
            late_[copy.stream].push_back({std::move(copy.frame), behind, times});
        } else {
            send(copy.frame, times);
            send_ripe(copy.stream);
        }
    }

    /// Sends all delayed frames, because no more frames are coming that they could be sent behind.
    void flush() {
        for (std::vector<Late>& late : late_) {
            for (const Late& each : late) {
                send(each.frame, each.times);
            }
            late.clear();
        }
    }

  private:
    struct Late {
        std::vector<std::byte> frame;
        unsigned behind = 0;  ///< number of frames of its stream that are still sent before it
        unsigned times = 1;
    };

    static std::mt19937_64 make(std::uint64_t seed, std::uint64_t stream) {
        std::seed_seq words{seed, stream};
        return std::mt19937_64{words};
    }

    static void flip(std::vector<std::byte>& frame, std::size_t begin, std::mt19937_64& random) {
        const std::size_t at = std::uniform_int_distribution{begin, frame.size() - 1}(random);
        frame[at] ^= std::byte{std::uniform_int_distribution<unsigned char>{1, 255}(random)};
    }

    /// Never changes the UDP checksum, because a checksum of 0 would mean that there is none.
    static void damage(std::vector<std::byte>& frame, std::mt19937_64& random) {
        const auto checksum = nic::load_be16(frame.data() + udp_checksum_at);
        const std::vector<std::byte> whole = frame;
        do {
            frame = whole;
            flip(frame, ip_at, random);
        } while (nic::load_be16(frame.data() + udp_checksum_at) != checksum);
    }

    static void falsify(std::vector<std::byte>& frame, std::mt19937_64& random) {
        flip(frame, block_at, random);
        nic::store_be16(frame.data() + udp_checksum_at, 0);
    }

    void send(const std::vector<std::byte>& frame, unsigned times) {
        nic::Packet packet;
        packet.bytes = frame.data();
        packet.length_bytes = static_cast<std::uint32_t>(frame.size());
        for (unsigned i = 0; i < times; ++i) {
            if (!sender_.send(std::span{&packet, 1})) {
                fail("cannot send to " + name_ + ": " + sender_.error_text());
            }
        }
    }

    /// Sends the delayed frames that are due, after one more frame of the stream was sent.
    void send_ripe(std::size_t stream) {
        std::vector<Late>& late = late_[stream];
        for (Late& each : late) {
            if (--each.behind == 0) {
                send(each.frame, each.times);
            }
        }
        std::erase_if(late, [](const Late& each) { return each.behind == 0; });
    }

    std::string name_;
    nic::FrameSender sender_;
    std::array<std::mt19937_64, 2> random_;
    std::vector<Fault> faults_;
    std::array<std::vector<Late>, 2> late_;
};

class Input {
  public:
    explicit Input(const std::string& interface)
        : descriptor_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
        const int size_bytes = receive_buffer_bytes;
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = __builtin_bswap16(ETH_P_ALL);
        address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
        if (address.sll_ifindex == 0 ||
            setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUFFORCE, &size_bytes, sizeof size_bytes) !=
                0 ||
            bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            fail("cannot receive on " + interface + ": " + std::strerror(errno));
        }
    }

    /// Returns an empty frame if none waits and none arrives within `patience_ms`.
    std::span<const std::byte> receive(int patience_ms) {
        pollfd waiting{descriptor_, POLLIN, 0};
        if (poll(&waiting, 1, patience_ms) <= 0) {
            return {};
        }
        const ssize_t length = recv(descriptor_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        return std::span{buffer_}.first(length < 0 ? 0 : static_cast<std::size_t>(length));
    }

    [[nodiscard]] unsigned missed() const {
        tpacket_stats statistics{};
        socklen_t length = sizeof statistics;
        getsockopt(descriptor_, SOL_PACKET, PACKET_STATISTICS, &statistics, &length);
        return statistics.tp_drops;
    }

  private:
    int descriptor_;
    std::array<std::byte, 2048> buffer_{};
};

using Outputs = std::vector<std::unique_ptr<Output>>;

/// The output of the receiver whose name is the text up to `end`.
Output& output_of(Outputs& outputs, const std::string& text, std::size_t end) {
    const auto output = std::ranges::find_if(
        outputs, [&](const auto& each) { return each->name() == text.substr(0, end); });
    if (output == outputs.end()) {
        fail("no receiver: " + text);
    }
    return **output;
}

void add(Outputs& outputs, const std::string& text, std::uint64_t seed) {
    if (const std::size_t slash = text.find('/'); slash != std::string::npos) {
        output_of(outputs, text, slash).add(parse_fault(text.substr(slash + 1)));
        return;
    }
    const std::size_t equals = std::min(text.find('='), text.size() - 1);
    pinstrike::Problems problems;
    auto sender = nic::FrameSender::open(text.substr(equals + 1), problems);
    if (!sender) {
        fail(problems.front().text);
    }
    outputs.push_back(std::make_unique<Output>(text.substr(0, equals), std::move(*sender),
                                               seed + outputs.size()));
}

/// The orders on standard input, one a line. take() reads those that have arrived.
class Orders {
  public:
    /// Without this call, standard input is not read.
    void open() { open_ = true; }

    void take(Outputs& outputs) {
        pollfd waiting{STDIN_FILENO, POLLIN, 0};
        if (!open_ || poll(&waiting, 1, 0) <= 0) {
            return;
        }
        std::array<char, 512> bytes{};
        const ssize_t length = read(STDIN_FILENO, bytes.data(), bytes.size());
        open_ = length > 0;
        text_.append(bytes.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
        for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
            const std::string order = text_.substr(0, end);
            text_.erase(0, end + 1);
            if (order.find('/') == std::string::npos) {
                output_of(outputs, order, order.size()).end_faults();
            } else {
                add(outputs, order, 0);
            }
        }
    }

  private:
    bool open_ = false;
    std::string text_;
};

}  // namespace

int main(int count, char** words) {
    if (count < 5) {
        fail(
            "IN RECORD SEED [-] NAME=INTERFACE... "
            "NAME/STREAMS[LINE]/FAULT[=SHARE][@FROM-UNTIL]...");
    }
    std::signal(SIGTERM, [](int) { stopped = 1; });
    Outputs outputs;
    Orders orders;
    for (const std::string word : std::span{words, static_cast<std::size_t>(count)}.subspan(4)) {
        word == "-" ? orders.open() : add(outputs, word, std::stoull(words[3]));
    }
    Input input{words[1]};
    std::ofstream record{words[2]};
    std::int64_t first_ns = 0;
    fmt::print("ready\n");
    std::fflush(stdout);
    while (true) {
        const bool ends = stopped != 0;
        orders.take(outputs);
        const auto frame = input.receive(ends ? 0 : idle_ms);
        if (frame.empty()) {
            std::ranges::for_each(outputs, [](const auto& output) { output->flush(); });
            if (ends) {
                break;
            }
            continue;
        }
        const std::optional<Copy> copy = parse(frame);
        if (!copy) {
            continue;
        }
        first_ns = first_ns == 0 ? copy->stamp_ns : first_ns;
        for (const auto& output : outputs) {
            output->pass(*copy, copy->stamp_ns - first_ns, record);
        }
    }
    const unsigned missed = input.missed();
    if (missed != 0 || !record.flush().good()) {
        fail(fmt::format("the record is not whole: {} frames missed", missed));
    }
    return 0;
}
