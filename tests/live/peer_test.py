#!/usr/bin/env python3
"""Two appliances, each on a wire of its own, and a link between them.

    peer_test.py PINSTRIKE whole|whole_kept|down|secret

Both streams of A lose packets, those of B lose none, and the traffic is the same. whole: B keeps the
traffic, and finally A has all of it and lost nothing. A records, and a replay of the recording, which has the
repaired blocks, gives the same. whole_kept: the same if B's port keeps packets for
the history and most receives return nothing. down: there is no peer, and A declares its losses exactly.
secret: the secrets differ, which both report; A declares its losses.
"""

import json
import subprocess
import sys

import live
from instance import ADDRESSES, KEEPS, METRICS, Instance, config, finish, join, packets_of, secret, serves, wait_for

ASKS = """
recovery:
  sources: [peer]
  give_up_after: {patience}
peer:
  connect: ["{connect}"]
  secret_file: {secret}
"""
RECORDS = "record: {{folder: {folder}, segment: 16MiB, free: 0B}}\n"
WHOLE = {"whole": "uring", "whole_kept": "af_xdp"}  # the port of B
TRAFFIC = ["--lines", "1-4", "--messages", "100000", "--rate", "30000", "--series", "20000",
           "--roots", "200"]


def whole(a, b):
    wait_for(lambda: "missing messages can be requested from it" in a.said(),
             lambda: "no connection: " + a.said()[-2000:])
    first = b.generate(traffic=TRAFFIC)
    second = a.generate("--loss-a", "0.1", "--loss-b", "0.1", traffic=TRAFFIC)
    finish(first)
    finish(second)
    lossy, full = a.truth(), b.truth()
    lost = sum(line["lost"] for line in lossy["lines"])
    a.wait_for_packets(packets_of(lossy))
    b.wait_for_packets(packets_of(full))
    wait_for(lambda: sum(a.values("line_repaired_messages_total")) >= lost and not any(a.values("line_lost_messages")),
             lambda: f"not all of {lost} repaired: {a.tail()}")
    a.stop()
    b.stop()
    account = a.account()
    live.expect(lost > 0, "the streams lost nothing together: the test shows nothing")
    live.compare_account(account, full)
    repaired = sum(line["repaired"] for line in account["lines"])
    dropped = received(lossy) - received(account)  # by the kernel, if the machine is busy; repaired as well
    live.expect(lost <= repaired <= lost + dropped,
                f"{repaired} repaired of {lost} lost on both streams; the kernel dropped {dropped}")
    series = live.compare_books(a.file("book.json"), b.file("truth.book.json"))
    live.compare_account(b.account(), full)
    expect_recorded(a, account)
    print(f"whole: {lost} messages lost on both streams and {dropped} dropped by the kernel; the peer repaired "
          f"{repaired}, and nothing is missing; {series} series")


def received(account):
    """Messages of all streams."""
    return sum(stream["messages"] for line in account["lines"] for stream in line["streams"].values())


def expect_recorded(a, account):
    """A replay of the recording has the account and the book of the live run."""
    def run(*words):
        done = subprocess.run([a.pinstrike, *map(str, words)], capture_output=True, text=True, check=False, timeout=300)
        live.expect(done.returncode == 0, f"{words}: {done.stderr[-3000:]}")
        return done.stdout

    folder, again, book = a.here / "record", a.here / "replay.json", a.here / "replay.book.json"
    found = json.loads(run("record", "verify", folder, "--json"))["lines"]
    live.expect(all(line["repaired"] > 0 and line["missing"] == 0 for line in found), f"in the recording: {found}")
    run("replay", folder, "--config", a.file("yaml"), "--account", again, "--book", book)
    lines = live.read_json(again)["lines"]
    live.expect(lines == account["lines"], f"replay {lines}, live {account['lines']}")
    live.compare_books(book, a.file("book.json"))


def declared(a):
    generator = a.generate("--loss-a", "0.1", "--loss-b", "0.1", traffic=TRAFFIC)
    finish(generator)
    a.wait_for_packets(packets_of(a.truth()))
    a.stop()
    live.compare_account(a.account(), a.truth())
    lost = sum(line["lost"] for line in a.account()["lines"])
    live.expect(lost > 0, "the streams lost nothing together: the test shows nothing")
    return lost


def main():
    pinstrike, scenario = sys.argv[1:3]
    here = live.folder()
    a, b = Instance("a", here, pinstrike), Instance("b", here, pinstrike)
    join(a, b)
    window = "5s" if scenario in WHOLE else "2ms"
    ours = secret(here / "ours")
    theirs = secret(here / "theirs", "fedcba9876543210fedcba9876543210")
    patience = "60s" if scenario in WHOLE else "10s"
    asks = ASKS.format(connect=ADDRESSES["b"] + ":9470", secret=ours, patience=patience)
    if scenario != "down":
        b.run(config(WHOLE.get(scenario, "uring")) + METRICS + KEEPS + "peer:"
              + serves("b", "a", theirs if scenario == "secret" else ours))
    records = RECORDS.format(folder=a.here / "record") if scenario in WHOLE else ""
    a.run(config(window=window) + METRICS + asks + records)
    if scenario in WHOLE:
        whole(a, b)
    elif scenario == "down":
        print(f"down: {declared(a)} messages declared lost, as they were")
        live.expect("it cannot be reached" in a.said(), f"not reported: {a.said()}")
    else:
        wait_for(lambda: "it refused, not_authenticated" in a.said()
                 and "refused, not_authenticated" in b.said(),
                 lambda: f"not reported: {a.said()} {b.said()}")
        for said in (a.said(), b.said()):
            live.expect("0123456789abcdef" not in said and "fedcba98" not in said, "a secret is printed")
        print(f"secret: refused and reported; {declared(a)} messages declared lost, as they were")
        b.stop()


if __name__ == "__main__":
    main()
