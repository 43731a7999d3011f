"""Prints the chain of a root once, then its trades until the feed ends: chain.py [FEED [ROOT]]"""

import sys

import pinstrike

name, root = [*sys.argv[1:], *["demo", "SPY"][len(sys.argv) - 1:]]
feed = pinstrike.open(name)
for series in feed.chain(root):
    print(root, series["expiration"], f"{series['strike']:.3f}", series["right"],
          f"{series['bid']:.2f} - {series['offer']:.2f}")
for batch in feed.stream(underlyings=[root]):
    for trade in batch.trades:
        print(f"trade of {trade['size']} at {trade['price']:.2f}")
    if len(batch.gaps):
        print("lost:", batch.gaps[["line", "first", "last", "cause"]])
    if len(batch.missed):
        print("this program was too slow:", batch.missed)
print(feed.name, "has", feed.state)
