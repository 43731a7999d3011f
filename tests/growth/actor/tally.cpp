// path: mixed, cold: on_stop() and TallyKind
#include "actors/tally/tally.h"

#include "actors/core/actor_kind.h"
#include "config/section.h"

#include <fstream>
#include <memory>

namespace pinstrike::actors {

void Tally::on_events(EventBatch batch) {
    for (const feed::Event& event : batch) {
        if (event.header.kind == feed::EventKind::quote) {
            counters_.bump(TallyCount::quotes);
            line_ = event.header.line;
        }
        if (seen_.size() < seen_.capacity()) {
            seen_.push_back(event);  // tidy: allowed, within the capacity
        }
    }
}

/// Answers the thread that talks to peers. The state is one series with the number of quotes.
std::size_t Tally::answer() {
    if (!rings_) {
        return 0;
    }
    std::size_t done = 0;
    for (; !rings_->in.peek(1).empty(); ++done) {
        StateRecord record = rings_->in.peek(1).front();
        rings_->in.release(1);
        if (record.kind == StateRecord::Kind::series) {
            std::uint64_t& taken =
                taken_[static_cast<std::size_t>(record.key.strike_e8) % taken_.size()];
            counters_.bump(TallyCount::taken_quotes, record.quotes - taken);
            taken = record.quotes;
        } else if (record.kind == StateRecord::Kind::round) {
            send(record);
        } else if (record.kind == StateRecord::Kind::give) {
            StateRecord state;
            state.line = line_;
            state.quotes = static_cast<std::uint32_t>(counters_.read(TallyCount::quotes));
            state.key.name = 0x1A12'4C20'2020'2054;  // "T", 18 December 2026
            state.key.strike_e8 = index_;
            send(state);
            counters_.bump(TallyCount::given_states);
            record.kind = StateRecord::Kind::end;
            send(record);
        }
    }
    return done;
}

void Tally::send(const StateRecord& record) {
    if (StateRecord* const slot = rings_->out.claim(1)) {
        *slot = record;
        rings_->out.publish();
    }
}

// --- cold ---

void Tally::on_stop() {
    if (config_.file.empty()) {
        return;
    }
    std::ofstream out(config_.file + "." + core_);
    for (const feed::Event& event : seen_) {
        const feed::Header& header = event.header;
        switch (header.kind) {
            case feed::EventKind::quote:
            case feed::EventKind::series_map:
                out << header.type << ' ' << header.line << ' ' << header.number() << ' '
                    << std::string_view{event.body.series.bytes().data(), 5} << ' '
                    << event.body.series.strike_e8 / 100'000'000 << ' ' << header.ts_exchange_ns
                    << '\n';
                break;
            case feed::EventKind::gap:
                out << "gap " << header.line << ' ' << event.body.gap.first << ' '
                    << event.body.gap.last << ' ' << event.body.gap.messages << '\n';
                break;
            case feed::EventKind::control:
                out << header.type << ' ' << header.line << ' ' << header.number() << '\n';
                break;
            default:
                break;
        }
    }
}

namespace {

class TallyKind final : public ActorKind {
  public:
    [[nodiscard]] std::string_view name() const override { return TallyConfig::kind; }

    [[nodiscard]] std::string_view sentence() const override { return "a list of what came"; }

    [[nodiscard]] std::unique_ptr<Actor> make(const ActorSetup& setup) const override {
        return std::make_unique<Tally>(setup.configs.get<TallyConfig>());
    }

    [[nodiscard]] std::size_t bytes(const ActorSetup& setup) const override {
        return setup.configs.get<TallyConfig>().capacity * sizeof(feed::Event);
    }

    [[nodiscard]] std::optional<ActorSection> section() const override {
        Section<TallyConfig> section{"the tally"};
        section
            .key("capacity", &TallyConfig::capacity, integer<std::size_t>(1, 1'000'000),
                 "Events that a tally keeps.")
            .unit("events")
            .key("file", &TallyConfig::file, or_word<std::string>("none", "", text()),
                 "Base of the names of the files with the events.");
        return actor_section(section, "What a tally keeps.");
    }

    [[nodiscard]] std::vector<ActorTable> tables() const override { return {tally_counters}; }

    [[nodiscard]] std::vector<std::string_view> account_rows() const override {
        return {"tallied_quotes"};
    }

    [[nodiscard]] std::size_t transfer_bytes(bool /*takes*/) const override {
        return StateRings::bytes();
    }
};

}  // namespace

const ActorKind& tally_kind() {
    static const TallyKind kind;
    return kind;
}

}  // namespace pinstrike::actors
