// path: cold
#include "feed/toy/toy.h"
#include "feed/venue_services.h"

namespace pinstrike::feed::toy {

extern const VenueServices services;

constinit const VenueServices services{
    .name = Codec::name,
    .lines_share_groups = Codec::lines_share_groups,
    .published_lines = nullptr,
    .published_line = nullptr,
    .session_hours = nullptr,
    .is_test_symbol = nullptr,
    .series_mapping_name = {},
    .newest_series_mapping = nullptr,
    .read_series_mapping = nullptr,
    .numbers_of = nullptr,
    .concern_of = nullptr,
    .append_datagram = nullptr,
};

}  // namespace pinstrike::feed::toy
