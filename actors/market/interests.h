// path: hot
//
// Which clients want which records. A record is made once, however many clients want it, and not
// at all if none does.
#pragma once

#include "actors/market/instruments.h"
#include "feed/dbn/schema.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// A client that gets records.
class RecordReceiver {
  public:
    virtual ~RecordReceiver() = default;
    virtual void receive(feed::dbn::Schema schema, InstrumentId id,
                         std::span<const std::byte> record) = 0;
    /// All records of an interval that ended at `end_ns` were given.
    virtual void interval_ended(feed::dbn::Schema schema, std::int64_t end_ns) = 0;
};

class Interests {
  public:
    explicit Interests(Instruments& instruments) : instruments_(instruments) {}

    // Subscriptions of a client. Those to a root or to a symbol that no series has yet apply to
    // series that come later.

    void add_all(RecordReceiver& receiver, feed::dbn::Schema schema);
    void add(RecordReceiver& receiver, feed::dbn::Schema schema, InstrumentId id);
    void add_root(RecordReceiver& receiver, feed::dbn::Schema schema, const std::string& root);
    void add_symbol(RecordReceiver& receiver, feed::dbn::Schema schema, const std::string& symbol);

    // The ends of subscriptions. A client ends its names one by one, because a search for them
    // would visit those of all clients.

    void remove(RecordReceiver& receiver, feed::dbn::Schema schema, InstrumentId id);
    /// Of series that come later; remove() ends it for those that are known.
    void remove_root(RecordReceiver& receiver, feed::dbn::Schema schema, const std::string& root);
    void remove_symbol(RecordReceiver& receiver, feed::dbn::Schema schema,
                       const std::string& symbol);
    /// All series of a schema.
    void remove_schema(RecordReceiver& receiver, feed::dbn::Schema schema);
    /// All series of all schemas.
    void remove(RecordReceiver& receiver);

    /// A series became known: gives it the subscriptions to its root and its symbol.
    void on_new(InstrumentId id);

    /// All series were forgotten: subscriptions to ids alone end with them.
    void clear_series();

    [[nodiscard]] bool wants(feed::dbn::Schema schema, const Instrument& instrument) const {
        return !everything_[index(schema)].empty() || (instrument.schemas & bit(schema)) != 0;
    }

    /// Whether a client follows the series, in any schema.
    [[nodiscard]] bool follows(const Instrument& instrument) const {
        return instrument.schemas != 0 || has_everything_;
    }

    [[nodiscard]] bool wants_any(feed::dbn::Schema schema) const {
        return counts_[index(schema)] != 0;
    }

    /// Gives a record to each client that wants it, once.
    void deliver(feed::dbn::Schema schema, InstrumentId id, const Instrument& instrument,
                 std::span<const std::byte> record) const {
        for (RecordReceiver* receiver : everything_[index(schema)]) {
            receiver->receive(schema, id, record);
        }
        if ((instrument.schemas & bit(schema)) != 0) {
            deliver_listed(schema, id, instrument, record);
        }
    }

    /// Tells each client of the schema that an interval ended.
    void end_interval(feed::dbn::Schema schema, std::int64_t end_ns) const;

  private:
    struct Interest {
        RecordReceiver* receiver;
        std::uint16_t schemas;
    };

    using Wanted =
        std::set<std::pair<RecordReceiver*, std::uint16_t>>;  ///< receiver and schema bit

    [[nodiscard]] static std::size_t index(feed::dbn::Schema schema) {
        return static_cast<std::size_t>(schema);
    }

    [[nodiscard]] static std::uint16_t bit(feed::dbn::Schema schema) {
        return static_cast<std::uint16_t>(1U << index(schema));
    }

    void deliver_listed(feed::dbn::Schema schema, InstrumentId id, const Instrument& instrument,
                        std::span<const std::byte> record) const;
    void add_bits(RecordReceiver& receiver, std::uint16_t schemas, InstrumentId id);
    void add_to_list(Instrument& instrument, RecordReceiver& receiver, std::uint16_t schemas);
    void remove_bits(RecordReceiver& receiver, std::uint16_t schemas, InstrumentId id);
    static void remove_name(std::unordered_map<std::string, Wanted>& table,
                            RecordReceiver& receiver, feed::dbn::Schema schema,
                            const std::string& name);
    void remove_ids(RecordReceiver& receiver, std::uint16_t schemas);
    void count(RecordReceiver& receiver, feed::dbn::Schema schema);
    void note_everything();

    Instruments& instruments_;
    std::array<std::vector<RecordReceiver*>, feed::dbn::schemas_count> everything_;
    bool has_everything_ = false;  ///< a client follows all series in a schema
    std::array<std::size_t, feed::dbn::schemas_count> counts_{};  ///< subscriptions so far
    std::vector<std::vector<Interest>> lists_{1};                 ///< the first is unused
    std::vector<std::uint32_t> free_lists_;
    std::unordered_map<std::string, Wanted> roots_;
    std::unordered_map<std::string, Wanted> symbols_;
    std::map<RecordReceiver*, std::vector<bool>> ids_of_;  ///< which series each client follows
};

}  // namespace pinstrike::actors
