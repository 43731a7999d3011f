#!/usr/bin/env python3
"""Recordings: what was live works from disk; damage, crashes and full disks cost only what is stated.

    recording_test.py PINSTRIKE
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

PINSTRIKE = sys.argv[1]

# Losses on both streams, so that some messages are lost. A poller that did not run for a while holds arbitration up,
# but a replay sees that time pass, so a hole waits for a second.
CONFIG = """
name: recorded
kind: opra
lines: 1-4
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, lines: 1-2, wait: park}}, {{name: poller1, lines: 3-4, wait: park}}]
cores: [{{name: core0, wait: park}}]
arbitration: {{window: 1s, hold: 16MiB}}
record: {{folder: {folder}, segment: {segment}, memory: {memory}, free: 0B{more}}}
book: {{series_capacity: 50000}}
traffic: {{lines_count: 4, roots_count: 100, series_count: 20000, rate_messages_per_second: {rate},
  a: {{loss: 0.02{faults}}}, b: {{loss: 0.02, skew: 150us}}}}
"""
DEADLINE_S = 300  # a limit for hanging processes; a busy machine is slow


class Recording(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pinstrike-recording-")
        self.addCleanup(holder.cleanup)
        self.here = Path(holder.name)
        self.folder = self.here / "record"
        self.config = self.here / "feed.yaml"
        self.write_config()

    def write_config(self, rate=100000, memory="64MiB", segment="16MiB", more="", faults=""):
        self.config.write_text(CONFIG.format(folder=self.folder, rate=rate, memory=memory, segment=segment, more=more,
                                             faults=faults))

    def pinstrike(self, *words, status=0, environment=None):
        done = subprocess.run([PINSTRIKE, *map(str, words)], capture_output=True, text=True, check=False,
                              timeout=DEADLINE_S, env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, status, done.stderr[-4000:])
        return done

    def run_for(self, seconds):
        """The account of a run."""
        account = self.here / "live.json"
        done = self.pinstrike("run", self.config, "--for", f"{seconds}s", "--account", account)
        return json.loads(account.read_text()), done.stderr

    def start(self, *more):
        log = open(self.here / "log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        process = subprocess.Popen([PINSTRIKE, "run", self.config, "--account", self.here / "live.json", *more],
                                   stdout=subprocess.DEVNULL, stderr=log)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, what, look):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            if look():
                return
            time.sleep(0.05)
        self.fail(f"no {what}: {(self.here / 'log').read_text()[-3000:]}")

    def recorded_bytes(self):
        return sum(path.stat().st_size for path in self.segments())

    def segments(self):
        return sorted(self.folder.glob("*.pcapng"))

    def replay(self, status=0):
        account = self.here / "replay.json"
        done = self.pinstrike("replay", self.folder, "--config", self.config, "--account", account,
                              status=status)
        return json.loads(account.read_text()), done.stderr

    def info(self, what="info", status=0, *words):
        return json.loads(self.pinstrike("record", what, self.folder, "--json", *words,
                                         status=status).stdout)

    def test_replay_equals_the_live_run(self):
        live, said = self.run_for(4)
        packets = sum(port["packets"] for port in live["ports"])
        self.assertEqual(live["recording"]["recorded"], packets)
        self.assertEqual(live["recording"]["not_recorded"], 0)
        self.assertGreater(sum(line["lost"] for line in live["lines"]), 0, "nothing was lost")
        again, _ = self.replay()
        self.assertEqual(again["lines"], live["lines"])
        self.assertTrue(again["balanced"])
        self.assertIn("recorder", said)
        info = self.info()
        self.assertEqual((info["packets"], info["not_recorded"]), (packets, 0))
        self.assertEqual([row["line"] for row in info["lines"]], [1, 2, 3, 4])
        for line, row in zip(live["lines"], info["lines"]):
            self.assertEqual(row["packets"], {name: stream["packets"]
                                              for name, stream in line["streams"].items()})
        verified = self.info("verify")
        for line, row in zip(live["lines"], verified["lines"]):
            self.assertEqual(row["missing"], line["lost"])
        self.assertIn("whole", {row["state"] for row in self.info("ls")["segments"]})
        self.assertIn("poller1", self.pinstrike("record", "ls", self.folder).stdout)

    def test_first_copies_give_the_same_messages(self):
        self.write_config(more=", streams: first")
        live, _ = self.run_for(4)
        recording = live["recording"]
        packets = sum(port["packets"] for port in live["ports"])
        self.assertEqual(recording["recorded"] + recording["filtered"], packets)
        # Of a hundred packets, 2 come on one stream only.
        self.assertLess(recording["recorded"], 0.53 * packets)
        again, _ = self.replay()
        for before, now in zip(live["lines"], again["lines"], strict=True):
            for name in ("highest", "delivered", "lost", "gaps"):
                self.assertEqual(now[name], before[name], name)
            packets = [sum(stream["packets"] for stream in line["streams"].values()) for line in (now, before)]
            self.assertLess(packets[0], 0.53 * packets[1])

    def test_only_some_lines(self):
        self.write_config(more=", lines: [2, 4]")
        live, _ = self.run_for(2)
        recording = live["recording"]
        wanted = sum(stream["packets"] for line in live["lines"] if line["line"] in (2, 4)
                     for stream in line["streams"].values())
        self.assertEqual(recording["recorded"], wanted)
        self.assertEqual(recording["recorded"] + recording["filtered"],
                         sum(port["packets"] for port in live["ports"]))
        self.assertEqual([row["line"] for row in self.info()["lines"]], [2, 4])
        again, _ = self.replay()
        for before, now in zip(live["lines"], again["lines"], strict=True):
            if before["line"] in (2, 4):
                self.assertEqual(now, before)
            else:
                self.assertEqual(now["highest"], 0)

    def writes_nothing(self):
        before = self.info()["packets"]
        time.sleep(3)
        return self.info()["packets"] == before

    def ctl(self, *words, status=0):
        return self.pinstrike("ctl", self.here / "a.sock", *words, status=status)

    def test_recording_on_demand(self):
        self.write_config(more=", on_demand: true")
        process = self.start("--admin", self.here / "a.sock")
        said = (self.here / "log").read_text
        self.wait_for("running", lambda: " running " in said())
        time.sleep(1)
        self.assertEqual(self.segments(), [])
        self.assertIn("expected lines of the feed", self.ctl("record", "start", "--lines", "9", status=1).stderr)
        self.assertIn(f"recording into {self.folder}",
                      self.ctl("record", "start", "--lines", "3", "--for", "1500ms").stdout)
        self.wait_for("end of the time", lambda: "its time is over" in said())
        self.wait_for("chunk", lambda: self.segments() and self.info()["packets"] > 0)
        time.sleep(1.5)  # the last chunk is a second old
        of_line_3 = self.info()
        self.assertEqual([row["line"] for row in of_line_3["lines"]], [3])
        self.assertTrue(json.loads(self.ctl("record", "start", "--json").stdout)["done"])
        self.wait_for("other lines", lambda: len(self.info()["lines"]) == 4)
        self.ctl("record", "stop")
        self.wait_for("end of the writes", self.writes_nothing)
        packets = self.info()["packets"]
        self.assertGreater(packets, of_line_3["packets"])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=DEADLINE_S), 0, said()[-3000:])
        live = json.loads((self.here / "live.json").read_text())
        self.assertTrue(live["balanced"])
        self.assertEqual(live["recording"]["recorded"], packets)
        self.assertEqual(live["recording"]["recorded"] + live["recording"]["filtered"],
                         sum(port["packets"] for port in live["ports"]))

    def test_an_instance_without_a_recorder_says_which_key_to_set(self):
        self.config.write_text(self.config.read_text().replace("record:", "# record:"))
        process = self.start("--admin", self.here / "a.sock")
        self.wait_for("running", lambda: " running " in (self.here / "log").read_text())
        for words in (("start", "--lines", "3"), ("stop",)):
            self.assertIn("record: {on_demand: true}", self.ctl("record", *words, status=1).stderr)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=DEADLINE_S)

    @unittest.skipUnless(shutil.which("tshark"), "no tshark here")
    def test_tshark_reads_the_segments(self):
        live, _ = self.run_for(2)
        packets, interfaces = 0, set()
        for segment in self.segments():
            rows = subprocess.run(["tshark", "-r", segment, "-T", "fields", "-e", "frame.interface_name"],
                                  capture_output=True, text=True, check=True).stdout.splitlines()
            packets += len(rows)
            interfaces |= set(rows)
            facts = subprocess.run(["capinfos", "-T", "-M", "-r", "-c", "-m", segment], capture_output=True, text=True,
                                   check=True).stdout
            self.assertEqual(facts.strip().split(",")[1:], [str(len(rows))])
        self.assertEqual(packets, live["recording"]["recorded"])
        self.assertEqual(interfaces, {f"line {line} {stream}" for line in range(1, 5) for stream in "AB"})

    def test_a_kill_loses_nothing_that_was_written(self):
        process = self.start()
        self.wait_for("recording", lambda: self.recorded_bytes() > 4 << 20)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = {row["segment"]: row["packets"] for row in self.info("ls")["segments"]}
        torn = self.segments()[0]
        with open(torn, "r+b") as file:  # within its last chunk
            file.truncate(torn.stat().st_size - 3000)
        self.write_config(rate=1000)
        process = self.start()
        self.wait_for("repair", lambda: f"recording_repaired recorder: {torn}" in (self.here / "log").read_text())
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=DEADLINE_S), 0)
        after = {row["segment"]: row["packets"] for row in self.info("verify")["segments"]}
        for segment, packets in before.items():
            lost = packets - after.get(segment, 0)
            if segment != torn.name:
                self.assertEqual(lost, 0)
            self.assertLess(lost, 200)
        for segment in self.segments():  # no space stays reserved
            self.assertLess(segment.stat().st_blocks * 512, segment.stat().st_size + (1 << 20))

    def test_a_full_disk_costs_the_feed_nothing(self):
        self.folder.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128m", "pinstrike", self.folder],
                          capture_output=True, check=False).returncode != 0:
            self.skipTest("no right to mount a tmpfs")
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.folder], check=True)
        others = self.folder / "others"
        others.write_bytes(bytes(80 << 20))
        self.write_config(memory="4MiB", rate=300000)
        process = self.start()
        said = (self.here / "log").read_text
        self.wait_for("failure", lambda: "recording_failed" in said())
        time.sleep(3)
        self.assertEqual(said().count(" recording_failed "), 1)
        others.unlink()
        self.wait_for("recovery", lambda: "recording_resumed" in said())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=DEADLINE_S), 0, said()[-3000:])
        live = json.loads((self.here / "live.json").read_text())
        self.assertTrue(live["balanced"])
        self.assertGreater(live["recording"]["not_recorded"], 0)
        for port in live["ports"]:
            self.assertEqual(sum(port["dropped"].values()) + (port["missed"] or 0), 0)
        info = self.info("verify")
        self.assertEqual(info["packets"], live["recording"]["recorded"])

    def test_a_damaged_chunk_hides_nothing_behind_it(self):
        live, _ = self.run_for(3)
        segment = self.segments()[0]
        size = segment.stat().st_size
        with open(segment, "r+b") as file:
            file.seek(size // 2)
            file.write(b"?" * 64)
        again, said = self.replay(status=1)
        self.assertIn("damaged chunks of the recording were skipped", said)
        live_packets = sum(port["packets"] for port in live["ports"])
        packets = sum(port["packets"] for port in again["ports"])
        self.assertLess(packets, live_packets)
        self.assertGreater(packets, live_packets - (1 << 20) // 60)
        for before, now in zip(live["lines"], again["lines"]):
            self.assertEqual(now["highest"], before["highest"])
        damaged = self.info("verify", 1)
        self.assertGreater(damaged["damaged_bytes"], 0)

    def test_a_repair_hides_no_damage(self):
        self.write_config(rate=20000)  # one segment of each poller, however long it runs
        self.run_for(2)
        segment = self.segments()[0]
        with open(segment, "r+b") as file:
            file.seek(segment.stat().st_size // 2)
            file.write(b"?" * 64)
        Path(f"{segment}.index").unlink()
        self.pinstrike("record", "verify", self.folder, "--repair", status=1)
        info = self.info()
        self.assertGreater(info["damaged_bytes"], 0)
        self.assertEqual([row["state"] for row in info["segments"]], ["damaged", "whole"])
        said = self.pinstrike("record", "cut", self.folder, "--out", self.here / "part.pcap", status=1).stderr
        self.assertIn("are damaged", said)

    def test_a_segment_without_a_head_and_foreign_captures_hide_nothing(self):
        live, _ = self.run_for(2)
        headless = self.folder / "poller0-20991129T143000.123456789Z.pcapng"
        headless.touch()
        foreign = self.folder / "ticket.pcapng"
        foreign.write_bytes(b"no capture")
        packets = sum(port["packets"] for port in live["ports"])
        said = self.pinstrike("record", "cut", self.folder, "--out", self.here / "all.pcap", status=1).stderr
        self.assertIn(f"{packets} packets written", said)
        self.assertIn(headless.name, said)
        again, said = self.replay(status=1)
        self.assertEqual(again["lines"], live["lines"])
        self.assertIn(headless.name, said)
        self.assertIn("does not belong to the recording", self.pinstrike("record", "verify", self.folder,
                                                                         "--repair").stderr)
        self.assertFalse(headless.exists())
        self.assertTrue(foreign.exists())
        foreign.unlink()
        self.pinstrike("record", "cut", self.folder, "--out", self.here / "all.pcap")
        self.replay()

    def test_indexes_are_made_again(self):
        self.write_config(rate=20000)  # one segment of each poller, however long it runs
        self.run_for(2)
        before = self.info()
        lost, wrong = (Path(f"{segment}.index") for segment in self.segments())
        lost.unlink()
        with open(wrong, "r+b") as file:
            file.seek(40)
            file.write(b"??")
        self.assertEqual({row["state"] for row in self.info("ls")["segments"]}, {"index lost or wrong"})
        self.info("verify", 1)
        self.pinstrike("record", "verify", self.folder, "--repair")
        self.assertEqual(self.info(), before)

    def test_a_kept_segment_stays_until_it_is_released(self):
        self.write_config(segment="4MiB", more=", keep_bytes: 48MiB")
        process = self.start()
        self.wait_for("second segment of each poller", lambda: len(self.segments()) >= 4)
        kept, next_one = self.segments()[:2]
        self.pinstrike("record", "keep", kept)
        self.wait_for("removal of the next one", lambda: not next_one.exists())
        time.sleep(1.5)  # the recorder looks once a second
        self.assertTrue(kept.exists())
        self.assertIn(kept.name, {row["segment"] for row in self.info("ls")["segments"]})
        self.pinstrike("record", "release", kept)
        self.wait_for("removal of the released one", lambda: not kept.exists())
        self.assertIn(f"{kept}: ", self.pinstrike("record", "keep", kept, status=1).stderr)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=DEADLINE_S), 0, (self.here / "log").read_text()[-3000:])
        self.assertEqual(list(self.folder.glob("*.keep")), [])

    def compressed(self):
        return sorted(self.folder.glob("*.zst"))

    def record_compressed(self):
        """The account of a run of which some segments are compressed, and the others are not."""
        self.write_config(rate=300000, segment="4MiB", more=", compress: 1, compress_percent: 100")
        process = self.start()
        self.wait_for("compressed segments", lambda: len(self.compressed()) >= 3)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=DEADLINE_S), 0, (self.here / "log").read_text()[-3000:])
        return json.loads((self.here / "live.json").read_text())

    def test_compressed_segments_are_as_the_others(self):
        live = self.record_compressed()
        compressed, plain = self.compressed(), self.segments()
        self.assertTrue(plain, "the open segments are compressed")
        self.assertFalse({path.stem for path in compressed} & {path.name for path in plain})
        self.assertEqual({path.stat().st_mode & 0o777 for path in compressed}, {0o640})
        self.assertFalse(list(self.folder.glob("*.part")))
        self.assertEqual(live["recording"]["compressed"], len(compressed))
        self.assertEqual(live["recording"]["compressed_to"],
                         sum(path.stat().st_size for path in compressed))
        info = self.info("verify")
        self.assertEqual(info["packets"], live["recording"]["recorded"])
        self.assertEqual(info["uncompressed_bytes"] - info["bytes"],
                         live["recording"]["compressed_from"] - live["recording"]["compressed_to"])
        self.assertLess(live["recording"]["compressed_to"], 0.9 * live["recording"]["compressed_from"])
        again, _ = self.replay()
        self.assertEqual(again["lines"], live["lines"])
        cuts = []
        for _ in ("by the index", "without an index"):
            said = self.pinstrike("record", "cut", self.folder, "--out", self.here / "all.pcapng").stderr
            self.assertIn(f"{info['packets']} packets written", said)
            cuts.append((self.here / "all.pcapng").read_bytes())
            for segment in compressed:
                segment.with_suffix(".index").unlink(missing_ok=True)
        self.assertEqual(*cuts)
        self.pinstrike("record", "verify", self.folder, "--repair")
        self.assertEqual(self.info("verify"), info)

    def test_the_compressor_works_at_idle_priority_within_its_budget(self):
        percent = 2  # less than it needs to keep up with the recorder
        self.write_config(rate=300000, segment="4MiB",
                          more=f", compress: 1, compress_percent: {percent}, keep_bytes: 256MiB")
        process = self.start()
        self.wait_for("compressed segment", lambda: self.compressed())
        task = next(path for path in Path(f"/proc/{process.pid}/task").iterdir()
                    if (path / "comm").read_text().strip() == "compressor")
        self.assertEqual(os.sched_getscheduler(int(task.name)), os.SCHED_IDLE)

        def used_s():
            return int((task / "schedstat").read_text().split()[0]) / 1e9

        begin, used_before_s = time.monotonic(), used_s()
        # A busy machine leaves it little.
        self.wait_for("processor time of the compressor",
                      lambda: used_s() - used_before_s > 0.1 or time.monotonic() - begin > 20)
        # It sleeps after each chunk, so the latest one may be without its sleep.
        self.assertLess((used_s() - used_before_s - 0.02) / (time.monotonic() - begin), percent / 100)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=DEADLINE_S), 0, (self.here / "log").read_text()[-3000:])

    def test_a_damaged_frame_hides_nothing_behind_it(self):
        live = self.record_compressed()
        segment = self.compressed()[0]
        with open(segment, "r+b") as file:
            file.seek(segment.stat().st_size // 2)
            file.write(b"?" * 64)
        again, said = self.replay(status=1)
        self.assertIn("is damaged", said)
        for before, now in zip(live["lines"], again["lines"]):
            self.assertEqual(now["highest"], before["highest"])
        verified = self.info("verify", 1)
        lost = live["recording"]["recorded"] - verified["packets"]
        self.assertGreater(lost, 0)
        self.assertLessEqual(lost, (1 << 20) // 60)
        self.assertEqual(sum(port["packets"] for port in again["ports"]), verified["packets"])
        self.assertGreater(verified["damaged_bytes"], 0)
        said = self.pinstrike("record", "cut", self.folder, "--out", self.here / "all.pcapng", status=1).stderr
        self.assertIn(f"{verified['packets']} packets written", said)

    @unittest.skipUnless(shutil.which("tshark") and shutil.which("zstd"), "no tshark or no zstd here")
    def test_other_programs_decompress_segments(self):
        """tshark 4.0 ends early in compressed files of several frames, so zstd decompresses them for it."""
        self.record_compressed()
        packets = {row["segment"]: row["packets"] for row in self.info("ls")["segments"]}
        for segment in self.compressed()[:2]:
            plain = self.here / "plain.pcapng"
            subprocess.run(["zstd", "--decompress", "--force", "--quiet", segment, "-o", plain], check=True)
            self.assertEqual(len(self.packets_of(plain)), packets[segment.name])

    def packets_of(self, capture):
        """(time, interface, payload) of each packet as tshark shows them, in the order of the file."""
        rows = subprocess.run(["tshark", "-r", capture, "-T", "fields", "-e", "frame.time_epoch", "-e",
                               "frame.interface_name", "-e", "udp.payload"], capture_output=True, text=True,
                              check=True).stdout.splitlines()
        return [tuple(row.split("\t")) for row in rows]

    def test_a_replay_of_a_recording_is_published(self):
        """Readers find the book that the replay writes."""
        self.run_for(2)
        memory = self.here / "memory"
        memory.mkdir(mode=0o750)
        environment = {"PINSTRIKE_FOLDER": str(memory)}
        self.pinstrike("replay", self.folder, "--config", self.config, "--publish", "past", "--keep", "--book",
                       self.here / "book.json", environment=environment)
        chain = self.pinstrike("chain", "--feed", "past", "--json", environment=environment).stdout.splitlines()
        book = (self.here / "book.json").read_text().splitlines()
        counts = [sorted((row["symbol"], row["expiration"], row["right"], row["strike"], row["quotes"])
                         for row in map(json.loads, rows)) for rows in (chain, book)]
        self.assertEqual(*counts)
        self.assertGreater(len(book), 1000)

    @unittest.skipUnless(shutil.which("tshark"), "no tshark here")
    def test_a_cut_has_the_packets_of_its_range(self):
        self.run_for(3)
        all_packets = sorted((row for segment in self.segments() for row in self.packets_of(segment)),
                             key=lambda row: row[0])
        begin, end = (datetime.fromtimestamp(float(all_packets[len(all_packets) * part // 10][0]), UTC)
                      for part in (3, 6))
        out = self.here / "part.pcapng"

        def cut(*words, status=0):
            return self.pinstrike("record", "cut", self.folder, "--out", out, *words, status=status).stderr

        def wanted(selects):
            return [(row[0], row[2]) for row in all_packets if selects(Decimal(row[0]), row[1])]

        def found():
            rows = self.packets_of(out)
            self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
            return [(row[0], row[2]) for row in rows]

        self.assertIn(f"{len(all_packets)} packets written", cut())
        self.assertCountEqual(found(), wanted(lambda time, interface: True))
        # Moments to the microsecond; New York is behind UTC, and its date may be another.
        texts = [moment.isoformat()[:26] + "Z" for moment in (begin, end)]
        least, most = (Decimal(str(moment.timestamp())) for moment in (begin, end))
        for chunks in ("by the index", "without an index"):
            cut("--from", texts[0], "--to", texts[1], "--lines", "2-3", "--stream", "B")
            self.assertCountEqual(found(), wanted(lambda time, interface: least <= time < most and
                                                  interface in ("line 2 B", "line 3 B")), chunks)
            for segment in self.segments():
                Path(f"{segment}.index").unlink(missing_ok=True)
        local = [moment.astimezone(ZoneInfo("America/New_York")).isoformat()[:26] for moment in (begin, end)]
        cut("--from", local[0], "--to", local[1])
        self.assertCountEqual(found(), wanted(lambda time, interface: least <= time < most))
        self.replay_of(out)
        # A part is decoded as its cut is, and a wrong part is refused.
        part = ["--from", texts[0], "--to", texts[1], "--lines", "2-3"]
        cut(*part)
        messages = self.pinstrike("decode", self.folder, *part, "--json").stdout
        self.assertEqual(messages, self.pinstrike("decode", out, "--json").stdout)
        self.assertLess(100, messages.count("\n"))
        self.assertIn("one recording", self.pinstrike("decode", self.folder, out, *part, status=2).stderr)
        self.assertIn("expected a moment after", cut("--from", texts[1], "--to", texts[0], status=2))
        self.assertIn("expected HH:MM", cut("--from", "noon", status=2))
        self.assertIn("0 packets written", cut("--to", "1999-01-01T00:00", status=1))
        self.assertIn("cannot be read", self.pinstrike("record", "cut", self.here / "none", "--out", out,
                                                       status=1).stderr)

    def replay_of(self, capture):
        account = self.here / "cut.json"
        self.pinstrike("replay", capture, "--account", account)
        self.assertTrue(json.loads(account.read_text())["balanced"])

    def messages_of(self, *captures):
        """Of `decode`, by line: the numbers of messages, those that controls without a number state, and symbols."""
        numbers, controls, symbols = {}, {}, set()
        for text in self.pinstrike("decode", *captures, "--json", status=0).stdout.splitlines():
            row = json.loads(text)
            if "error" in row:
                continue
            if row["category"] == "H" and row["type"] in "CKN":
                controls.setdefault(row["line"], set()).add(row["seq"])
            else:
                numbers.setdefault(row["line"], set()).add(row["seq"])
                symbols.add((row["line"], row["stream"], row["seq"], row.get("symbol")))
        return numbers, controls, symbols

    def test_a_cut_by_underlyings_states_what_it_left_out(self):
        self.write_config(rate=20000)
        # Some packets are lost on both streams, also if a busy machine makes few.
        self.config.write_text(self.config.read_text().replace("loss: 0.02", "loss: 0.1"))
        self.run_for(3)
        everything, _, symbols = self.messages_of(*self.segments())
        frequent = [symbol for symbol, _ in
                    Counter(row[3] for row in symbols if row[3] is not None).most_common(12)][2:12:9]
        out = self.here / "part.pcapng"
        said = self.pinstrike("record", "cut", self.folder, "--underlyings", ",".join(frequent), "--out",
                              out).stderr
        self.assertRegex(said, r"[1-9]\d* packets of other underlyings or of no line, and 0 damaged ones left out")
        kept, controls, symbols_kept = self.messages_of(out)
        wanted = {row for row in symbols if row[3] in frequent}
        self.assertEqual({row for row in symbols_kept if row[3] in frequent}, wanted)
        self.assertLess(out.stat().st_size, 0.7 * self.recorded_bytes())
        account = self.here / "cut.json"
        self.pinstrike("replay", out, "--config", self.config, "--account", account)
        replayed = json.loads(account.read_text())
        self.assertTrue(replayed["balanced"])
        lost_of_all = left_out_of_all = 0
        for line in replayed["lines"]:
            some = kept.get(line["line"], set())
            if not some:
                continue
            there = everything[line["line"]]
            # Controls without a number state the last number before them.
            stated = controls.get(line["line"], set())
            known = range(min(some | {number + 1 for number in stated}), max(some | stated) + 1)
            lost = sum(1 for number in known if number not in there)
            left_out = sum(1 for number in known if number in there and number not in some)
            self.assertEqual((line["lost"], line.get("left_out", 0)), (lost, left_out), line["line"])
            self.assertEqual(line["delivered"], len(some))
            lost_of_all += lost
            left_out_of_all += left_out
        self.assertGreater(lost_of_all, 0)
        self.assertGreater(left_out_of_all, 0)
        self.assertIn(f"{left_out_of_all:,} messages were left out by `record cut`",
                      self.pinstrike("replay", out, "--config", self.config).stderr)
        if shutil.which("tshark"):
            comments = subprocess.run(["tshark", "-r", out, "-T", "fields", "-e", "frame.comment"],
                                      capture_output=True, text=True, check=True).stdout
            self.assertIn("left out before this packet of line ", comments)
        self.assertIn("ends in .pcapng", self.pinstrike("record", "cut", self.folder, "--underlyings", "SPY",
                                                        "--out", self.here / "x.pcap", status=2).stderr)
        self.assertIn("expected roots", self.pinstrike("record", "cut", self.folder, "--underlyings", "TOOLONG",
                                                       "--out", out, status=2).stderr)

    def test_a_cut_by_underlyings_leaves_damaged_packets_out(self):
        self.write_config(rate=20000, faults=", corrupt: 0.05")
        live, _ = self.run_for(3)
        self.assertGreater(sum(sum(port["dropped"].values()) for port in live["ports"]), 0)
        symbol = Counter(row[3] for row in self.messages_of(*self.segments())[2] if row[3]).most_common(1)[0][0]
        out = self.here / "part.pcapng"
        said = self.pinstrike("record", "cut", self.folder, "--underlyings", symbol, "--out", out).stderr
        self.assertRegex(said, r"and [1-9]\d* damaged ones left out")
        account = self.here / "cut.json"
        self.pinstrike("replay", out, "--config", self.config, "--account", account)
        replayed = json.loads(account.read_text())
        self.assertTrue(replayed["balanced"])
        self.assertEqual(sum(sum(port["dropped"].values()) for port in replayed["ports"]), 0)
        self.assertEqual(sum(replayed["rejects"].values()), 0)
        # Whole copies on the other stream say what most damaged packets held.
        gaps = {line["line"]: line["gaps"] for line in live["lines"]}
        for line in replayed["lines"]:
            lost = sum(last - first + 1 for first, last in gaps[line["line"]])
            self.assertLessEqual(line["lost"], lost)

    def test_a_cut_states_damage(self):
        self.run_for(2)
        segment = self.segments()[0]
        with open(segment, "r+b") as file:
            file.seek(segment.stat().st_size // 2)
            file.write(b"?" * 64)
        said = self.pinstrike("record", "cut", self.folder, "--out", self.here / "part.pcap", status=1).stderr
        self.assertIn(f"{segment}: ", said)
        self.assertIn("are damaged", said)
        self.assertRegex(said, r"[1-9]\d* packets written")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
