// path: cold
#include "actors/command/opra/generate_output.h"

#include "config/print_problems.h"
#include "config/time_units.h"
#include "config/whole_file.h"
#include "nic/capture/capture_writer.h"
#include "nic/clock.h"
#include "nic/frame_sender.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

namespace pinstrike::command {

namespace {

void print(const Problems& problems) {
    for (const Problem& problem : problems) {
        complain("{}", problem.text);
    }
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
        fmt::print("{} packets sent\n", sender_.sent_packets());
        if (!sent) {
            complain("cannot send: {}", sender_.error_text());
        }
        return sent;
    }

  private:
    struct Frame {
        std::size_t at;
        std::size_t bytes;
        std::int64_t ts_ns;
    };

    static void sleep_ns(std::int64_t ns) {
        const timespec wait{ns / second_ns, ns % second_ns};
        nanosleep(&wait, nullptr);
    }

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

}  // namespace pinstrike::command
