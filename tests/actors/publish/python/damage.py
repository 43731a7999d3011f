#!/usr/bin/env python3
"""Reads copies of published memory with damaged bytes: damage.py LINK

Prints how many were refused and how many were read. Nothing but pinstrike.Error may happen.
"""

import os
import random
import shutil
import sys
from pathlib import Path

import pinstrike

HEADERS_BYTES = 256 + 2 * 384  # of the file and of two cores
link = Path(sys.argv[1])
folder = link.parent / "damaged"
folder.mkdir(mode=0o700)
os.environ["PINSTRIKE_FOLDER"] = str(folder)
copy = folder / "damaged.1"
shutil.copy(link.resolve(), copy)
copy.chmod(0o600)
(folder / "damaged").symlink_to(copy)
whole = copy.read_bytes()
used = [place for place in range(0, len(whole), 64) if any(whole[place:place + 64])]
chance = random.Random(1)
refused = read = 0
for _ in range(150):
    some = [chance.randrange(HEADERS_BYTES)] if chance.random() < 0.5 else [
        chance.choice(used) + chance.randrange(64) for _ in range(100)]
    with copy.open("r+b") as file:
        for place in some:
            file.seek(place)
            file.write(bytes([chance.randrange(256)]))
    try:
        feed = pinstrike.open("damaged")
        repr(feed.chain()[:100])
        for batch in feed.stream(restart_wait=0.0):  # nobody publishes, so it ends
            repr(batch.quotes[:10])
        feed.stream(on_quote=repr, on_trade=repr, on_text=repr, restart_wait=0.0).run()
        read += 1
    except pinstrike.Error:
        refused += 1
    with copy.open("r+b") as file:
        for place in some:
            file.seek(place)
            file.write(whole[place:place + 1])
print(refused, read)
