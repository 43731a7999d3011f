// path: cold
//
// The functions of pinstrike.h. No exception leaves one of them.
#include "actors/publish/pinstrike.h"

#include "actors/publish/reader/error.h"
#include "actors/publish/reader/event_stream.h"
#include "actors/publish/reader/feed_reader.h"
#include "actors/publish/reader/value.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

struct pinstrike_feed {
    std::unique_ptr<pinstrike::reader::FeedReader> reader;
};

struct pinstrike_stream {
    pinstrike::reader::EventStream stream;
};

namespace {

using namespace pinstrike::reader;

constexpr std::ptrdiff_t failed = -1;

thread_local std::array<char, 512> latest_error{};

void note(const char* what) {
    std::snprintf(latest_error.data(), latest_error.size(), "%s", what);
}

/// The result of `body`, or of a failure, whose sentence is noted.
template <class Result, class Body>
Result guarded(Result on_failure, Body&& body) {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        note("out of memory");
    } catch (const std::exception& error) {
        note(error.what());
    }
    return on_failure;
}

template <class Object>
Object& checked(Object* object) {
    if (object == nullptr) {
        throw Error("null instead of a feed, a stream or a key");
    }
    return *object;
}

}  // namespace

const char* pinstrike_error(void) {
    return latest_error.data();
}

pinstrike_feed* pinstrike_open(const char* name) {
    return guarded<pinstrike_feed*>(nullptr, [name] {
        return new pinstrike_feed{std::make_unique<FeedReader>(std::string{&checked(name)})};
    });
}

void pinstrike_close(pinstrike_feed* feed) {
    delete feed;
}

size_t pinstrike_feeds(char* names, size_t bytes) {
    return guarded<size_t>(0, [=] {
        std::string text;
        for (const std::string& name : feed_names()) {
            text += (text.empty() ? "" : "\n") + name;
        }
        if (names != nullptr && bytes > 0) {
            names[text.copy(names, bytes - 1)] = 0;
        }
        return text.size();
    });
}

pinstrike_condition pinstrike_condition_of(pinstrike_feed* feed) {
    return guarded(PINSTRIKE_FEED_DEAD, [feed] { return checked(feed).reader->condition(); });
}

const char* pinstrike_condition_name(pinstrike_condition condition) {
    constexpr std::array names{"live", "starting", "stuck", "dead", "ended"};
    return names[std::min<std::size_t>(condition, names.size() - 1)];
}

int pinstrike_reattach(pinstrike_feed* feed) {
    return guarded(-1, [feed] { return checked(feed).reader->reattach() ? 1 : 0; });
}

int64_t pinstrike_start_ns(const pinstrike_feed* feed) {
    return guarded<int64_t>(0, [feed] { return checked(feed).reader->mapping().start_ns(); });
}

uint32_t pinstrike_trade_date(const pinstrike_feed* feed) {
    return guarded<uint32_t>(0, [feed] { return checked(feed).reader->mapping().trade_date(); });
}

const char* pinstrike_name(const pinstrike_feed* feed) {
    return feed == nullptr ? "" : feed->reader->name().c_str();
}

ptrdiff_t pinstrike_chain(pinstrike_feed* feed, const pinstrike_filter* filter,
                          pinstrike_value* values, size_t max) {
    return guarded(failed, [=] {
        const std::size_t most = values == nullptr ? 0 : max;
        return static_cast<ptrdiff_t>(checked(feed).reader->chain(Filter{filter}, values, most));
    });
}

int pinstrike_get(pinstrike_feed* feed, const pinstrike_key* key, pinstrike_value* value) {
    return guarded(-1, [=] {
        const auto series = series_key_of(checked(key));
        if (!series) {
            throw Error("a key needs a root of 1 to 5 characters, right C or P, and an expiration");
        }
        return checked(feed).reader->get(*series, checked(value)) ? 1 : 0;
    });
}

uint32_t pinstrike_id(pinstrike_feed* feed, const pinstrike_key* key) {
    return guarded<uint32_t>(0, [=] {
        const auto series = series_key_of(checked(key));
        return series ? checked(feed).reader->id_of(*series) : 0;
    });
}

pinstrike_stream* pinstrike_subscribe(pinstrike_feed* feed, const pinstrike_filter* filter) {
    return guarded<pinstrike_stream*>(nullptr, [=] {
        // With a reader of its own a stream may live longer than the feed, and in another thread.
        const FeedReader& reader = *checked(feed).reader;
        auto own = std::make_unique<FeedReader>(reader.name(), reader.share_mapping());
        return new pinstrike_stream{EventStream{std::move(own), Filter{filter}}};
    });
}

void pinstrike_unsubscribe(pinstrike_stream* stream) {
    delete stream;
}

ptrdiff_t pinstrike_snapshot(pinstrike_stream* stream, pinstrike_value* values, size_t max) {
    return guarded(failed, [=] {
        const std::vector<pinstrike_value>& snapshot = checked(stream).stream.snapshot();
        if (values != nullptr) {
            std::copy_n(snapshot.begin(), std::min(max, snapshot.size()), values);
        }
        return static_cast<ptrdiff_t>(snapshot.size());
    });
}

ptrdiff_t pinstrike_poll(pinstrike_stream* stream, pinstrike_record* records, size_t max) {
    return guarded(failed, [=] {
        return static_cast<ptrdiff_t>(
            checked(stream).stream.poll({records, records == nullptr ? 0 : max}));
    });
}

int pinstrike_wait(pinstrike_stream* stream, int64_t timeout_ns) {
    return guarded(-2, [=] { return static_cast<int>(checked(stream).stream.wait(timeout_ns)); });
}
