"""Asks DuckDB for the ten widest spreads of a feed: widest_spreads.py [FEED]"""

import sys

import duckdb
import pinstrike

chain = pinstrike.open(sys.argv[1] if len(sys.argv) > 1 else "demo").chain().arrow
print(duckdb.sql("""
    select root, expiration, strike, "right", bid, offer, round(offer - bid, 2) as spread
    from chain
    where not bid_stale and not offer_stale and bid is not null and offer is not null
    order by spread desc
    limit 10
"""))
