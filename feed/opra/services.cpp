// path: cold
#include "feed/opra/datagram_lines.h"
#include "feed/opra/lines.h"
#include "feed/opra/opra.h"
#include "feed/opra/series_mapping.h"
#include "feed/opra/sessions.h"
#include "feed/opra/test_symbols.h"
#include "feed/venue_services.h"

namespace pinstrike::feed::opra {

extern const VenueServices services;

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
    .append_datagram = append_datagram,
};

}  // namespace pinstrike::feed::opra
