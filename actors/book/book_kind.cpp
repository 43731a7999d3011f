// path: cold
#include "actors/book/book_kind.h"

#include "actors/book/book.h"
#include "actors/book/book_json.h"
#include "config/section.h"

#include <algorithm>
#include <utility>

namespace pinstrike::actors {
namespace {

Section<BookConfig> book_section() {
    Section<BookConfig> section{"the book"};
    section
        .key("series_capacity", &BookConfig::series_capacity,
             integer<std::size_t>(1000, 100'000'000),
             "Most series that the book holds, over all cores; memory is allocated at the start.")
        .unit("series")
        .key("test_symbols", &BookConfig::test_symbols, boolean(),
             "Keep test symbols in the book; needs test_symbols of the feed.");
    return section;
}

unsigned cores_of(const ActorSetup& setup) {
    return std::max(setup.cores_count, 1U);
}

CoreShape shape_of(const ActorSetup& setup) {
    return book_shape(setup.configs.get<BookConfig>(), cores_of(setup), setup.underlyings_whole);
}

class BookKind final : public ActorKind {
  public:
    [[nodiscard]] std::string_view name() const override { return BookConfig::kind; }

    [[nodiscard]] std::string_view sentence() const override {
        return "the best bid and offer, trades and open interest of every series";
    }

    [[nodiscard]] std::unique_ptr<Actor> make(const ActorSetup& setup) const override {
        BookConfig config = setup.configs.get<BookConfig>();
        config.is_test_symbol = setup.is_test_symbol;
        return std::make_unique<Book>(config, setup.memory != nullptr
                                                  ? std::move(*setup.memory)
                                                  : CoreMemory{shape_of(setup)});
    }

    [[nodiscard]] std::optional<CoreShape> published_shape(const ActorSetup& setup) const override {
        return shape_of(setup);
    }

    [[nodiscard]] std::size_t bytes(const ActorSetup& setup) const override {
        return CoreMemory::bytes_for(shape_of(setup));
    }

    [[nodiscard]] std::optional<ActorSection> section() const override {
        return actor_section(book_section(), "What the book keeps.");
    }

    [[nodiscard]] std::vector<ActorMistake> mistakes(const ActorSetup& setup) const override {
        if (!setup.configs.get<BookConfig>().test_symbols || setup.test_symbols) {
            return {};
        }
        return {{"test_symbols",
                 "found true while the feed's test_symbols is false, expected both true or "
                 "neither"}};
    }

    [[nodiscard]] std::vector<ActorTable> tables() const override {
        return {book_gauges, book_counters};
    }

    [[nodiscard]] std::vector<std::string_view> account_rows() const override {
        return {book_account_rows.begin(), book_account_rows.end()};
    }

    [[nodiscard]] std::size_t transfer_bytes(bool takes) const override {
        return BookTransfer::memory_bytes({.takes = takes});
    }

    [[nodiscard]] std::optional<SeriesRoom> series_room(const ActorSetup& setup) const override {
        const auto config = setup.configs.get<BookConfig>();
        return SeriesRoom{config.series_capacity,
                          series_share(config, cores_of(setup), setup.underlyings_whole),
                          "book.series_capacity"};
    }

    void write_state(std::span<const Actor* const> actors, const std::string& path,
                     Problems& problems) const override {
        std::vector<const Book*> books;
        for (const Actor* actor : actors) {
            books.push_back(static_cast<const Book*>(actor));
        }
        write_books(books, path, problems);
    }
};

}  // namespace

const ActorKind& book_kind() {
    static const BookKind kind;
    return kind;
}

}  // namespace pinstrike::actors
