// path: cold
#include "actors/command/opra/generate_output.h"

#include "config/print_problems.h"
#include "config/time_units.h"
#include "config/wall_time.h"
#include "config/whole_file.h"
#include "feed/opra/traffic/loop_source.h"
#include "nic/capture/capture_writer.h"
#include "nic/clock.h"
#include "nic/frame_sender.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <span>
#include <utility>

namespace pinstrike::command {

namespace {

void print(const Problems& problems) {
    for (const Problem& problem : problems) {
        complain("{}", problem.text);
    }
}

void print_sent(const nic::FrameSender& sender, bool sent) {
    fmt::print("{} packets sent\n", sender.sent_packets());
    if (!sent) {
        complain("cannot send: {}", sender.error_text());
    }
}

void sleep_ns(std::int64_t ns) {
    const timespec wait{ns / second_ns, ns % second_ns};
    nanosleep(&wait, nullptr);
}

std::vector<nic::Group> groups_of(const std::vector<feed::LineConfig>& lines,
                                  std::string_view streams) {
    std::vector<nic::Group> groups;
    for (const feed::LineConfig& line : lines) {
        for (const char stream : streams) {
            groups.push_back(line.streams[stream == 'A' ? 0 : 1]);
        }
    }
    return groups;
}

class CaptureOutput final : public GenerateOutput {
  public:
    CaptureOutput(std::unique_ptr<WholeFile> file, nic::CaptureWriter writer)
        : file_(std::move(file)), writer_(std::move(writer)) {}

    void packet(std::span<const std::byte> frame, std::int64_t ts_arrival_ns) override {
        ++packets_;
        writer_.write(frame, ts_arrival_ns);
    }

    bool finish() override {
        Problems problems;
        bool written = writer_.close(problems);
        print(problems);
        if (written && !file_->commit()) {
            complain("cannot rename the finished capture: {}", std::strerror(errno));
            written = false;
        }
        fmt::print("{} packets written\n", packets_);
        return written;
    }

  private:
    std::unique_ptr<WholeFile> file_;
    nic::CaptureWriter writer_;
    std::uint64_t packets_ = 0;
};

/// Collects all frames before it sends them. Making frames takes longer than sending them, and
/// would therefore delay them.
class InterfaceOutput final : public GenerateOutput {
  public:
    explicit InterfaceOutput(nic::FrameSender sender) : sender_(std::move(sender)) {}

    void packet(std::span<const std::byte> frame, std::int64_t ts_arrival_ns) override {
        frames_.push_back({bytes_.size(), frame.size(), ts_arrival_ns});
        bytes_.insert(bytes_.end(), frame.begin(), frame.end());
    }

    bool finish() override {
        const bool sent = send_all();
        print_sent(sender_, sent);
        return sent;
    }

  private:
    struct Frame {
        std::size_t at;
        std::size_t bytes;
        std::int64_t ts_ns;
    };

    bool send_all() {
        constexpr std::size_t batch_packets = 64;
        std::vector<nic::Packet> batch;
        const std::int64_t start_ns = nic::monotonic_ns();
        for (std::size_t next = 0; next < frames_.size();) {
            const std::int64_t elapsed_ns = nic::monotonic_ns() - start_ns;
            batch.clear();
            while (next < frames_.size() && batch.size() < batch_packets &&
                   frames_[next].ts_ns - frames_[0].ts_ns <= elapsed_ns) {
                nic::Packet packet;
                packet.bytes = bytes_.data() + frames_[next].at;
                packet.length_bytes = static_cast<std::uint32_t>(frames_[next].bytes);
                batch.push_back(packet);
                ++next;
            }
            if (!batch.empty()) {
                if (!sender_.send(batch)) {
                    return false;
                }
            } else {
                sleep_ns(
                    std::max<std::int64_t>(1, frames_[next].ts_ns - frames_[0].ts_ns - elapsed_ns));
            }
        }
        return true;
    }

    nic::FrameSender sender_;
    std::vector<std::byte> bytes_;
    std::vector<Frame> frames_;
};

}  // namespace

std::unique_ptr<GenerateOutput> open_output(const std::string& capture,
                                            const std::string& interface) {
    Problems problems;
    std::unique_ptr<GenerateOutput> output;
    if (!capture.empty()) {
        auto file = std::make_unique<WholeFile>(capture);
        if (file->error() != 0) {
            pinstrike::add_problem(
                problems, capture,
                fmt::format("cannot be written: {}", std::strerror(file->error())));
        } else if (auto writer = nic::CaptureWriter::open(file->where(), problems)) {
            output = std::make_unique<CaptureOutput>(std::move(file), std::move(*writer));
        }
    } else if (auto sender = nic::FrameSender::open(interface, problems)) {
        output = std::make_unique<InterfaceOutput>(std::move(*sender));
    }
    print(problems);
    return output;
}

Exit send_loop(const feed::opra::TrafficConfig& config, const std::vector<feed::LineConfig>& lines,
               std::string_view streams, const std::string& interface, std::int64_t for_ns) {
    constexpr std::int64_t idle_wait_ns = 50'000;
    Problems problems;
    auto sender = nic::FrameSender::open(interface, problems);
    print(problems);
    if (!sender) {
        return Exit::failed;
    }
    const auto groups = groups_of(lines, streams);
    feed::opra::traffic::LoopSource source{config, lines, groups, nic::UdpChecksumSent::computed};
    std::array<nic::Packet, 64> burst;
    const std::int64_t begin_ns = wall_ns();
    bool sent = true;
    for (std::int64_t now_ns = begin_ns; sent && now_ns < begin_ns + for_ns; now_ns = wall_ns()) {
        const std::size_t count = source.fill(burst, now_ns);
        sent = sender->send(std::span{burst}.first(count));
        if (count == 0) {
            sleep_ns(idle_wait_ns);
        }
    }
    print_sent(*sender, sent);
    return sent ? Exit::ok : Exit::failed;
}

}  // namespace pinstrike::command
