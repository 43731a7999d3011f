#!/usr/bin/env python3
"""bench_kafka with a broker of its own.

    kafka.py BENCH_KAFKA FOLDER [RUNS]

FOLDER has the broker's jars, as of the test kafka_broker. Skipped (77) with the reason where Java or Maven is absent.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "commands"))
import kafka_broker  # noqa: E402


def main():
    jars, why_not = kafka_broker.jars(sys.argv[2])
    if why_not:
        print(f"SKIP: {why_not}")
        return 77
    with tempfile.TemporaryDirectory(prefix="pinstrike-kafka-") as folder:
        broker = kafka_broker.Broker(folder, jars).start()
        try:
            return subprocess.run([sys.argv[1], broker.address, *sys.argv[3:]], check=False, timeout=900).returncode
        finally:
            broker.kill()


if __name__ == "__main__":
    sys.exit(main())
