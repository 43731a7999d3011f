// path: cold
//
// pinstrike.h for C++20. Objects close themselves, errors are exceptions, and batches are spans.
// All functions are in this header. The C functions need the library libpinstrike. The feed handler
// itself does not use the namespace, so that an actor can include this header too.
#pragma once

#include "pinstrike.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::client {

/// What a call could not do, in a sentence.
class error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

namespace detail {

template <class Value>
Value checked(Value value, bool failed) {
    if (failed) {
        throw error(pinstrike_error());
    }
    return value;
}

/// All values that a call writes to an array, whose size it returns. The vector grows if it is too
/// short, and never shrinks, because a vector that grows again would fill its memory with zeros.
template <class Call>
std::span<const pinstrike_value> fill(std::vector<pinstrike_value>& values, Call&& call) {
    while (true) {
        const std::ptrdiff_t result = call(values.data(), values.size());
        const auto count = static_cast<std::size_t>(checked(result, result < 0));
        if (count <= values.size()) {
            return std::span<const pinstrike_value>{values}.first(count);
        }
        values.resize(count + count / 8);
    }
}

}  // namespace detail

/// Which series a call is about. An empty list or optional is no condition.
struct filter {
    std::vector<std::string> roots;
    std::vector<std::uint32_t> ids;
    std::optional<std::uint32_t> expiration_from;  ///< as 20261218, inclusive
    std::optional<std::uint32_t> expiration_to;
    std::optional<std::int64_t> strike_from_e8;  ///< in units of 1e-8, inclusive
    std::optional<std::int64_t> strike_to_e8;
    char right = 0;    ///< 'C', 'P', or 0: both
    char session = 0;  ///< 'R' regular, 'G' GTH, or 0: both
    bool line_events_of_each_core = false;
    bool announced = false;  ///< also series that have no message yet

    /// Calls `body` with the filter in the form of pinstrike.h.
    template <class Body>
    auto use(Body&& body) const {
        std::vector<const char*> names;
        for (const std::string& root : roots) {
            names.push_back(root.c_str());
        }
        pinstrike_filter out{};
        out.roots = names.empty() ? nullptr : names.data();
        out.roots_count = names.size();
        out.ids = ids.empty() ? nullptr : ids.data();
        out.ids_count = ids.size();
        out.expiration_from = expiration_from.value_or(0);
        out.expiration_to = expiration_to.value_or(0);
        if (strike_from_e8 || strike_to_e8) {
            out.strike_from_e8 = strike_from_e8.value_or(INT64_MIN);
            out.strike_to_e8 = strike_to_e8.value_or(INT64_MAX);
        }
        out.right = right;
        out.session = session;
        out.line_events_of_each_core = line_events_of_each_core ? 1 : 0;
        out.announced = announced ? 1 : 0;
        return body(&out);
    }
};

/// A price as a number, for display and models.
[[nodiscard]] inline double to_double(std::int64_t value, unsigned decimals) {
    double unit = 1;
    for (unsigned i = 0; i < decimals; ++i) {
        unit *= 10;
    }
    return static_cast<double>(value) / unit;
}

[[nodiscard]] inline std::optional<double> price_of(const pinstrike_best& best) {
    return best.present != 0 ? std::optional{to_double(best.price, best.decimals)} : std::nullopt;
}

[[nodiscard]] inline std::optional<double> price_of(const pinstrike_price& price) {
    return price.present != 0 ? std::optional{to_double(price.value, price.decimals)}
                              : std::nullopt;
}

/// Events of a feed, each once, behind the state of its series.
class stream {
  public:
    explicit stream(pinstrike_stream* owned) : stream_(owned) {}

    /// As pinstrike_snapshot().
    [[nodiscard]] std::vector<pinstrike_value> snapshot() const {
        std::vector<pinstrike_value> values;
        const auto all = detail::fill(values, [this](pinstrike_value* to, std::size_t max) {
            return pinstrike_snapshot(stream_.get(), to, max);
        });
        values.resize(all.size());
        return values;
    }

    /// The events that have arrived, at most `max` of them; empty: none has. Valid until the next
    /// call.
    [[nodiscard]] std::span<const pinstrike_record> poll(std::size_t max = 1024) {
        records_.resize(max);
        const std::ptrdiff_t count = pinstrike_poll(stream_.get(), records_.data(), max);
        detail::checked(count, count < 0);
        return {records_.data(), static_cast<std::size_t>(count)};
    }

    enum class waited { events, timeout, over };

    /// As pinstrike_wait().
    [[nodiscard]] waited wait(std::chrono::nanoseconds timeout) {
        const int result = pinstrike_wait(stream_.get(), timeout.count());
        detail::checked(result, result == -2);
        return result == 1 ? waited::events : result == 0 ? waited::timeout : waited::over;
    }

    /// Batches for a range-based for: waits for each, and ends when the feed has ended or died.
    class batches {
      public:
        class iterator {
          public:
            explicit iterator(stream* from) : from_(from) { ++*this; }

            std::span<const pinstrike_record> operator*() const { return batch_; }

            iterator& operator++() {
                waited result = waited::timeout;
                batch_ = {};
                while (batch_.empty() && result != waited::over) {
                    result = from_->wait(std::chrono::seconds{1});
                    batch_ = result == waited::events ? from_->poll()
                                                      : std::span<const pinstrike_record>{};
                }
                return *this;
            }

            friend bool operator==(const iterator& at, std::nullptr_t /*end*/) {
                return at.batch_.empty();
            }

          private:
            stream* from_;
            std::span<const pinstrike_record> batch_;
        };

        explicit batches(stream* from) : from_(from) {}

        [[nodiscard]] iterator begin() const { return iterator{from_}; }

        [[nodiscard]] std::nullptr_t end() const { return nullptr; }

      private:
        stream* from_;
    };

    [[nodiscard]] batches each_batch() { return batches{this}; }

  private:
    struct close {
        void operator()(pinstrike_stream* owned) const { pinstrike_unsubscribe(owned); }
    };

    std::unique_ptr<pinstrike_stream, close> stream_;
    std::vector<pinstrike_record> records_;
};

/// A feed that this program is attached to.
class feed {
  public:
    /// Attaches to a feed by its name.
    explicit feed(const std::string& name) : feed_(pinstrike_open(name.c_str())) {
        detail::checked(0, feed_ == nullptr);
    }

    /// The names of the feeds that are published on this host.
    [[nodiscard]] static std::vector<std::string> names() {
        std::string text(pinstrike_feeds(nullptr, 0) + 1, '\0');
        text.resize(std::min(pinstrike_feeds(text.data(), text.size()), text.size() - 1));
        std::vector<std::string> names;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            names.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return names;
    }

    [[nodiscard]] std::string_view name() const { return pinstrike_name(feed_.get()); }

    [[nodiscard]] pinstrike_condition condition() const {
        return pinstrike_condition_of(feed_.get());
    }

    [[nodiscard]] std::int64_t start_ns() const { return pinstrike_start_ns(feed_.get()); }

    [[nodiscard]] std::uint32_t trade_date() const { return pinstrike_trade_date(feed_.get()); }

    /// Attaches to a newer start, if there is one. Throws error if it cannot be read.
    bool reattach() {
        const int result = pinstrike_reattach(feed_.get());
        return detail::checked(result, result < 0) == 1;
    }

    /// As pinstrike_chain().
    [[nodiscard]] std::vector<pinstrike_value> chain(const filter& which = {}) {
        std::vector<pinstrike_value> values(expected_);
        values.resize(chain(which, values).size());
        expected_ = values.size() + values.size() / 8 + 16;
        return values;
    }

    /// The same in a vector that is used again, and that may have more values behind those that are
    /// returned.
    std::span<const pinstrike_value> chain(const filter& which,
                                           std::vector<pinstrike_value>& values) {
        return which.use([&](const pinstrike_filter* only) {
            return detail::fill(values, [&](pinstrike_value* to, std::size_t max) {
                return pinstrike_chain(feed_.get(), only, to, max);
            });
        });
    }

    /// The state of one series; nullopt: the feed does not list it.
    [[nodiscard]] std::optional<pinstrike_value> get(const pinstrike_key& key) {
        pinstrike_value value{};
        const int found = pinstrike_get(feed_.get(), &key, &value);
        detail::checked(found, found < 0);
        return found == 1 ? std::optional{value} : std::nullopt;
    }

    /// As pinstrike_id().
    [[nodiscard]] std::uint32_t id_of(const pinstrike_key& key) {
        return pinstrike_id(feed_.get(), &key);
    }

    /// As pinstrike_subscribe(). The stream may live longer than this object.
    [[nodiscard]] client::stream subscribe(const filter& which = {}) {
        return which.use([this](const pinstrike_filter* only) {
            pinstrike_stream* const made = pinstrike_subscribe(feed_.get(), only);
            return client::stream{detail::checked(made, made == nullptr)};
        });
    }

  private:
    struct close {
        void operator()(pinstrike_feed* owned) const { pinstrike_close(owned); }
    };

    std::unique_ptr<pinstrike_feed, close> feed_;
    std::size_t expected_ = 0;  ///< values of the next chain
};

}  // namespace pinstrike::client
