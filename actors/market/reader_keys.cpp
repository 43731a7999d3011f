// path: cold
#include "actors/market/reader_keys.h"

#include "config/units.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace pinstrike::actors {
namespace {

bool is_root(const std::string& text) {
    return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
}

}  // namespace

nic::Group endpoint_of(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    const std::string_view port = std::string_view{address}.substr(colon + 1);
    return {nic::parse_ipv4(address.substr(0, colon)).value_or(nic::Ipv4{}),
            static_cast<std::uint16_t>(parse_integer(port).value_or(0))};
}

Form<std::string> endpoint_form(const std::string& example) {
    return text_like("an IPv4 address and port such as " + example,
                     "^[0-9]{1,3}([.][0-9]{1,3}){3}:[1-9][0-9]{0,4}$",
                     [](const std::string& text) { return nic::parse_group(text).has_value(); });
}

Form<std::vector<std::string>> roots_form() {
    return list_of(text_like("a root such as SPXW", "^[A-Z0-9]{1,5}$", is_root), "a list of roots");
}

std::string beside(const std::string& config, const std::string& path) {
    const std::filesystem::path given{path};
    return path.empty() || given.is_absolute()
               ? path
               : (std::filesystem::path{config}.parent_path() / given).string();
}

}  // namespace pinstrike::actors
