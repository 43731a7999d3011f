"""The latency between processors 0 and 1, for scripts; distance.h says why it matters."""

import json
import subprocess
import time

PATIENCE_SECONDS = 300


def watch(program, seconds):
    """The results of bench_distance: near_to_ns, near_share, changes, samples."""
    done = subprocess.run([program, "--seconds", str(seconds), "--json"], check=True,
                          stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def span(near_to_ns, far=False):
    """The value for a benchmark's --distance."""
    return f"{near_to_ns}:inf" if far else f"0:{near_to_ns}"


class Near:
    """Runs whole programs while the latency between the processors is low."""

    def __init__(self, program, near_to_ns):
        self.program = program
        self.near_to_ns = near_to_ns
        self.waited = 0.0
        self.taken_again = 0

    def take(self, measure):
        """Returns measure(), and repeats it if the latency between the processors was high afterwards.
        After five minutes of waiting in total, accepts any latency."""
        while True:
            while self.is_far():
                time.sleep(0.1)
                self.waited += 0.1
            figure = measure()
            if not self.is_far():
                return figure
            self.taken_again += 1

    def is_far(self):
        if self.waited > PATIENCE_SECONDS:
            return False
        [[_, bounce_ns]] = watch(self.program, 0)["samples"]
        return bounce_ns >= self.near_to_ns

    def note(self):
        return (f"Runs repeated because the distance of the processors had changed: "
                f"{self.taken_again}" +
                ("; some runs were accepted at any distance." if self.waited > PATIENCE_SECONDS else "."))
