// path: cold
#include "nic/multicast/reverse_path.h"

#include "nic/port_kind.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace pinstrike::nic {

std::optional<std::uint64_t> reverse_path_drops(const std::string& file) {
    std::ifstream in(file);
    // The file has pairs of text lines with the same first word: names, then values.
    for (std::string names, values; std::getline(in, names) && std::getline(in, values);) {
        std::istringstream name_words(names);
        std::istringstream value_words(values);
        for (std::string name, value; name_words >> name && value_words >> value;) {
            if (name == "IPReversePathFilter") {
                std::uint64_t count = 0;
                return std::istringstream(value) >> count ? std::optional{count} : std::nullopt;
            }
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> reverse_path_drops(std::span<const PortConfig> ports) {
    const bool sockets = std::ranges::any_of(
        ports, [](const PortConfig& port) { return row_of(port.kind).socket_for_each_group; });
    return sockets ? reverse_path_drops() : std::nullopt;
}

}  // namespace pinstrike::nic
