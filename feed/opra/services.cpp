// path: cold
#include "feed/opra/datagram_lines.h"
#include "feed/opra/lines.h"
#include "feed/opra/opra.h"
#include "feed/opra/series_mapping.h"
#include "feed/opra/sessions.h"
#include "feed/opra/test_symbols.h"
#include "feed/venue_services.h"

#include <algorithm>

namespace pinstrike::feed::opra {

extern const VenueServices services;

namespace {

/// Only blocks that begin with a control are walked, because other blocks have the role `data`.
std::optional<BlockNumbers> numbers_of(std::span<const std::byte> payload) {
    Block block;
    if (!Codec::open(payload, true, block).accepted) {
        return std::nullopt;
    }
    Codec::Scratch scratch;
    if (!Codec::begins_with_data(block)) {
        static_cast<void>(Codec::walk(scratch, block));
    }
    const auto numbers = [&](std::uint64_t first, std::uint64_t last, bool restarts) {
        return BlockNumbers{first, last, block.session, block.ts_exchange_ns, restarts};
    };
    switch (block.role) {
        case BlockRole::data:
            return block.messages == 0
                       ? std::nullopt
                       : std::optional{
                             numbers(block.sequence, block.sequence + block.messages - 1, false)};
        case BlockRole::start_of_day:
            return numbers(1, 0, true);
        case BlockRole::reset:
            return numbers(block.sequence + 1, block.sequence, true);
        default:
            return std::nullopt;
    }
}

/// An EventSink that looks for messages about symbols, and for controls.
class SymbolSearch {
  public:
    explicit SymbolSearch(std::span<const std::uint64_t> symbols) : symbols_(symbols) {}

    [[nodiscard]] bool found() const { return found_; }

    static Event* next_slots(std::size_t /*records*/) { return nullptr; }

    static void commit(std::size_t /*messages*/, std::size_t /*records*/) {}

    void push(std::span<const Event> message) {
        found_ = found_ ||
                 (message.front().header.kind != EventKind::text &&
                  std::ranges::find(symbols_, symbol_word_of(message.front())) != symbols_.end());
    }

    void broadcast(const Event& /*control*/) { found_ = true; }

    static void filtered() {}

    [[nodiscard]] static bool wants_tests() { return true; }

  private:
    std::span<const std::uint64_t> symbols_;
    bool found_ = false;
};

Concern concern_of(std::span<const std::byte> payload, std::span<const std::uint64_t> symbols) {
    Block block;
    Codec::Scratch scratch;
    if (!Codec::check(payload, true, scratch, block).accepted ||
        block.decodable != block.messages) {
        return Concern::damaged;
    }
    SymbolSearch search{symbols};
    Codec::decode(block, 0, block.messages, Header{}, false, search);
    return search.found() ? Concern::wanted : Concern::other;
}

}  // namespace

constinit const VenueServices services{
    .name = Codec::name,
    .lines_share_groups = Codec::lines_share_groups,
    .published_lines = [] { return published_lines(published_lines()); },
    .published_line = published_line,
    .session_hours = session_hours,
    .is_test_symbol = is_test_symbol,
    .series_mapping_name = "OPRASymbolMapping_YYYYMMDD_HHMMSS.csv",
    .newest_series_mapping = newest_series_mapping,
    .read_series_mapping = read_series_mapping,
    .numbers_of = numbers_of,
    .concern_of = concern_of,
    .append_datagram = append_datagram,
};

}  // namespace pinstrike::feed::opra
