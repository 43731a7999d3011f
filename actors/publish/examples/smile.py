"""Draws the mid prices of the expiration with most series of a root, by strike: smile.py [FEED [ROOT [FILE]]]"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pinstrike

name, root, file = [*sys.argv[1:], *["demo", "SPY", "smile.png"][len(sys.argv) - 1:]]
chain = pinstrike.open(name).chain(root)
if len(chain) == 0:
    sys.exit(f"{name} has no series of {root}")
dates, counts = np.unique(chain["expiration"], return_counts=True)
date = dates[counts.argmax()]
for right, label, colour in (("C", "calls", "tab:blue"), ("P", "puts", "tab:orange")):
    side = chain[(chain["expiration"] == date) & (chain["right"] == right)]
    mid = (side["bid"] + side["offer"]) / 2  # NaN, which is not drawn, if a side has no quote
    plt.plot(side["strike"], mid, "o-", color=colour, markersize=4, label=label)
    plt.fill_between(side["strike"], side["bid"], side["offer"], color=colour, alpha=0.2)
plt.title(f"{root}, expiration {date}")
plt.xlabel("strike (dollars)")
plt.ylabel("mid price (dollars), and the spread")
plt.legend()
plt.grid(alpha=0.3)
plt.savefig(file, dpi=120)
