#!/usr/bin/env python3
"""`pinstrike check` as a user runs it: exit statuses, places, schema.

    check_test.py PINSTRIKE SOURCE_FOLDER
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PINSTRIKE, SOURCE = sys.argv[1], Path(sys.argv[2])


def run(*arguments):
    return subprocess.run([PINSTRIKE, "check", *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, check=False)


def keys():
    text = subprocess.run([PINSTRIKE, "explain", "--json"], capture_output=True, text=True,
                          timeout=300, check=True).stdout
    return [one["name"] for one in json.loads(text)
            if one["kind"] == "key" and not one["name"].startswith(("gateway", "bridge", "kafka"))]


class Check(unittest.TestCase):
    def check_text(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f.yaml"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            result = run(*options, path)
            result.stderr = result.stderr.replace(str(path), "f.yaml")
            return result

    def test_examples_are_sound_and_printed_whole(self):
        for name in ("demo", "uring", "af_xdp", "opra"):
            result = run("--config-only", SOURCE / "config" / f"{name}.yaml")
            self.assertEqual((result.returncode, result.stderr), (0, ""), name)
            printed = result.stdout
            self.assertIn("ring_slots: 262144\n", printed)
            # The output is a config, equal to the input.
            again = self.check_text(printed, "--config-only")
            self.assertEqual((again.returncode, again.stderr), (0, ""), name)
            self.assertEqual(again.stdout, printed)
            # Threads, rings and memory, as comments.
            comments = [line[2:].split()[0] for line in printed.splitlines() if line[:1] == "#"]
            for word in ("port", "poller", "ring", "core", "memory"):
                self.assertIn(word, comments)

    def test_a_recording_takes_so_much_a_day(self):
        sim = ("lines: 1-2\nports: [{name: p, kind: sim}]\npollers: [{name: q}]\ncores: [{name: c}]\n"
               "traffic: {lines_count: 2, rate_messages_per_second: 1000000}\n"
               "record: {folder: /tmp, keep_bytes: 1GiB}\n")
        printed = self.check_text(sim).stdout
        self.assertIn("# recording of 1,000,000 messages/s on average: about 116.0 MB/s, 2714.4 GB", printed)
        self.assertIn("# recording is kept for about 0.0 days, because of record.keep_bytes\n", printed)
        self.assertIn("# recorded state: up to 60,000,000 messages since the last snapshot, which are read in about "
                      "12.0 s (record.snapshot_interval)\n", printed)
        printed = self.check_text(sim, "--rate", "1000", "--config-only").stdout
        self.assertIn("about 0.1 MB/s, 2.7 GB in a trading day", printed)
        self.assertIn("for about 0.4 days", printed)
        live = sim.replace("kind: sim", "kind: uring, interface: lo").replace("traffic", "# traffic")
        self.assertIn("`pinstrike check --rate N`", self.check_text(live, "--config-only").stdout)
        self.assertEqual(self.check_text(sim, "--rate", "0").returncode, 2)

    def test_a_gateway_is_checked_too(self):
        result = run(SOURCE / "config" / "gateway.yaml")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("connections_max: 1000\n", result.stdout)
        self.assertIn("# 1 keys\n", result.stdout)
        with tempfile.TemporaryDirectory() as folder:
            keys_file = Path(folder) / "my.example"
            keys_file.write_text((SOURCE / "config" / "gateway.keys.example").read_text())
            result = self.check_text(f"feed: demo\naddress: 192.0.2.1:13000\nkeys: {keys_file}\n")
            self.assertEqual(result.returncode, 0)
            self.assertIn("is not this host's loopback", result.stdout)
            self.assertIn("has a published key, for trials only", result.stdout)
            own = keys_file.rename(Path(folder) / "my.keys")
            own.chmod(0o644)
            result = self.check_text(f"feed: demo\nkeys: {own}\nport: 5\n")
            self.assertEqual(result.returncode, 78)
            self.assertIn("f.yaml:3:1: port", result.stderr)
            result = self.check_text(f"feed: demo\nkeys: {own}\n")
            self.assertEqual(result.returncode, 78)
            self.assertIn("with mode 0644, expected 0600", result.stderr)

    def test_a_kafka_producer_is_checked_too(self):
        result = run(SOURCE / "config" / "kafka.yaml")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("message_records: 100\n", result.stdout)
        with tempfile.TemporaryDirectory() as folder:
            properties = Path(folder) / "my.properties"
            properties.write_text("acks=1\n")
            properties.chmod(0o600)
            text = "feed: demo\nbrokers: k1:9092\ntopics: [{schema: cmbp-1}]\n"
            result = self.check_text(text)
            self.assertEqual(result.returncode, 0)
            self.assertIn("without security.protocol", result.stdout)
            result = self.check_text(f"{text}properties: {properties}\n")
            self.assertEqual(result.returncode, 78)
            self.assertIn(f"{properties}:1: acks: found a property that this program sets itself", result.stderr)
            result = self.check_text(f"{text}linger: 1h\n")
            self.assertEqual(result.returncode, 78)
            self.assertIn("f.yaml:4:9: linger", result.stderr)

    def test_host_that_cannot_run_it(self):
        text = ("lines: 1\nports: [{name: p, kind: pcap, files: [/nonexistent.pcap]}]\n"
                "pollers: [{name: q, cpu: 4095}]\ncores: [{name: c}]\n")
        result = self.check_text(text)
        self.assertEqual(result.returncode, 78)
        self.assertIn("q: cpu 4095 is not one that this process may use", result.stderr)
        self.assertIn("port p: /nonexistent.pcap cannot be read", result.stderr)
        self.assertEqual(self.check_text(text, "--config-only").returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            result = self.check_text(text.replace("/nonexistent.pcap", folder).replace(", cpu: 4095", ""))
        self.assertEqual(result.returncode, 78)
        self.assertIn(f"{folder}: the folder has no capture", result.stderr)

    def test_hugepages_for_scripts(self):
        port = "{name: p, kind: dpdk, vdev: net_null0, membership: static%s}"
        text = "lines: 1\nports: [" + port + "]\npollers: [{name: q}]\ncores: [{name: c}]\n"
        result = self.check_text(text % "", "--hugepages")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"^any [1-9]\d*\n$")
        # The same figure as in the text.
        self.assertIn(f"= {result.stdout.split()[1]} hugepages of 2 MiB",
                      self.check_text(text % "", "--config-only").stdout)
        for other in (text % ", hugepages: false", text.replace(port, "{name: s, kind: sim}")):
            result = self.check_text(other, "--hugepages")
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        published = text.replace(port, "{name: s, kind: sim}") + "publish: {memory: hugetlbfs}\n"
        result = self.check_text(published, "--hugepages")
        self.assertRegex(result.stdout, r"^any [1-9]\d*\n$")
        self.assertIn(f"published memory {result.stdout.split()[1]} hugepages of 2 MiB",
                      self.check_text(published, "--config-only").stdout)
        self.assertEqual(self.check_text(published.replace("hugetlbfs", "shm"), "--hugepages").stdout, "")
        self.assertEqual(self.check_text("lines: x\n", "--hugepages").returncode, 78)
        self.assertEqual(run("--hugepages").returncode, 2)

    def test_other_commands_refuse_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f.yaml"
            path.write_text("lines: x\n")
            result = subprocess.run([PINSTRIKE, "run", path], capture_output=True, text=True,
                                    timeout=300, check=False)
            self.assertEqual(result.returncode, 78)
            self.assertIn(f"{path}:1:8: lines: found \"x\"", result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 4)

    def test_every_problem_at_once_with_its_place(self):
        result = self.check_text("nmae: x\nlines: 1\nports: [{name: p, kind: sim}]\n"
                                 "pollers: [{name: q, cpu: 1}]\ncores: [{name: c, cpu: 1}]\n"
                                 "ring_slots: 7\n")
        self.assertEqual(result.returncode, 78)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.splitlines(), [
            'f.yaml:1:1: nmae: found an unknown key, expected one of a feed; '
            'did you mean "name"?',
            'f.yaml:5:24: cores[0].cpu: found cpu 1 again, expected a processor for each: '
            'pollers[0].cpu has it',
            'f.yaml:6:13: ring_slots: found "7", expected a power of two from 1024 to 268435456',
        ])

    def test_sources_of_recovery(self):
        text = ("lines: 1\nports: [{name: p, kind: sim}]\npollers: [{name: q}]\n"
                "cores: [{name: c}]\nrecovery:\n  sources: [retransmission, arf, peer, %s]\n")
        result = self.check_text(text.replace(", peer, %s", ""))
        self.assertEqual(result.returncode, 78)
        self.assertIn('f.yaml:6:29: recovery.sources[1]: found "arf", expected retransmission or '
                      "peer\n", result.stderr)
        result = self.check_text(text.replace("arf, peer, %s", "retransmission"))
        self.assertIn("recovery.sources[1]: found retransmission again, expected each source once",
                      result.stderr)
        result = self.check_text(text.replace(", arf, peer, %s]", "]\n  request_after: 2ms\n  give_up_after: 2ms"))
        self.assertIn("f.yaml:8:18: recovery.give_up_after: found no more than request_after",
                      result.stderr)
        result = self.check_text(text.replace(", arf, peer, %s", ""), "--config-only")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("\nretransmission: true\n", result.stdout)
        self.assertIn("# recovery          not pinned; asks retransmission; rings ", result.stdout)

    def test_files_that_are_no_config(self):
        for text in ("", "- 1\n", "a: [", b"\xff\xfe", "a: &x\nb: *x\n", "[" * 100000):
            result = self.check_text(text)
            self.assertEqual(result.returncode, 78, text[:20])
            self.assertTrue(result.stderr.startswith("f.yaml:"), result.stderr)
        result = run("/nonexistent.yaml")
        self.assertEqual(result.returncode, 78)
        self.assertIn("cannot be read: No such file", result.stderr)

    def test_schema_is_json_and_mentions_every_key(self):
        result = run("--schema")
        self.assertEqual(result.returncode, 0)
        schema = json.loads(result.stdout)
        self.assertEqual(schema["additionalProperties"], False)
        names = set()

        def collect(node):
            if isinstance(node, dict):
                names.update(node.get("properties", {}))
                for child in node.values():
                    collect(child)
            elif isinstance(node, list):
                for child in node:
                    collect(child)

        collect(schema)
        self.assertEqual({key.split(".")[-1] for key in keys()} - names, set())

    def test_wrong_use(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("--schema", "f.yaml").returncode, 2)
        self.assertEqual(run("--nonsense").returncode, 2)
        self.assertEqual(run("--help").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
