// path: cold
//
// A kind of port that returns the frames of a file once. Each frame is preceded by its length in
// two bytes.
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::nic {
namespace {

struct FramesConfig {
    std::vector<std::string> files;
};

std::vector<std::string> files_of(const PortConfig& port) {
    return port.own.get<FramesConfig>().files;
}

class FramesPort final : public Port {
  public:
    FramesPort(std::string name, std::string frames)
        : Port(std::move(name)), frames_(std::move(frames)) {}

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override {
        std::size_t filled = 0;
        while (filled < burst.size() && at_ + 2 <= frames_.size()) {
            std::uint16_t length = 0;
            std::memcpy(&length, frames_.data() + at_, sizeof length);
            const auto frame = std::as_bytes(std::span{frames_}).subspan(at_ + 2, length);
            Packet& packet = burst[filled++];
            packet = {};
            packet.bytes = frame.data();
            packet.length_bytes = length;
            packet.ts_receive_ns = now_ns;
            at_ += 2 + std::size_t{length};
        }
        count_burst(burst.first(filled), burst.size());
        return filled;
    }

  private:
    std::string frames_;
    std::size_t at_ = 0;
};

void add_keys(Section<PortConfig>& section) {
    section.key("frames", own(&FramesConfig::files), list_of(text(), "a list of files"),
                "Files of frames, each behind its length in two bytes.");
}

Ports open(const PortOpening& opening) {
    Ports ports;
    std::string frames;
    for (const std::string& file : files_of(opening.config)) {
        std::ifstream in(file, std::ios::binary);
        if (!in) {
            add_problem(opening.problems, file, "cannot be read");
        }
        frames.append(std::istreambuf_iterator<char>{in}, {});
    }
    if (opening.groups_by_queue.size() != 1) {
        add_problem(opening.problems, "", "a port of kind frames has one poller");
    }
    ports.push_back(std::make_unique<FramesPort>(opening.queue_name(0), std::move(frames)));
    return ports;
}

}  // namespace

extern const PortKindRow frames_port;

constinit const PortKindRow frames_port{
    .word = "frames",
    .sentence = "frames of a file, for a test",
    .live = true,
    .add_keys = add_keys,
    .source = [](const PortConfig& port) { return fmt::format("{} files", files_of(port).size()); },
    .files = files_of,
    .open = open,
};

}  // namespace pinstrike::nic
