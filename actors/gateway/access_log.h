// path: cold
//
// What each user was served: lines of one JSON object each, appended to a file when a session ends,
// and at the end of each hour while it lasts, so that a crash loses an hour at most and no line
// belongs to two months. Market data is licensed by user and month (UTC).
#pragma once

#include "config/problem.h"
#include "nic/file_descriptor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace pinstrike::actors::gateway {

struct AccessEntry {
    std::string session;  ///< the same in all lines of a session, and in no other
    std::string user;
    std::string address;
    std::string client;
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    std::string schemas;                     ///< of accepted subscriptions, separated by blanks
    std::optional<std::size_t> underlyings;  ///< nothing: all
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;

    friend bool operator==(const AccessEntry&, const AccessEntry&) = default;
};

[[nodiscard]] std::string to_line(const AccessEntry& entry);

class AccessLog {
  public:
    /// An empty path: nothing is written.
    explicit AccessLog(std::string path) : path_(std::move(path)) {}

    /// Opens the file, again if it is open. False, with a Problem: it cannot be written.
    [[nodiscard]] bool open(Problems& problems);

    /// False: the line could not be written as a whole.
    [[nodiscard]] bool add(const AccessEntry& entry);

  private:
    std::string path_;
    nic::FileDescriptor file_;
    bool is_broken_ = false;  ///< a line was written in part
};

/// What one user got in a month.
struct Usage {
    std::set<std::string> sessions;
    std::int64_t connected_ns = 0;
    std::set<std::string> schemas;
    std::set<std::string> addresses;
    bool all_underlyings = false;
    std::uint64_t underlyings_max = 0;
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
};

using UsageByUser = std::map<std::string, Usage>;

/// Sums the lines of an access log of any length that end in a month such as "2026-11" (UTC). Adds
/// a Problem for each line that is none, and continues. nullopt, with a Problem: the file cannot be
/// read.
[[nodiscard]] std::optional<UsageByUser> usage_of(const std::string& file, const std::string& month,
                                                  Problems& problems);

/// As a table, or as CSV with a header.
[[nodiscard]] std::string usage_table(const UsageByUser& usage);
[[nodiscard]] std::string usage_csv(const UsageByUser& usage);

/// "2026-11-28T03:00:00.000Z".
[[nodiscard]] std::string time_text(std::int64_t ns);

}  // namespace pinstrike::actors::gateway
