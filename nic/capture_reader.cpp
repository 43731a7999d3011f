// path: cold
#include "nic/capture_reader.h"

#include "nic/bytes.h"
#include "nic/datagram.h"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pinstrike::nic {

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;

/// Where the header of a link type ends, and where in it the Ethernet type stands. `type_at` past
/// the end: there is none, the version nibble of the IP header says it.
struct LinkHeader {
    int link_type;
    std::size_t header_bytes;
    std::size_t type_at;
};

constexpr std::size_t no_type = SIZE_MAX;

// https://www.tcpdump.org/linktypes.html
constexpr std::array link_headers{
    LinkHeader{DLT_RAW, 0, no_type},
    LinkHeader{DLT_IPV4, 0, no_type},
    LinkHeader{DLT_LINUX_SLL, 16, 14},
    LinkHeader{DLT_LINUX_SLL2, 20, 0},
};

const LinkHeader* find_link_header(int link_type) {
    const auto* found =
        std::find_if(link_headers.begin(), link_headers.end(),
                     [&](const LinkHeader& header) { return header.link_type == link_type; });
    return found == link_headers.end() ? nullptr : found;
}

/// The frame `raw` with an Ethernet header in place of its own. Too short frames become a bare
/// header of type 0, which the parser then counts as not IPv4.
void rewrite(const LinkHeader& link, std::span<const std::byte> raw, std::vector<std::byte>& out) {
    out.assign(ethernet_header_bytes, std::byte{0});
    if (raw.size() < link.header_bytes || raw.empty()) {
        return;
    }
    std::uint16_t type = ethertype::ipv4;
    if (link.type_at != no_type) {
        type = load_be16(raw.data() + link.type_at);
    } else if ((std::to_integer<unsigned>(raw[0]) >> 4) == 6) {
        type = 0x86DD;
    }
    store_be16(out.data() + 12, type);
    const std::span<const std::byte> content = raw.subspan(link.header_bytes);
    out.insert(out.end(), content.begin(), content.end());
}

}  // namespace

void CaptureReader::Close::operator()(pcap* handle) const {
    pcap_close(handle);
}

CaptureReader::CaptureReader(std::string path, pcap* handle, int link_type)
    : path_(std::move(path)), handle_(handle), link_type_(link_type) {}

std::optional<CaptureReader> CaptureReader::open(const std::string& path, Problems& problems) {
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    pcap* handle = pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO,
                                                           error.data());
    if (handle == nullptr) {
        tell(problems, path,
             fmt::format("cannot be read as a capture (pcap or pcapng): {}",
                         static_cast<const char*>(error.data())));
        return std::nullopt;
    }
    const int link_type = pcap_datalink(handle);
    CaptureReader reader(path, handle, link_type);
    if (link_type != DLT_EN10MB && find_link_header(link_type) == nullptr) {
        const char* name = pcap_datalink_val_to_name(link_type);
        tell(problems, path,
             fmt::format("link type {} ({}) found, Ethernet, raw IPv4 or Linux cooked expected",
                         link_type, name != nullptr ? name : "unknown"));
        return std::nullopt;
    }
    return reader;
}

bool CaptureReader::next(CapturedFrame& out) {
    if (!complaint_.empty()) {
        return false;
    }
    pcap_pkthdr* header = nullptr;
    const unsigned char* data = nullptr;
    const int result = pcap_next_ex(handle_.get(), &header, &data);
    if (result == PCAP_ERROR_BREAK) {
        return false;
    }
    if (result != 1) {
        complaint_ = fmt::format("{}: reading stopped: {}", path_, pcap_geterr(handle_.get()));
        return false;
    }
    // With the precision asked for at open, tv_usec holds nanoseconds.
    out.ts_ns = static_cast<std::int64_t>(header->ts.tv_sec) * ns_per_second +
                static_cast<std::int64_t>(header->ts.tv_usec);
    const auto raw = std::as_bytes(std::span(data, header->caplen));
    if (link_type_ == DLT_EN10MB) {
        out.bytes = raw;
        return true;
    }
    rewrite(*find_link_header(link_type_), raw, rewritten_);
    out.bytes = rewritten_;
    return true;
}

}  // namespace pinstrike::nic
