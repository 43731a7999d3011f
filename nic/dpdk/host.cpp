// path: cold
#include "nic/dpdk/host.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <tuple>

namespace pinstrike::nic::dpdk {
namespace {

namespace fs = std::filesystem;

std::size_t read_number(const fs::path& file) {
    std::ifstream in(file);
    std::size_t value = 0;
    return in >> value ? value : 0;
}

/// Parses the number between a prefix and a suffix of a name.
std::optional<std::size_t> number_in(std::string_view name, std::string_view prefix,
                                     std::string_view suffix) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) {
        return std::nullopt;
    }
    name.remove_prefix(prefix.size());
    name.remove_suffix(suffix.size());
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    return error == std::errc{} && end == name.data() + name.size() ? std::optional(value)
                                                                    : std::nullopt;
}

void read_sizes(const fs::path& folder, unsigned node, std::vector<Hugepages>& out) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const auto size_kib = number_in(entry.path().filename().string(), "hugepages-", "kB");
        if (size_kib) {
            out.push_back({*size_kib * 1024, node, read_number(entry.path() / "nr_hugepages"),
                           read_number(entry.path() / "free_hugepages")});
        }
    }
}

}  // namespace

std::vector<Hugepages> read_hugepages(const std::string& root) {
    std::vector<Hugepages> pages;
    std::error_code error;
    const fs::path nodes = fs::path(root) / "devices/system/node";
    for (const fs::directory_entry& entry : fs::directory_iterator(nodes, error)) {
        if (const auto node = number_in(entry.path().filename().string(), "node", "")) {
            read_sizes(entry.path() / "hugepages", static_cast<unsigned>(*node), pages);
        }
    }
    if (pages.empty()) {
        read_sizes(fs::path(root) / "kernel/mm/hugepages", 0, pages);
    }
    std::sort(pages.begin(), pages.end(), [](const Hugepages& a, const Hugepages& b) {
        return std::tie(a.page_bytes, a.node) < std::tie(b.page_bytes, b.node);
    });
    return pages;
}

std::string hugepages_file(int node) {
    const std::string folder =
        node < 0 ? "/sys/kernel/mm" : "/sys/devices/system/node/node" + std::to_string(node);
    return folder + "/hugepages/hugepages-2048kB/nr_hugepages";
}

Capabilities read_capabilities() {
    std::ifstream in("/proc/self/status");
    Capabilities capabilities;
    for (std::string key; in >> key;) {
        if (key == "CapEff:") {
            in >> std::hex >> capabilities.effective;
            break;
        }
    }
    return capabilities;
}

std::optional<std::size_t> memory_lock_limit_bytes() {
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(limit.rlim_cur);
}

int pci_node(const std::string& address, const std::string& root) {
    std::ifstream in(fs::path(root) / "bus/pci/devices" / address / "numa_node");
    int node = -1;
    return in >> node ? node : -1;
}

std::optional<std::string> pci_driver(const std::string& address, const std::string& root) {
    const fs::path device = fs::path(root) / "bus/pci/devices" / address;
    std::error_code error;
    if (!fs::exists(device, error)) {
        return std::nullopt;
    }
    const fs::path driver = fs::read_symlink(device / "driver", error);
    return error ? std::string{} : driver.filename().string();
}

}  // namespace pinstrike::nic::dpdk
