// path: cold
//
// Writes seeds for the fuzz targets of nic:
//
//   write_nic_seeds tests/fuzz/corpus
#include "nic/capture/capture_writer.h"
#include "nic/multicast/igmp.h"
#include "tests/nic/frames.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace pinstrike;
using namespace pinstrike::nic;

std::filesystem::path corpus;

void write(const std::string& name, const Bytes& bytes) {
    std::filesystem::create_directories((corpus / name).parent_path());
    std::ofstream(corpus / name, std::ios::binary) << text_of(bytes);
}

std::vector<Bytes> frames() {
    UdpRoute tagged = route_of_tests;
    tagged.vlan = 300;
    Bytes stacked = udp_frame(tagged, bytes_of("stacked"));
    const std::array tag{std::byte{0x88}, std::byte{0xA8}, std::byte{0}, std::byte{5}};
    stacked.insert(stacked.begin() + 12, tag.begin(), tag.end());
    Bytes options = udp_frame(route_of_tests, bytes_of("options"));
    const Bytes padding(4, std::byte{1});
    options.insert(options.begin() + 34, padding.begin(), padding.end());
    options[14] = std::byte{0x46};
    store_be16(options.data() + 16, static_cast<std::uint16_t>(options.size() - 14));
    store_be16(options.data() + 24, 0);
    store_checksum(options.data() + 24, checksum_sum(options.data() + 14, 24));
    Bytes padded = udp_frame(route_of_tests, bytes_of("x"));
    padded.resize(60);
    return {udp_frame(route_of_tests, bytes_of("plain")),
            udp_frame(tagged, bytes_of("tagged")),
            stacked,
            options,
            padded,
            udp_frame(route_of_tests, {}, UdpChecksumSent::none)};
}

/// Frames with a query of each version, and with a report.
std::vector<Bytes> membership_frames() {
    const IgmpHost router{Ipv4{0x0A000001}, Mac{{2, 0, 0, 0, 0, 9}}, 0};
    std::array<std::byte, igmp_frame_bytes_max> buffer{};
    const std::size_t report = write_message(buffer, router, IgmpMessage::v2_report, all_hosts);
    std::vector<Bytes> made{Bytes(buffer.begin(), buffer.begin() + static_cast<long>(report))};
    for (const unsigned kind : {1U, 2U, 3U, 4U}) {
        Bytes message(kind < 3 ? 8 : 12);
        message[0] = std::byte{0x11};
        message[1] = std::byte{kind == 1 ? std::uint8_t{0} : std::uint8_t{0x8F}};
        store_be32(message.data() + 4, kind == 4 ? 0xE000CC01U : 0U);
        store_checksum(message.data() + 2, checksum_sum(message.data(), message.size()));
        Bytes frame(made[0].begin(), made[0].end() - 8);
        store_be16(frame.data() + 16, static_cast<std::uint16_t>(24 + message.size()));
        store_be16(frame.data() + 24, 0);
        store_checksum(frame.data() + 24, checksum_sum(frame.data() + 14, 24));
        frame.insert(frame.end(), message.begin(), message.end());
        made.push_back(frame);
    }
    return made;
}

void write_captures() {
    for (const char* name : {"capture/two.pcap", "capture/two.pcapng"}) {
        Problems problems;
        std::filesystem::create_directories(corpus / "capture");
        auto writer = CaptureWriter::open((corpus / name).string(), problems);
        writer->write(frames()[0], 1'700'000'000'000'000'001);
        writer->write(frames()[2], 1'700'000'000'000'000'002);
        static_cast<void>(writer->close(problems));
    }
    std::filesystem::copy_file(corpus / "capture/two.pcap", corpus / "capture/cut.pcap",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(corpus / "capture/cut.pcap", 100);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: write_nic_seeds FOLDER\n");
        return 2;
    }
    corpus = argv[1];
    int number = 0;
    for (const Bytes& frame : frames()) {
        write("datagram/" + std::to_string(number++), frame);
    }
    for (const Bytes& frame : membership_frames()) {
        write("igmp/" + std::to_string(number), frame);
        write("datagram/" + std::to_string(number++), frame);
    }
    write_captures();
    return 0;
}
