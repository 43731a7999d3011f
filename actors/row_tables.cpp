// path: cold
#include "actors/row_tables.h"

#include "actors/book/book_counts.h"
#include "actors/peer/client_session.h"
#include "actors/peer/server_session.h"
#include "actors/peer/state_transfer.h"
#include "actors/reload/reload_counts.h"
#include "feed/history.h"
#include "feed/line_counts.h"
#include "feed/opra/opra.h"
#include "feed/recovery.h"
#include "feed/venue_codecs.h"
#include "nic/drops.h"

namespace pinstrike::actors {

std::vector<RowTable> row_tables() {
    std::vector<RowTable> tables{
        {"a port: why a packet is dropped", nic::Drop_rows},
        {"a stream of a line", feed::StreamCount_rows},
        {"a line", feed::LineCount_rows},
        {"recovery", feed::RecoveryCount_rows},
        {"recovery: why a source did not bring what it was asked for", feed::Refusal_rows},
        {"history", feed::HistoryCount_rows},
        {"peers: serving them", peer::ServerCount_rows},
        {"peers: why they are refused", peer::PeerRefusal_rows},
        {"peers: how connections end", peer::SessionEnd_rows},
        {"peers: asking one", peer::ClientCount_rows},
        {"peers: why a block of one is dropped", peer::PeerDrop_rows},
        {"peers: taking the state of series from one", peer::StateCount_rows},
        {"a book", BookCount_rows},
        {"the config", ReloadCount_rows},
    };
    feed::for_each_venue([&tables]<class Codec>() {
        tables.push_back({"a line: why a block is refused, or remarked upon", Codec::reject_rows});
    });
    return tables;
}

}  // namespace pinstrike::actors
