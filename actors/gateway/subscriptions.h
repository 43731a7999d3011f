// path: cold
//
// What one client has subscribed: symbols become series and interests in their records.
#pragma once

#include "actors/gateway/client_keys.h"
#include "actors/gateway/protocol.h"
#include "actors/market/interests.h"
#include "actors/market/market.h"
#include "feed/dbn/records.h"
#include "feed/dbn/schema.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway {

/// Series of one subscription.
struct Selection {
    bool everything = false;
    std::vector<InstrumentId> ids;  ///< rising, those that are known
};

/// "AAPL.OPT" as "AAPL"; empty: no parent symbol.
[[nodiscard]] std::string root_of_parent(std::string_view symbol);

/// Series of one schema, as a client named them.
struct NamedSeries {
    bool everything = false;
    std::set<std::string> roots;
    std::set<std::string> symbols;
    std::set<InstrumentId> numbers;

    void add(feed::dbn::SymbolType type, const std::string& symbol);

    [[nodiscard]] bool empty() const {
        return !everything && roots.empty() && symbols.empty() && numbers.empty();
    }

    /// Whether one of the names is the series', apart from `everything`: two may have the same one.
    [[nodiscard]] bool names(const Instruments& instruments, InstrumentId id) const;
};

class Subscriptions {
  public:
    /// All references must outlive the object.
    /// `served`: the roots that the gateway serves; none: all.
    Subscriptions(RecordReceiver& receiver, Market& market, const ClientKey& key,
                  const std::vector<std::string>& served)
        : receiver_(receiver), market_(market), key_(key), served_(served) {}

    ~Subscriptions() { remove_all(); }

    Subscriptions(const Subscriptions&) = delete;
    Subscriptions& operator=(const Subscriptions&) = delete;

    /// Why a symbol is refused (the key does not allow it, or it is malformed); empty: it is not.
    [[nodiscard]] std::string objection_to(const std::string& symbol, feed::dbn::SymbolType type);

    /// Subscribes all symbols without an objection, and returns their series.
    Selection add(feed::dbn::Schema schema, const SymbolList& list);

    /// Ends subscriptions, and returns the series that no other one of the schema has. A symbol
    /// that was not subscribed is passed over.
    Selection remove(feed::dbn::Schema schema, const SymbolList& list);

    void remove_all();

    [[nodiscard]] bool has(feed::dbn::Schema schema) const {
        return !followed_[static_cast<std::size_t>(schema)].empty();
    }

    /// Whether the client has subscribed a known series.
    [[nodiscard]] bool follows(feed::dbn::Schema schema, InstrumentId id) const {
        const NamedSeries& followed = followed_[static_cast<std::size_t>(schema)];
        return followed.everything || followed.names(market_.instruments(), id);
    }

    /// What ALL_SYMBOLS means; nullopt: all roots.
    [[nodiscard]] std::optional<std::vector<std::string>> roots_of_all() const;

    /// All series of a schema, or of these those of `only`.
    [[nodiscard]] Selection all_of(feed::dbn::Schema schema, const CoreSeries* only = nullptr);

    /// How the client named a series: the most exact of its subscriptions.
    [[nodiscard]] std::pair<feed::dbn::SymbolType, std::string> in_symbol_of(InstrumentId id);

    /// Different symbols so far.
    [[nodiscard]] std::size_t names_count() const;

    /// The schemas of accepted subscriptions so far, separated by blanks.
    [[nodiscard]] std::string schemas_text() const;
    /// The underlyings of accepted subscriptions so far; nothing: all.
    [[nodiscard]] std::optional<std::size_t> underlyings_count() const;

  private:
    void add_symbol(feed::dbn::Schema schema, feed::dbn::SymbolType type,
                    const std::string& symbol);
    Selection remove_schema(feed::dbn::Schema schema);
    void add_everything(feed::dbn::Schema schema);
    void add_root(feed::dbn::Schema schema, const std::string& root);
    [[nodiscard]] std::vector<InstrumentId> ids_of(const std::set<std::string>& symbols);
    [[nodiscard]] std::vector<InstrumentId> ids_of(const NamedSeries& named,
                                                   const std::vector<InstrumentId>& of_symbols);

    RecordReceiver& receiver_;
    Market& market_;
    const ClientKey& key_;
    const std::vector<std::string>& served_;
    std::array<NamedSeries, feed::dbn::schemas_count> followed_;
    std::set<std::string> symbols_;  ///< of all schemas so far
    std::unordered_set<InstrumentId> numbers_;
    std::set<std::string> roots_;        ///< subscribed as parents
    std::set<std::string> underlyings_;  ///< of all subscriptions so far
    std::set<feed::dbn::Schema> schemas_;
    bool all_ = false;
};

}  // namespace pinstrike::actors::gateway
