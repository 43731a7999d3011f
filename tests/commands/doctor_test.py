#!/usr/bin/env python3
"""`pinstrike doctor` as a user runs it: table, JSON, exit status, and a script that is sound shell.

    doctor_test.py PINSTRIKE SOURCE_FOLDER

Nothing here changes the host: the script is checked, and run only with every command replaced by one
that records its arguments.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PINSTRIKE, SOURCE = sys.argv[1], Path(sys.argv[2])
CONFIGS = [SOURCE / "config" / f"{name}.yaml" for name in ("demo", "uring", "af_xdp", "opra",
                                                           "opra_full_rate")]
SEVERITIES = ("ok", "unknown", "advice", "warning", "error")


def doctor(*arguments, **options):
    return subprocess.run([PINSTRIKE, "doctor", *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, check=False, **options)


def findings(*arguments):
    result = doctor("--json", *arguments)
    return result, {row["id"]: row for row in json.loads(result.stdout)["findings"]}


class Doctor(unittest.TestCase):
    def test_table_fits_80_columns_and_says_the_sum(self):
        for configs in ([], *([config] for config in CONFIGS)):
            result = doctor(*configs)
            self.assertIn(result.returncode, (0, 1), result.stderr)
            self.assertEqual(result.stderr, "")
            lines = result.stdout.splitlines()
            for line in lines:
                # Text without blanks is not broken, because users copy paths and commands.
                words = line.split()
                self.assertTrue(len(line) <= 80 or len(words) == 1, line)
            self.assertRegex(lines[-1], r"^\d+ error, \d+ warning, \d+ advice, "
                                        r"\d+ cannot be judged, \d+ ok$")

    def test_json_is_the_same_and_gives_the_exit_status(self):
        for configs in ([], *([config] for config in CONFIGS)):
            result, rows = findings(*configs)
            whole = json.loads(result.stdout)
            self.assertEqual(result.stdout, result.stdout.encode("ascii").decode())
            worst = max((SEVERITIES.index(row["severity"]) for row in rows.values()))
            self.assertEqual(whole["worst"], SEVERITIES[worst])
            self.assertEqual(result.returncode, 1 if worst > SEVERITIES.index("advice") else 0)
            self.assertEqual(sum(whole["counts"].values()), len(whole["findings"]))
            self.assertEqual(len(rows), len(whole["findings"]), "an id twice")
            table = " ".join(doctor(*configs).stdout.split())
            for row in rows.values():
                self.assertIn(" ".join(row["what"].split()), table)

    def test_it_sees_this_machine(self):
        _, rows = findings(SOURCE / "config" / "opra.yaml")
        seen = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        if seen.exists():
            self.assertIn(seen.read_text().strip(), rows["clock_source"]["seen"])
        online = Path("/sys/devices/system/cpu/online").read_text().strip()
        if online == "0" or online == "0-1":  # the config uses cpus 2 to 7
            self.assertEqual(rows["processors"]["severity"], "error")
            self.assertIn("cpu 7 of core3 not online", rows["processors"]["seen"])
        if not Path("/sys/bus/pci/devices/0000:3b:00.0").exists():
            self.assertEqual(rows["binding.0000:3b:00.0"]["severity"], "error")
        free = os.statvfs("/var/log")
        total = free.f_blocks * free.f_frsize // 2**20
        self.assertIn(f"of {total:,} MiB", rows["disk./var/log"]["seen"])

    def test_the_disk_of_a_recording_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "feed.yaml"
            config.write_text("lines: 1\nports: [{name: p, kind: sim}]\npollers: [{name: q, wait: park}]\n"
                              "cores: [{name: c, wait: park}]\ntraffic: {rate_messages_per_second: 10}\n"
                              f"record: {{folder: {folder}/record, segment: 4MiB, free: 0B}}\n")
            _, rows = findings(config)
            if "too little free space" in rows["record_speed.opra"]["seen"]:
                self.skipTest("no space for the measurement")
            self.assertIn("measured with", rows["record_speed.opra"]["seen"])
            self.assertEqual(rows["record_speed.opra"]["severity"], "ok")
            self.assertIn(folder, rows["record_direct.opra"]["seen"])
            self.assertEqual(rows["record_space.opra"]["severity"], "ok")
            self.assertEqual(rows["record_folder.opra"]["severity"], "advice")
            self.assertIn(f"ReadWritePaths={folder}/record", doctor("--fix-script", config).stdout)
            self.assertEqual(findings("--rate", "1e12", config)[1]["record_speed.opra"]["severity"], "warning")
            self.assertEqual(os.listdir(folder), ["feed.yaml"])

    def test_without_config_it_says_what_was_not_judged(self):
        _, rows = findings()
        self.assertEqual(rows["config"]["severity"], "unknown")
        self.assertNotIn("isolcpus", rows)

    def test_a_uring_port_brings_the_kernels_limits(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f.yaml"
            path.write_text("lines: 1-8\nports: [{name: p, kind: uring, interface: lo}]\n"
                            "pollers: [{name: q, cpu: 0}]\ncores: [{name: c}]\n")
            _, rows = findings(path)
        rmem = int(Path("/proc/sys/net/core/rmem_max").read_text())
        self.assertEqual(rows["rmem_max"]["seen"], f"{rmem:,}")
        self.assertEqual(rows["rmem_max"]["wanted"], f"{64 << 20:,} or more")
        self.assertEqual(rows["nofile"]["wanted"], f"{8 * 2 + 128} or more")
        self.assertEqual(rows["interface.lo"]["severity"], "error")  # lo has no MULTICAST
        self.assertEqual(rows["interface.lo"]["fix"]["command"],
                         "ip link set dev lo multicast on")

    def test_wrong_configs_are_78_and_nothing_else_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f.yaml"
            path.write_text("lines: x\n")
            result = doctor(path, SOURCE / "config" / "demo.yaml")
            self.assertEqual((result.returncode, result.stdout), (78, ""))
            self.assertIn(f"{path}:1:8: lines", result.stderr)
        self.assertEqual(doctor("/nonexistent.yaml").returncode, 78)
        self.assertEqual(doctor("--json", "--fix-script").returncode, 2)

    def test_full_standard_output_is_reported(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([PINSTRIKE, "doctor"], stdout=full, stderr=subprocess.PIPE,
                                    text=True, timeout=300, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output: No space left on device", result.stderr)


class FixScript(unittest.TestCase):
    def test_is_sound_shell_with_a_block_for_each_fix(self):
        for configs in ([], *([config] for config in CONFIGS)):
            script = doctor("--fix-script", *configs).stdout
            self.assertIn("\nset -eu\n", script)
            for shell in (["bash", "-n"], ["sh", "-n"]):
                subprocess.run(shell, input=script, text=True, check=True)
            _, rows = findings(*configs)
            for row in rows.values():
                block = f"# --- {row['severity']}: {row['id']} ---\n"
                wanted = SEVERITIES.index(row["severity"]) > 1 and \
                    (row["fix"]["command"] or row["fix"]["advice"])
                self.assertEqual(block in script, bool(wanted), row["id"])
                for line in row["fix"]["until_boot"] + row["fix"]["kept"] if wanted else []:
                    self.assertIn(f"\n{line}\n", script)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_passes_shellcheck(self):
        for config in CONFIGS:
            script = doctor("--fix-script", config).stdout
            done = subprocess.run(["shellcheck", "-"], input=script, text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_may_be_run_again(self):
        """Runs the script twice in a folder of its own, with commands that only record their arguments."""
        script = doctor("--fix-script", SOURCE / "config" / "af_xdp.yaml").stdout
        with tempfile.TemporaryDirectory() as folder:
            for place in ("etc", "proc", "sys"):
                script = script.replace(f"/{place}/", f"{folder}/{place}/")
            for line in script.splitlines():  # the kernel's files exist already
                if line.startswith("set_value "):
                    Path(line.split()[1]).parent.mkdir(parents=True, exist_ok=True)
            commands = Path(folder) / "bin"
            commands.mkdir()
            for name in ("sysctl", "update-grub", "systemctl", "modprobe", "driverctl", "apt-get",
                         "ip"):
                (commands / name).write_text("#!/bin/sh\n")
            (commands / "id").write_text("#!/bin/sh\necho 0\n")
            for command in commands.iterdir():
                command.chmod(0o755)
            seen = []
            for _ in range(2):
                done = subprocess.run(["sh"], input=script, text=True, capture_output=True,
                                      check=False, cwd=folder,
                                      env={"PATH": f"{commands}:/usr/bin:/bin"})
                self.assertEqual(done.returncode, 0, done.stderr)
                seen.append({path: path.read_text() for path in Path(folder).rglob("*")
                             if path.is_file()})
            self.assertEqual(seen[0], seen[1])
            grub = Path(folder) / "etc/default/grub.d/pinstrike-isolcpus.cfg"
            if grub.exists():
                self.assertRegex(grub.read_text(), r'^GRUB_CMDLINE_LINUX_DEFAULT="'
                                 r'\$GRUB_CMDLINE_LINUX_DEFAULT isolcpus=[a-z_,]+[0-9,-]+"\n$')

    def test_names_from_a_config_stay_words(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "mark"
            path = Path(folder) / "f.yaml"
            path.write_text("lines: 1\nports: [{name: p, kind: uring, "
                            f"interface: \"$(touch {mark})\"}}]\n"
                            "pollers: [{name: q}]\ncores: [{name: c}]\n")
            result = doctor("--fix-script", path)
            if result.returncode == 78:
                return  # a config with such a name is refused
            # Only the blocks of the script, with every command replaced.
            body = result.stdout[result.stdout.index("\n# ---"):]
            fakes = "".join(f"{name}() {{ :; }}\n" for name in (
                "set_value", "keep", "boot_parameters", "sysctl", "ip", "systemctl", "modprobe",
                "driverctl", "update-grub", "apt-get", "command"))
            subprocess.run(["bash"], input=fakes + body, text=True, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={"PATH": "/nonexistent"}, executable="/bin/bash")
            self.assertFalse(mark.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
