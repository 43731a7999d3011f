#!/usr/bin/env python3
"""`pinstrike plan` as a user runs it: for this machine, and for machines that are only described.

    plan_test.py PINSTRIKE SOURCE_FOLDER
"""

import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PINSTRIKE, SOURCE = sys.argv[1], Path(sys.argv[2])
SERVER = "pack:2 core:8 pu:2"


def plan(config, *arguments):
    path = config if isinstance(config, Path) else SOURCE / "config" / f"{config}.yaml"
    return subprocess.run([PINSTRIKE, "plan", str(path), *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, check=False)


def texts_of(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]


class Plan(unittest.TestCase):
    def test_threads_stand_on_their_processors(self):
        result = plan("opra", "--topology", SERVER)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for line in ("feed opra on pack:2 core:8 pu:2",
                     "package 0, NUMA node 0",
                     "    core 1    cpu 2    poller0            cpu 3    poller1",
                     "    port nic_a: 0000:3b:00.0",
                     "    nic_a queue 1 -> poller1   stream A, 51 lines: 49-96, 203-204, 220",
                     "    poller1 -> core0, core1, core2, core3   262,144 records, 16.0 MiB each"):
            self.assertIn(line + "\n", result.stdout)
        self.assertIn("remark: poller1: cpu 3 shares its physical core with poller0",
                      result.stdout)

    def test_rings_between_nodes_are_marked(self):
        result = plan("opra", "--topology", "pack:2 [numa] core:3 pu:1")
        self.assertEqual(result.returncode, 78)  # cpus 6 and 7 are missing, but drawn
        self.assertIn("poller0 -> core0, core1   262,144 records, 16.0 MiB each, "
                      "between NUMA nodes\n",
                      result.stdout)
        self.assertIn("    core2: cpu 6 is not on this machine\n", result.stdout)
        self.assertIn("core2: cpu 6 is not one that this process may use", result.stderr)

    def test_what_is_not_pinned_stands_apart(self):
        result = plan("demo")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("    poller0 is not pinned, sleeps when idle\n", result.stdout)
        self.assertIn("    port simulator: simulator\n", result.stdout)
        self.assertIn("feed demo on this machine\n", result.stdout)

    def test_svg_is_well_formed_and_has_it_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.svg"
            result = plan("opra_full_rate", "--topology", SERVER, "--svg", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            texts = texts_of(path.read_text(encoding="utf-8"))
            ways = path.read_text(encoding="utf-8").count("<path ")
        for text in ("package 1, NUMA node 0", "cpu 2: poller0", "cpu 12: core5", "cpu 31",
                     "cpu 1: control"):
            self.assertIn(text, texts)
        self.assertEqual(ways, 2 * 5 + 5 * 6)  # queues and rings
        result = plan("demo", "--svg", "-")
        self.assertIn("not pinned", texts_of(result.stdout))

    def test_xml_of_another_machine(self):
        xml = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3"
         nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
  <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
          complete_nodeset="0x1" gp_index="2" local_memory="1073741824"/>
  <object type="Package" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
          complete_nodeset="0x1" gp_index="3">
   <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
           complete_nodeset="0x1" gp_index="4">
    <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
            complete_nodeset="0x1" gp_index="5"/>
   </object>
   <object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
           complete_nodeset="0x1" gp_index="6">
    <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
            complete_nodeset="0x1" gp_index="7"/>
   </object>
  </object>
 </object>
</topology>
"""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "host.xml"
            path.write_text(xml, encoding="utf-8")
            result = plan("demo", "--topology", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("    2 cores of 2 without a thread\n", result.stdout)

    def test_wrong_use(self):
        for wrong in ("nonsense", "/nonexistent.xml", "", "pack:0"):
            result = plan("demo", f"--topology={wrong}")
            self.assertIn(result.returncode, (2,) if wrong else (0, 2), wrong)
        self.assertIn("found neither", plan("demo", "--topology", "nonsense").stderr)
        self.assertEqual(plan(Path("/nonexistent.yaml")).returncode, 78)
        self.assertEqual(plan("demo", "--svg", "/nonexistent/plan.svg").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
