// path: cold
#include "actors/topology/actor_kinds.h"

#include "actors/book/book.h"
#include "config/check.h"
#include "feed/venue_services.h"

#include <algorithm>
#include <array>

namespace pinstrike::actors {
namespace {

struct ActorKind {
    std::string_view name;
    std::string_view sentence;
    std::unique_ptr<Actor> (*make)(const FeedConfig& config);
    std::size_t (*bytes)(const FeedConfig& config);
};

std::unique_ptr<Actor> make_book_of(const FeedConfig& config) {
    BookConfig book = config.book;
    book.is_test_symbol = feed::venue_services(config.kind).is_test_symbol;
    return make_book(book, static_cast<unsigned>(config.cores.size()));
}

std::size_t book_bytes(const FeedConfig& config) {
    const auto cores = static_cast<unsigned>(config.cores.size());
    return Book::memory_bytes(config.book, cores) / std::max(cores, 1U);
}

/// Every kind of actor: one line each.
constexpr std::array kinds{
    ActorKind{"book", "the last quote and best bid and offer of every series", make_book_of,
              book_bytes},
};

const ActorKind* find(std::string_view kind) {
    const auto* found = std::find_if(kinds.begin(), kinds.end(),
                                     [=](const ActorKind& known) { return known.name == kind; });
    return found == kinds.end() ? nullptr : found;
}

}  // namespace

bool is_actor_kind(std::string_view kind) {
    return find(kind) != nullptr;
}

std::vector<ChoiceDoc> actor_kind_words() {
    std::vector<ChoiceDoc> words;
    for (const ActorKind& kind : kinds) {
        words.push_back({std::string{kind.name}, std::string{kind.sentence}});
    }
    return words;
}

std::string actor_kind_names() {
    std::string names;
    for (const ActorKind& kind : kinds) {
        names += names.empty() ? "" : ", ";
        names += kind.name;
    }
    return names;
}

std::unique_ptr<Actor> make_actor(std::string_view kind, const FeedConfig& config) {
    const ActorKind* known = find(kind);
    PINSTRIKE_CHECK(known != nullptr);
    return known->make(config);
}

std::size_t actor_bytes(std::string_view kind, const FeedConfig& config) {
    const ActorKind* known = find(kind);
    return known == nullptr ? 0 : known->bytes(config);
}

}  // namespace pinstrike::actors
