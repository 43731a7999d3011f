// path: cold
#include "actors/gateway/access_log.h"

#include "config/joined.h"
#include "config/time_units.h"
#include "config/units.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>

namespace pinstrike::actors::gateway {
namespace {

/// The nanoseconds of a text such as 2026-11-28T03:00:00.000Z since the Unix epoch.
std::optional<std::int64_t> time_of_text(const std::string& text) {
    std::tm time{};
    const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
    std::int64_t ms = 0;
    if (end == nullptr || *end != '.') {
        return std::nullopt;
    }
    const char* const last = text.c_str() + text.size();
    const auto [behind, error] = std::from_chars(end + 1, last, ms);
    if (error != std::errc{} || behind != end + 4 || *behind != 'Z' || ms < 0) {
        return std::nullopt;
    }
    return ::timegm(&time) * second_ns + ms * ms_ns;
}

void add_line(const nlohmann::json& line, const std::string& month, UsageByUser& usage) {
    const auto from = line.at("from").get<std::string>();
    const auto to = line.at("to").get<std::string>();
    const auto from_ns = time_of_text(from);
    const auto to_ns = time_of_text(to);
    if (!from_ns || !to_ns) {
        throw std::invalid_argument("no time such as 2026-11-28T03:00:00.000Z");
    }
    if (!to.starts_with(month)) {
        return;
    }
    const auto session = line.at("session").get<std::string>();
    const auto name = line.at("user").get<std::string>();
    const auto address = line.at("address").get<std::string>();
    std::istringstream schemas{line.at("schemas").get<std::string>()};
    const bool all = line.at("underlyings") == "all";
    const auto underlyings = all ? 0 : line.at("underlyings").get<std::uint64_t>();
    const auto records = line.at("records").get<std::uint64_t>();
    const auto bytes = line.at("bytes").get<std::uint64_t>();
    // The line is good, so that it counts as a whole.
    Usage& user = usage[name];
    user.sessions.insert(session);
    user.connected_ns += *to_ns - *from_ns;
    user.addresses.insert(address);
    for (std::string schema; schemas >> schema;) {
        user.schemas.insert(schema);
    }
    user.all_underlyings |= all;
    user.underlyings_max = std::max(user.underlyings_max, underlyings);
    user.records += records;
    user.bytes += bytes;
}

std::string schemas_text(const Usage& user) {
    return joined(std::vector<std::string>(user.schemas.begin(), user.schemas.end()), " ");
}

std::string underlyings_text(const Usage& user) {
    return user.all_underlyings ? "all" : std::to_string(user.underlyings_max);
}

}  // namespace

std::string time_text(std::int64_t ns) {
    const std::int64_t seconds = ns / second_ns;
    return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(seconds)),
                       (ns - seconds * second_ns) / 1'000'000);
}

std::string to_line(const AccessEntry& entry) {
    nlohmann::ordered_json line;
    line["session"] = entry.session;
    line["user"] = entry.user;
    line["address"] = entry.address;
    line["client"] = entry.client;
    line["from"] = time_text(entry.from_ns);
    line["to"] = time_text(entry.to_ns);
    line["schemas"] = entry.schemas;
    line["underlyings"] = "all";
    if (entry.underlyings) {
        line["underlyings"] = *entry.underlyings;
    }
    line["records"] = entry.records;
    line["bytes"] = entry.bytes;
    return line.dump() + '\n';
}

bool AccessLog::open(Problems& problems) {
    if (path_.empty()) {
        return true;
    }
    constexpr mode_t mode = S_IRUSR | S_IWUSR | S_IRGRP;
    nic::FileDescriptor opened{
        ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode)};
    if (!opened.valid()) {
        add_problem(problems, path_,
                    fmt::format("access_log: cannot write: {}", std::strerror(errno)),
                    remedy_of(errno));
        return false;
    }
    file_ = std::move(opened);
    return true;
}

/// Begins a new line after one that was written in part, so that the new entry stays readable.
bool AccessLog::add(const AccessEntry& entry) {
    if (path_.empty()) {
        return true;
    }
    std::string line = to_line(entry);
    if (is_broken_) {
        line.insert(line.begin(), '\n');
    }
    const ssize_t written = ::write(file_.get(), line.data(), line.size());
    const bool whole = written == static_cast<ssize_t>(line.size());
    is_broken_ = written > 0 ? !whole : is_broken_;
    return whole;
}

std::optional<UsageByUser> usage_of(const std::string& file, const std::string& month,
                                    Problems& problems) {
    UsageByUser usage;
    std::ifstream lines{file};
    unsigned number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        try {
            add_line(nlohmann::json::parse(line), month, usage);
        } catch (const std::exception&) {
            add_problem(problems, Place{file, number, 0},
                        "found no line of an access log; it is not counted");
        }
    }
    if (!lines.is_open() || lines.bad()) {
        add_problem(problems, file, fmt::format("cannot be read: {}", std::strerror(errno)),
                    remedy_of(errno));
        return std::nullopt;
    }
    return usage;
}

std::string usage_table(const UsageByUser& usage) {
    std::string text = fmt::format("{:<16} {:>8} {:>10} {:>12} {:>16} {:>12}  {}\n", "user",
                                   "sessions", "hours", "underlyings", "records", "MiB", "schemas");
    for (const auto& [name, user] : usage) {
        text += fmt::format("{:<16} {:>8} {:>10.2f} {:>12} {:>16} {:>12.1f}  {}\n", name,
                            user.sessions.size(), static_cast<double>(user.connected_ns) / 3.6e12,
                            underlyings_text(user), grouped(user.records),
                            static_cast<double>(user.bytes) / (1 << 20), schemas_text(user));
    }
    return text;
}

std::string usage_csv(const UsageByUser& usage) {
    std::string text =
        "user,sessions,connected_seconds,underlyings,addresses,records,bytes,schemas\n";
    for (const auto& [name, user] : usage) {
        text += fmt::format("{},{},{},{},{},{},{},{}\n", name, user.sessions.size(),
                            (user.connected_ns + second_ns / 2) / second_ns, underlyings_text(user),
                            user.addresses.size(), user.records, user.bytes, schemas_text(user));
    }
    return text;
}

}  // namespace pinstrike::actors::gateway
