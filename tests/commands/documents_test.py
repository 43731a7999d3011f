#!/usr/bin/env python3
"""Every command in the documents is run, or run by another test, or marked as needing hardware that no test has.

    documents_test.py PINSTRIKE SOURCE_ROOT BUILD_ROOT

`RULES` has a way for each: it runs here, in a folder of its own in which `my.yaml` is the demonstration's config and
/etc and /usr/share are below the folder; or another test runs it, whose source must have certain words. The test fails
for a command without a rule and without the mark (documents.py). Planted commands show that it does.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from documents import commands_of, documents
from endpoint import fail, free_port
from gateway_client import KEY
from scraped import fetch, instance, wait_for

PINSTRIKE, ROOT, BUILD = (Path(word).resolve() for word in sys.argv[1:4])
# These begin like commands, but are none.
NOT_COMMANDS = ("pinstrike 0.1.0   demo   running 00:00:08",                      # the screen of `run`
                "pinstrike peer 1 client", "pinstrike peer 1 server", "kill -9")  # words on a wire, a cause


def run(words, cwd=ROOT, timeout=1800, **options):
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, timeout=timeout,
                          stdin=subprocess.DEVNULL, **options)


def subcommands():
    text = run([PINSTRIKE, "--help"]).stdout.split("Subcommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in text.splitlines()]


class Surroundings:
    """A folder in which commands run unchanged."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.port = free_port()
        self.done = {}
        self.running = contextlib.ExitStack()  # the instance for requests, once it is started
        self.runs = False
        (self.folder / "memory").mkdir(mode=0o750)
        os.environ["PINSTRIKE_FOLDER"] = str(self.folder / "memory")  # nothing is left in /dev/shm
        demo = (ROOT / "config/demo.yaml").read_text()
        address = "metrics_address: 127.0.0.1:9464"
        if address not in demo:
            fail(f"config/demo.yaml has no {address}")
        self.write("my.yaml", demo.replace(address, f"metrics_address: 127.0.0.1:{self.port}"))
        self.write("my.secret", "known to both of the pair\n")
        share = self.folder / "usr/share"
        shutil.copytree(ROOT / "deploy/systemd/rights", share / "pinstrike/rights")
        shutil.copytree(ROOT / "config", share / "doc/pinstrike/examples")
        shutil.copytree(ROOT / "config", self.folder / "config")
        for beside in ("gateway", "kafka"):
            shutil.copytree(ROOT / "config", share / f"doc/pinstrike-{beside}/examples")
        example = (ROOT / "config/gateway.yaml").read_text()
        for address in ("127.0.0.1:13000", "127.0.0.1:9465"):
            if address not in example:
                fail(f"config/gateway.yaml has no {address}")
            example = example.replace(address, f"127.0.0.1:{free_port()}")
        self.write("config/gateway.yaml", example)
        self.write("my.keys", f"keys: [{{user: trial, key: {KEY}}}]\n")
        self.write("opra.log", "")
        (self.folder / "etc/systemd/system").mkdir(parents=True)
        (self.folder / "etc/pinstrike").mkdir()
        (self.folder / "etc/pinstrike-gateway").mkdir()
        (self.folder / "etc/pinstrike-kafka").mkdir()

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def start_instance(self):
        if not self.runs:
            url = self.running.enter_context(
                instance(PINSTRIKE, self.folder / "my.yaml", self.port, 3600,
                         admin=self.folder / "admin.sock"))
            # Metrics are available before the pollers run.
            wait_for("pollers", 600, lambda: not re.search(r"^pinstrike_running_seconds\{.*\} 0$",
                                                           fetch(url), re.M))
            self.runs = True

    def stop_instance(self):
        self.running.close()
        self.runs = False

    def here(self, text):
        """The command with this folder instead of the host's, and a value for each placeholder."""
        text = re.sub(r"(?<![\w.])/(etc|usr/share)/", rf"{self.folder}/\1/", text)
        for word, value in (("HOST:9464", f"127.0.0.1:{self.port}"), ("CONFIG", "my.yaml"),
                            ("FOLDER", str(self.folder / "written")), ("PID", str(os.getpid())),
                            ("-o pinstrike ", f"-o {os.getuid()} "),
                            ("-o pinstrike-gateway ", f"-o {os.getuid()} "),
                            ("/var/lib/pinstrike-gateway/", "./"), ("explain CODE", "explain gap_declared"),
                            ("explain NAME", "explain lost"), ("--seconds 10", "--seconds 1"),
                            ("--for 20s", "--for 3s")):
            text = text.replace(word, value)
        return text

    def shell(self, text, cwd=None, good=(0,)):
        text = self.here(text)
        if text in self.done:
            return self.done[text]
        began = time.monotonic()
        done = run(["bash", "-c", text], cwd or self.folder,
                   env={**os.environ, "PATH": f"{PINSTRIKE.parent}:{os.environ['PATH']}"})
        print(f"{text} -> {done.returncode}, {time.monotonic() - began:.1f} s", flush=True)
        if done.returncode not in good:
            fail(f"{text} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
        self.done[text] = done
        return done


# ---------------------------------------------------------------- how a command is covered

def as_it_stands(place, text):
    place.shell(text)


def program(place, text):
    """Runs pinstrike; commands that would not end get a time limit."""
    words = text.split()
    if words[1] == "run":
        place.stop_instance()
        text += "" if "--for" in words else " --for 1s"
    named_alone = len(words) == 2 or (words[1] == "record" and len(words) == 3)
    if named_alone and words[1] not in ("doctor", "explain"):
        text += " --help"  # the text only mentions the command
    # doctor ends with 1 if it finds errors, and still prints its table or script.
    done = place.shell(text, good=(0, 1) if words[1] == "doctor" else (0,))
    sign = "#!/bin/sh" if "--fix-script" in words else "cannot be judged"
    if words[1] == "doctor" and sign not in done.stdout:
        fail(f"{text}: it says nothing: {done.stdout}{done.stderr}")


def serves(place, text):
    """A gateway, for a second. Its feed need not run."""
    place.shell(f"{text} --for 1s")


def synopsis(_, text):
    """`check CONFIG [--schema]`: the help lists command and options."""
    words = [word for word in text.split() if word != "pinstrike"]
    path = words[:2] if words[0] in ("bench", "record") or words[:2] == ["gateway", "usage"] else words[:1]
    done = run([PINSTRIKE, *path, "--help"])
    for option in re.findall(r"--[\w-]+", text):
        if done.returncode != 0 or not re.search(rf"{option}\b", done.stdout):
            fail(f"{text}: the help of {' '.join(path)} has no {option}")


def asks_an_instance(place, text):
    place.start_instance()
    place.shell(text)


def asks_at_its_socket(place, text):
    """ctl, top and latency, with this instance, which is not a service."""
    place.start_instance()
    text = re.sub(r"^pinstrike (ctl|top|latency) (opra|NAME)", r"pinstrike \1 ./admin.sock", text)
    place.shell(text + (" --count 1" if text.startswith("pinstrike top") else ""))


def in_sources(place, text):
    place.shell(text, cwd=ROOT)


def script_of_the_project(place, text):
    """Runs it in a copy that uses this build folder and installs nothing on the host, with small sizes."""
    copy = place.folder / "project"
    if not copy.exists():
        for folder in ("deploy", "tests"):
            (copy / folder).mkdir(parents=True)
        shutil.copy(ROOT / "deploy/demo", copy / "deploy")
        shutil.copy(ROOT / "tests/soak", copy / "tests")
        setup = copy / "deploy/setup"
        setup.write_text("#!/bin/sh\nexit 0\n")
        setup.chmod(0o755)
        (copy / "config").mkdir()
        (copy / "config/demo.yaml").write_text((place.folder / "my.yaml").read_text())
        (copy / "build").symlink_to(BUILD)
    place.stop_instance()
    size = "1s" if "demo" in text else "2"
    place.shell(f"JOBS=1 {text.split()[0]} {size}", cwd=copy)


def configures(place, text):
    folder = place.folder / "build-fuzz"
    place.shell(f"CC=clang-19 CXX=clang++-19 {text.replace('build-fuzz', str(folder))}", cwd=ROOT)


def installs(place, text):
    folder = place.folder / "installed"
    place.shell(f"{text.replace(' build', ' ' + shlex.quote(str(BUILD)))} --no-rebuild --destdir {folder}")
    for page in ("README", "DESIGN", "CHANGELOG", "RUNBOOK", "SECURITY", "TUNING", "CAPACITY",
                 "threats", "deploy"):
        if not list(folder.rglob(f"share/doc/pinstrike/{page}.md")):
            fail(f"{text} does not install {page}.md")


def reports(place, text):
    """Runs a part that takes seconds instead of the documented one, which takes half an hour."""
    place.stop_instance()
    words = text.replace(" build ", f" {shlex.quote(str(BUILD))} ").replace("--parts path", "--parts start")
    in_sources(place, f"python3 -B {words} --runs 1 --out {place.folder}")
    page = (place.folder / "report.md").read_text()
    if "| ready with a book of 1.5 M series | 2 s |" not in page or "Not measured yet: distance, path" not in page:
        fail(f"{text}: it reports {page}")


class Targets:
    """The tests and targets of meson."""

    def __init__(self):
        def asked(what):
            return json.loads(run(["meson", "introspect", BUILD, what]).stdout)

        tests = asked("--tests")
        self.tests = {test["name"] for test in tests}
        self.suites = {suite.split(":")[-1] for test in tests for suite in test["suite"]}
        self.benchmarks = {one["name"] for one in asked("--benchmarks")}
        self.built = {one["name"] for one in asked("--targets")}

    def check_test(self, _, text):
        """`meson test ...`: the named tests exist."""
        words = text.split()[4:]
        known = self.benchmarks if "--benchmark" in words else self.tests
        while words:
            word = words.pop(0)
            if word == "--suite":
                if words[0] not in self.suites:
                    fail(f"{text}: no suite {words[0]}")
                words.pop(0)
            elif not word.startswith("--") and word not in known:
                fail(f"{text}: no test {word}")

    def check_built(self, _, text):
        if text.split()[-1] not in self.built:
            fail(f"{text}: no target {text.split()[-1]}")

    def by(self, test, file="", words=""):
        """Another test runs the command: its source has these words."""
        def check(_, text):
            if test not in self.tests and test != "CI":
                fail(f"{text}: there is no test {test}")
            if words and words not in (ROOT / file).read_text():
                fail(f"{text}: {file} does not say {words!r}")
        return check


def rules():
    targets = Targets()
    by, boot, python = targets.by, "tests/appliance/boot_test.py", "tests/actors/publish/python"
    kafka = "tests/commands/kafka_broker_test.py"
    client, asan = "tests/commands/databento_client_test.py", "meson test -C build-asan"
    return [
        (r"tests/run( release)?", by("CI", ".ci/run", "tests/run")),
        (r"deploy/demo( 10m)?|tests/soak( \d+)?", script_of_the_project),
        (r"deploy/package( \[FOLDER\])?", by("boot", "tests/appliance/boot.sh", "deploy/package")),
        (rf"meson test -C build .*|{asan} .*", targets.check_test),
        (r"ninja -C build \w+", targets.check_built),
        (r"meson install -C build", installs),
        (r"meson setup build-fuzz .*", configures),
        (r"build-fuzz/tests/fuzz/fuzz_NAME CORPUS", by("fuzz_config")),
        (r"build/actors/command/pinstrike", by("run")),
        (r"build/tests/sim/simulate .*",
         lambda place, text: place.shell(text.replace("build", str(BUILD), 1))),
        (r"tests/tidy/tidy\.py", by("tidy")),
        (r"tests/mutants/mutants\.py WORDS", by("mutants")),
        (r"tests/bench/instructions\.py --write", by("instructions")),
        (r"tests/bench/report\.py build --parts path", reports),
        (r"tests/live/soak_test\.py --help", lambda place, text: in_sources(place, f"python3 -B {text}")),
        (r"pinstrike latency --replay .*", program),
        (r"pinstrike (ctl|top|latency) (opra|NAME|\./admin\.sock).*", asks_at_its_socket),
        (r"pinstrike (ctl|top) INSTANCE.*", by("ctl")),
        (r"pinstrike chain( --feed FEED)? \w+", by("publish", "tests/commands/publish_test.py", '"chain"')),
        (r"python3 -m venv venv", by("python_reader", f"{python}/in_venv.py", '"venv"')),
        (r"(venv/bin/)?pip install \./actors/publish/python.*",
         by("python_reader", f"{python}/in_venv.py", "install(folder / \"bin\" / \"pip\", package)")),
        (r"venv/bin/python actors/publish/examples/smile\.py .*",
         by("python_reader", f"{python}/libraries_test.py", '"smile.py"')),
        (r"venv/bin/python actors/publish/examples/widest_spreads\.py .*",
         by("python_reader", f"{python}/libraries_test.py", '"widest_spreads.py"')),
        (r"venv/bin/python actors/publish/examples/chain\.py .*",
         by("python_reader", f"{python}/libraries_test.py", '"chain.py"')),
        (r"venv/bin/python actors/publish/examples/recorded\.py .*",
         by("python_reader", f"{python}/recordings_test.py", "self.commands()")),
        (r"(cc|c\+\+) .* example\.(c|cpp) .*|\./example(_cpp)? demo SPY",
         by("publish_examples", "tests/actors/publish/examples_test.py", "(?:cc|c")),
        (r"(venv/bin/)?pip install databento", by("databento_client", client, '"databento==')),
        (r"venv/bin/python live\.py", by("databento_client", client, '"live.py"')),
        (r"pinstrike gateway (CONFIG|FILE\.yaml)", synopsis),
        (r"pinstrike gateway [^ ]*\.yaml", serves),
        (r"(venv/bin/)?pip install confluent-kafka==\S+ pandas==\S+", by("kafka_broker", kafka, "PACKAGES")),
        (r"venv/bin/python actors/kafka/examples/trades_frame\.py .*", by("kafka_broker", kafka, "trades_frame.py")),
        (r"pinstrike kafka (CONFIG|FILE\.yaml)", synopsis),
        (r"pinstrike kafka config/kafka\.yaml", by("kafka_broker", kafka, '"kafka", config')),
        (r"pinstrike bridge (serve|join HOST:PORT) (CONFIG|FILE\.yaml)", synopsis),
        (r"openssl (req|x509) .*", by("bridge_cable", "tests/live/bridge_test.py", '"req", "-x509"')),
        (r"pinstrike bench .*", synopsis),
        (r"pinstrike .* \[.*", synopsis),
        (r"pinstrike .*", program),
        (rf"({'|'.join(subcommands())}) .*", synopsis),
        (r"curl http://HOST:9464/\w+", asks_an_instance),
        (r"promtool test rules .*",
         by("alerts", "tests/commands/alerts_test.py", 'promtool("test", "rules"')),
        (r"python3 deploy/grafana/dashboards\.py FOLDER", in_sources),
        (r"top -H -p PID", lambda place, text: place.shell(text.replace("top", "top -b -n 1"))),
        (r"\(cat config/demo\.yaml; .*",
         lambda place, text: place.shell(text.replace("config/demo.yaml", "my.yaml"))),
        (r"(ip maddr|openssl rand -hex 32|\(umask 077; openssl .*\))", as_it_stands),
        (r"(cp|ln -s|mkdir -p|install -o pinstrike(-gateway)?) .*", as_it_stands),
        (r'echo "db-\$\(openssl rand .*', as_it_stands),
        (r"man pinstrike(\.yaml)?", by("installed_pages", "tests/appliance/units_test.py", '"man"')),
        (r"apt install \./build/pinstrike_\S*\.deb", by("boot", boot, "dpkg -i /root/pinstrike.deb")),
        (r"apt install \./build/pinstrike-gateway_\S*\.deb", by("boot", boot, "dpkg -i /root/pinstrike-gateway.deb")),
        (r"apt install \./build/pinstrike-kafka_\S*\.deb", by("boot", boot, "dpkg -i /root/pinstrike-kafka.deb")),
        (r"systemctl (enable --now|start|stop) pinstrike-kafka@(opra|INSTANCE)",
         by("boot", boot, "systemctl enable --now {KAFKA}")),
        (r"journalctl -u pinstrike-kafka@INSTANCE( PINSTRIKE_CODE=\w+)?",
         by("boot", boot, "journalctl --no-pager -o cat -u {KAFKA}")),
        (r"systemctl (enable --now|reload|kill -s INT|stop|restart) pinstrike-gateway@(opra|INSTANCE)",
         by("boot", boot, "systemctl kill -s INT")),
        (r"journalctl -u pinstrike-gateway@INSTANCE( PINSTRIKE_CODE=\w+)?",
         by("boot", boot, "journalctl -u {GATEWAY}")),
        (r"apt (remove|purge)", by("boot", boot, "dpkg --purge pinstrike")),
        (r"systemctl enable --now pinstrike@opra", by("boot", boot, "systemctl enable --now")),
        (r"systemctl status( pinstrike@(opra|INSTANCE))?", by("boot", boot, "systemctl --no-pager status")),
        (r"systemctl reload pinstrike@(opra|INSTANCE)", by("boot", boot, "systemctl reload")),
        (r"journalctl( -u pinstrike@(INSTANCE|opra))?( PINSTRIKE_CODE=\w+)?",
         by("boot", boot, "PINSTRIKE_CODE=")),
        (r"systemctl restart pinstrike@opra", by("boot", boot, "systemctl start {UNIT}")),
        (r"systemctl daemon-reload", by("boot", boot, "systemctl daemon-reload")),
        (r"nics bind CONFIG", by("host_tools", "tests/appliance/host_tools_test.py", '"bind"')),
    ]


def rule_of(text, table):
    return next((how for pattern, how in table if re.fullmatch(pattern, text)), None)


def uncovered(found, table):
    return [one for one in found if not one.marked and one.text not in NOT_COMMANDS and
            rule_of(one.text, table) is None]


def check_that_planted_are_found(table, commands):
    text = ("# a\n\nUse `systemctl frobnicate it`, or\n\n    ethtool -G eth0 rx 4096   # more\n    frob \\\n      x\n\n"
            "# b\n\nAll of this section needs hardware that no test has.\n\nUse `ethtool -i eth0`.\n\n# c\n\n"
            "```sh\nfrob --all\n```\n\nSo much.\n\nThis needs a real host that no test has: `ethtool -k eth0`.\n\n"
            "| a | `pinstrike frobnicate --x` |\n|---|---|\n| `devlink` | `frob` |\n")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.md").write_text(text)
        found = [(one.line, one.text) for one in uncovered(
            commands_of(Path("a.md"), Path(folder), commands), [
                rule for rule in table if rule[0] != r"pinstrike .*"])]
    expected = [(3, "systemctl frobnicate it"), (5, "ethtool -G eth0 rx 4096"), (6, "frob    x"),
                (18, "frob --all"), (25, "pinstrike frobnicate --x")]
    if [(line, " ".join(text.split())) for line, text in found] != \
            [(line, " ".join(text.split())) for line, text in expected]:
        fail(f"planted commands: found {found}")


def check_tuning():
    """TUNING.md and `doctor` have the same checks by the same names, and each source is listed."""
    table = (ROOT / "actors/host/doctor/finding_rows.h").read_text()
    findings = set(re.findall(r'ROW\(\w+, "([a-z_]+)', table)) - {"config", "start"}
    page = (ROOT / "deploy/TUNING.md").read_text()
    rules, sources = page.split("## Sources")
    cells = re.findall(r"^\|.*\| ([^|]*) \|$", rules, re.M) + re.findall(r"Doctor: ([^.]*)", rules)
    named = set(re.findall(r"`([a-z_]+)`", " ".join(cells)))
    if len(findings) < 30 or findings != named:
        fail(f"deploy/TUNING.md and doctor differ: {sorted(findings ^ named)}")
    cited = set(re.findall(r"\[([a-z0-9-]+)\]", rules))
    listed = set(re.findall(r"^\| ([a-z0-9-]+) \| .*https?://", sources, re.M))
    if not cited or cited != listed:
        fail(f"deploy/TUNING.md: sources cited and listed differ: {sorted(cited ^ listed)}")


def rows_of(text, columns):
    """The cells of the table rows that have so many."""
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines()
            if line.startswith("|")]
    return [row for row in rows if len(row) == columns]


# README's names for a shape and an end of tests/bench/report.md.
SHAPES = {"full blocks, realistic mix": ("full-mix", "book"), "ordinary, realistic mix": ("ordinary-mix", "book")}


def check_how_fast():
    """The speed figures of README are those of the report."""
    report = {(row[0], row[1], row[2]): row for row in
              rows_of((ROOT / "tests/bench/report.md").read_text(), 9) if row[2] == "book"}
    quoted = [row for row in rows_of((ROOT / "README.md").read_text(), 6) if row[0] in SHAPES]
    for shape, streams, packets, messages, testpmd, of_testpmd in quoted:
        name, end = SHAPES[shape]
        row = report[name, streams.replace(" and ", ""), end]
        if (packets, messages.split(",")[0], testpmd, of_testpmd) != \
                (row[4], *(cell.split()[0] for cell in (row[5], row[7], row[8]))):
            fail(f"README has {shape}, {streams}: {packets}, {messages}; the report {row}")
    if len(quoted) != 4:
        fail("README has another table of speed than was expected")


def check_sentences():
    """The figures in sentences of README and CAPACITY.md are those of the report, too."""
    readme, page, report = (" ".join((ROOT / name).read_text().split())
                            for name in ("README.md", "deploy/CAPACITY.md", "tests/bench/report.md"))
    stolen = re.search(r"## The whole path.*?percent of a trial [\d.]+ \([\d.]+ to ([\d.]+)\)", report)[1]
    near = re.search(r"another back, sampled .*?(\d+) ns", report)[1]
    # The rows of other tables for these shapes have words in the second column.
    table = rows_of((ROOT / "tests/bench/report.md").read_text(), 4)
    seconds = {row[0]: f"{float(row[1]):.3g}" for row in table
               if row[0] in ("full-mix", "ordinary-mix") and row[1][0].isdigit()}
    expected = [f"(up to {stolen} % of a trial)",
                f"a cache-line round trip between them takes {near} ns in the report",
                f"{seconds['full-mix']} M packets/s of full blocks of the realistic mix, and "
                f"{seconds['ordinary-mix']} M ordinary packets/s of the mix, both on stream A",
                f"For ten seconds, on the EPYC and stream A, it was {seconds['full-mix']} M packets/s of full blocks "
                f"and {seconds['ordinary-mix']} M ordinary packets/s."]
    for sentence in expected:
        if sentence not in readme + page:
            fail(f"Neither README nor deploy/CAPACITY.md says, as the report does: {sentence}")


def book_bytes_of_series(folder, cores, sharding):
    """Bytes for each of 2.2 M series, as `check` computes them."""
    config = folder / "capacity.yaml"
    names = ", ".join(f"{{name: core{i}}}" for i in range(cores))
    config.write_text("name: capacity\nkind: opra\nlines: 1\nports: [{name: port, kind: sim}]\n"
                      f"pollers: [{{name: poller0}}]\ncores: [{names}]\nsharding: {sharding}\n"
                      "book: {series_capacity: 2200000}\n")
    text = run([PINSTRIKE, "check", "--config-only", config]).stdout
    return float(re.search(r"memory rings .*, actors ([\d.]+) MiB", text)[1]) * 2**20 / 2_200_000


def check_capacity():
    """The figures of CAPACITY.md are those of the report and of `check`."""
    page = (ROOT / "deploy/CAPACITY.md").read_text()
    measured = {(row[0], row[1]): (row[2].split()[0], row[3].split(",")[0])
                for row in rows_of((ROOT / "README.md").read_text(), 6)}
    quoted = [row for row in rows_of(page, 6) if row[1] in ("A", "A and B")]
    for row in quoted:
        if measured.get((row[0], row[1])) != (row[2], row[3]):
            fail(f"deploy/CAPACITY.md has {row}, the README {measured.get((row[0], row[1]))}")
    both = next(row for row in quoted if row[:2] == ["full blocks, realistic mix", "A and B"])
    hosts = [tuple(map(int, row)) for row in rows_of(page, 4) if row[0].isdigit()]
    for processors, pairs, *rates in hosts:
        expected = (processors - 2) // 2
        if (pairs, rates) != (expected, [int(expected * float(both[column]) * 0.75) for column in (3, 5)]):
            fail(f"deploy/CAPACITY.md: {processors} processors")
    configs = [row for row in rows_of(page, 5) if row[0].startswith("config/")]
    for row in configs:
        config = ROOT / row[0].split(":")[0]
        text = run([PINSTRIKE, "check", "--config-only", config]).stdout
        sizes = re.search(r"memory rings (.*), lines (.*), actors .*, published (.*);", text).groups()
        pages = run([PINSTRIKE, "check", "--hugepages", config]).stdout.split()
        if (*sizes, pages[1]) != tuple(row[1:]):
            fail(f"deploy/CAPACITY.md: {row}, check says {sizes}, {pages}")
    with tempfile.TemporaryDirectory(prefix="pinstrike-documents-") as folder:
        found = [round(book_bytes_of_series(Path(folder), *case)) for case in
                 ((1, "series"), (4, "series"), (8, "series"), (4, "underlying"))]
    sentence = re.search(r"(\d+) bytes a series on one core, (\d+) on four\s+and (\d+) on eight"
                         r".*?(\d+) bytes on four cores", page, re.DOTALL)
    if sentence is None or list(map(int, sentence.groups())) != found:
        fail(f"deploy/CAPACITY.md: expected the bytes of a series in a book, as check says: {found}")
    if (len(quoted), len(hosts), len(configs)) != (4, 3, 2):
        fail("deploy/CAPACITY.md has other tables than were expected")


def check_worked_example():
    """Nanoseconds per message, and the resulting number of threads, in CAPACITY.md."""
    page = " ".join((ROOT / "deploy/CAPACITY.md").read_text().split())
    row = next(row for row in rows_of((ROOT / "tests/bench/report.md").read_text(), 13)
               if row[0].startswith("full-mix, AB"))
    messages = float(re.search(r"\(([\d.]+) messages", row[0])[1])
    times = re.search(r"EPYC's poller takes (\d+) ns and its core with the book (\d+) ns", page).groups()
    for stated, packet in zip(times, row[11:]):
        if abs(int(stated) - float(packet.split()[0]) / messages) >= 1:
            fail(f"deploy/CAPACITY.md has {stated} ns a message, the report {packet} ns for {messages}")
    threads = re.findall(r"120e6 x (\d+)e-9 / 0\.75 = ([\d.]+)", page)
    if threads != [(stated, f"{0.12 * int(stated) / 0.75:.1f}") for stated in times]:
        fail(f"deploy/CAPACITY.md: {threads} of {times}")


def helped():
    """Runs the examples in the help of `generate` that write a capture; live tests run those that send."""
    text = run([PINSTRIKE, "generate", "--help"]).stdout
    found = [line.strip() for line in text.splitlines() if line.startswith("  pinstrike ") and "--out" in line]
    if len(found) < 3:
        fail(f"generate --help shows {len(found)} captures")
    return found


def main():
    commands, table = subcommands(), rules()
    check_that_planted_are_found(table, commands)
    check_tuning()
    check_how_fast()
    check_sentences()
    check_capacity()
    check_worked_example()
    found = [one for path in documents(ROOT)
             for one in commands_of(path, ROOT, commands, NOT_COMMANDS)]
    missing = uncovered(found, table)
    if missing:
        fail("no rule covers, and no mark excuses\n" + "\n".join(map(str, missing)))
    shown = {one.text.split()[1] for one in found if one.document == "README.md" and
             one.text.startswith("pinstrike ")}
    for name in ("run", "check", "doctor", "explain", "generate", "latency", "plan", "replay"):
        if name not in shown:
            fail(f"README shows no `pinstrike {name}`")
    with tempfile.TemporaryDirectory(prefix="pinstrike-documents-") as folder:
        place = Surroundings(folder)
        with contextlib.closing(place.running):
            for one in found:
                how = rule_of(one.text, table)
                if one.text not in NOT_COMMANDS and how is not None:
                    how(place, one.text)
            for text in helped():
                place.shell(text)
    marked = sum(one.marked and rule_of(one.text, table) is None for one in found)
    print(f"{len(found)} commands; {marked} need hardware or a host that no test has")


main()
