// path: cold
//
// A feed that a program is attached to: its memory, its condition, and the state of its series.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/filter.h"
#include "actors/publish/reader/mapping.h"
#include "actors/publish/reader/series_lists.h"
#include "actors/publish/reader/series_reader.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::reader {

class FeedReader {
  public:
    /// Attaches to a feed. Throws Error.
    explicit FeedReader(const std::string& name) : FeedReader(name, Mapping::open(name)) {}

    FeedReader(std::string name, std::shared_ptr<const Mapping> mapping);

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] const Mapping& mapping() const { return *mapping_; }

    /// Keeps the memory mapped.
    [[nodiscard]] std::shared_ptr<const Mapping> share_mapping() const { return mapping_; }

    /// Rises with each start that the feed was attached to.
    [[nodiscard]] std::uint64_t attachments() const { return attachments_; }

    [[nodiscard]] pinstrike_condition condition() const;

    /// Whether the writer has ended or died.
    [[nodiscard]] bool is_over() const;

    /// Attaches to another start than the present one, if there is one that is live or has ended.
    /// Throws UnreadableMemory if there is one that cannot be read. Then the old values stay.
    bool reattach();

    /// Whether the values are of a writer that has ended or died, and no newer start can be read.
    [[nodiscard]] bool is_old();

    /// Called with each series of a filter that the directory has, in the order of chains.
    using Visit = std::function<void(const CoreView& core, const Listed& series, ReadResult result,
                                     const SeriesParts& parts)>;

    /// Reads the series of a filter. Throws Error if the memory is damaged.
    void visit(const Filter& filter, const Visit& visit);

    /// The roots of a filter, for visit_roots().
    [[nodiscard]] std::vector<std::uint64_t> roots(const Filter& filter) const {
        return lists_->roots(filter);
    }

    /// Reads the series of one core that are of some roots of a filter: of the first roots, until
    /// there are `enough` series. Returns how many roots these were.
    std::size_t visit_roots(const Filter& filter, std::span<const std::uint64_t> roots,
                            const CoreView& core, std::size_t enough, const Visit& visit);

    /// The state of the series of a filter, in the order of chains, as pinstrike_chain().
    std::size_t chain(const Filter& filter, pinstrike_value* values, std::size_t max);

    /// The id of a series, also of one that is only announced; 0: it has none.
    [[nodiscard]] std::uint32_t id_of(const feed::SeriesKey& key);

    /// False: the feed does not list the series.
    bool get(const feed::SeriesKey& key, pinstrike_value& value);

  private:
    void read_selected(const Filter& filter, Patience& patience, const Visit& visit);

    std::string name_;
    std::shared_ptr<const Mapping> mapping_;
    std::unique_ptr<SeriesLists> lists_;
    std::uint64_t attachments_ = 1;
    std::vector<Listed> selected_;  ///< of the current call
};

}  // namespace pinstrike::reader
