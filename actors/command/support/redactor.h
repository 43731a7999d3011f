// path: cold
//
// What leaves the house in a support bundle: texts without secrets, and, where not told otherwise,
// without the addresses of hosts.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::support {

class Redactor {
  public:
    explicit Redactor(bool keeps_addresses) : keeps_addresses_(keeps_addresses) {}

    /// From now on this stands in no text. Words of less than 8 bytes are left alone: they would
    /// tear innocent text apart.
    void hide(std::string_view secret);

    /// The same of each line of a file; of one that cannot be read nothing can come out either.
    void hide_content_of(const std::string& file);

    /// The same of each file that a text names by its whole path and that is small and nobody's but
    /// its owner's: what a config that cannot be understood may mean by it.
    void hide_private_files_of(std::string_view text);

    /// Secrets become "(redacted)"; IPv4 addresses host1, host2 and so on, each the same
    /// everywhere, but for multicast groups, loopback, "any" and broadcast.
    [[nodiscard]] std::string redacted(std::string_view text);

    /// How many addresses have got a name so far.
    [[nodiscard]] std::size_t addresses_count() const { return hosts_.size(); }

    [[nodiscard]] bool keeps_addresses() const { return keeps_addresses_; }

  private:
    [[nodiscard]] std::string without_addresses(const std::string& text);

    bool keeps_addresses_;
    std::vector<std::string> secrets_;  ///< the longest first: one may hold another
    std::map<std::string, std::size_t> hosts_;
};

/// A config without comments, and without the values of keys that no table knows; `complaint` says
/// why there is none. What is taken out, and what stands in the files that the config names for
/// secrets, the redactor hides everywhere.
[[nodiscard]] std::string redacted_config(std::string_view text, Redactor& redactor,
                                          std::string& complaint);

}  // namespace pinstrike::actors::support
