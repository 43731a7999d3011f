"""Finds the compile commands of single sources, also for a build that compiles several at once."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def with_single_sources(build):
    """The build, or, if it compiles several sources at once, another one below it that is only configured."""
    options = json.loads(subprocess.run(["meson", "introspect", "--buildoptions", build], check=True,
                                        capture_output=True, text=True).stdout)
    values = {option["name"]: option["value"] for option in options}
    if values["unity"] == "off":
        return build
    single = build / "single_sources"
    # Nothing builds it, so nothing else would notice a source that was added or removed.
    again = ["--reconfigure"] if (single / "compile_commands.json").exists() else []
    subprocess.run(["meson", "setup", *again, f"-Dmarch={values['march']}", single, ROOT], check=True,
                   stdout=subprocess.DEVNULL)
    return single
