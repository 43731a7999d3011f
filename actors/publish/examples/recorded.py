"""Draws a root in the middle of a recording: recorded.py [RECORDING [ROOT [FILE]]]"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pinstrike

folder, root, file = [*sys.argv[1:], *["recording", "SPY", "recorded.png"][len(sys.argv) - 1:]]
quotes = np.concatenate(list(pinstrike.recording(folder).query(root, schema="cmbp-1")))
times = quotes["ts_recv"]
moment = times[times.size // 2]
earlier = quotes[times < moment][::-1]
chain = earlier[np.unique(earlier["symbol"], return_index=True)[1]]  # the last record of each series
dates, counts = np.unique(chain["expiration"], return_counts=True)
date = dates[counts.argmax()]
near = quotes[np.abs(times - moment) < np.timedelta64(500, "ms")]
symbols, of_symbols = np.unique(near["symbol"], return_counts=True)
series = near[near["symbol"] == symbols[of_symbols.argmax()]]
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
for letter, label, colour in (("C", "calls", "tab:blue"), ("P", "puts", "tab:orange")):
    side = np.sort(chain[(chain["expiration"] == date) & (chain["right"] == letter)], order="strike")
    left.plot(side["strike"], (side["bid_px_00"] + side["ask_px_00"]) / 2, "o-", color=colour, ms=4, label=label)
left.set(title=f"{root}, expiration {date}, at {str(moment)[:23]}Z", xlabel="strike ($)", ylabel="mid price ($)")
for name, text, colour in (("bid_px_00", "best bid", "tab:green"), ("ask_px_00", "best offer", "tab:red")):
    right.step((series["ts_recv"] - moment) / np.timedelta64(1, "ms"), series[name], where="post", c=colour, label=text)
right.axvline(0, color="grey", linestyle=":")
right.set(title=series["symbol"][0], xlabel="time from then (ms)", ylabel="price ($)")
left.legend(loc="center"), right.legend(loc="upper right")
figure.savefig(file, dpi=80)
