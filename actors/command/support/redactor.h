// path: cold
//
// Redacts the texts of a support bundle: removes secrets and, unless configured otherwise, the
// addresses of hosts.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::support {

class Redactor {
  public:
    explicit Redactor(bool keeps_addresses) : keeps_addresses_(keeps_addresses) {}

    /// From now on redacts this text. Ignores texts of less than 8 bytes, because they may occur by
    /// chance in other words.
    void hide(std::string_view secret);

    /// Calls hide() for each line of a file. Ignores a file that cannot be read, because its
    /// content cannot get into the bundle either.
    void hide_content_of(const std::string& file);

    /// Calls hide_content_of() for each file that the text names by its absolute path, if the file
    /// is small and only its owner may access it. A config that cannot be parsed may name files
    /// with secrets in this way.
    void hide_private_files_of(std::string_view text);

    /// Replaces secrets by "(redacted)", and IPv4 addresses by host1, host2 and so on. An address
    /// gets the same name everywhere. Multicast groups, loopback, "any" and broadcast addresses
    /// stay.
    [[nodiscard]] std::string redacted(std::string_view text);

    /// Returns the number of addresses that have a name so far.
    [[nodiscard]] std::size_t addresses_count() const { return hosts_.size(); }

    [[nodiscard]] bool keeps_addresses() const { return keeps_addresses_; }

  private:
    [[nodiscard]] std::string without_addresses(const std::string& text);

    bool keeps_addresses_;
    std::vector<std::string> secrets_;  ///< the longest first, because one may contain another
    std::map<std::string, std::size_t> hosts_;
};

/// Returns a config without comments and without the values of unknown keys. If the config cannot
/// be parsed, returns an empty text and sets `complaint`. From then on the redactor hides the
/// removed values, and the contents of the files with secrets that the config names.
[[nodiscard]] std::string redacted_config(std::string_view text, Redactor& redactor,
                                          std::string& complaint);

}  // namespace pinstrike::actors::support
