"""Stops threads of a running program by ptrace. If this program ends, the kernel lets them continue."""

import contextlib
import ctypes
import os
import time

import live

SEIZE, INTERRUPT, CONTINUE, DETACH = 0x4206, 0x4207, 7, 17
ALL_THREADS = 0x40000000  # __WALL: also threads
PTRACE = live.LIBC.ptrace
PTRACE.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
PTRACE.restype = ctypes.c_long


def threads_of(process):
    """The ids of threads, by name."""
    threads = {}
    for task in os.listdir(f"/proc/{process.pid}/task"):
        try:
            with open(f"/proc/{process.pid}/task/{task}/comm", encoding="utf-8") as comm:
                threads[comm.read().strip()] = int(task)
        except (FileNotFoundError, ProcessLookupError):
            pass  # the thread ended meanwhile
    return threads


def thread_of(process, name):
    """Waits for the thread, which a starting program may not have yet."""
    deadline = time.monotonic() + live.PATIENCE_S
    while name not in threads_of(process):
        live.expect(time.monotonic() < deadline, f"no thread is called {name}")
        time.sleep(0.05)
    return threads_of(process)[name]


def ptrace(request, thread):
    live.expect(PTRACE(request, thread, None, None) == 0,
                f"ptrace {request:#x}: {os.strerror(ctypes.get_errno())}")


def stop(thread):
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, ALL_THREADS)


@contextlib.contextmanager
def seized(thread):
    """All requests must come from the thread that seized it."""
    ptrace(SEIZE, thread)
    yield
    stop(thread)
    ptrace(DETACH, thread)


def hold_while(thread, condition):
    with seized(thread):
        stop(thread)
        while condition():
            time.sleep(0.05)
        ptrace(CONTINUE, thread)


def hold_until(thread, ended):
    """`ended`: an event."""
    with seized(thread):
        stop(thread)
        ended.wait()
        ptrace(CONTINUE, thread)


def hold_in_pulses(thread, ended, seconds):
    """Holds the thread for so long, lets it run for as long, and repeats."""
    with seized(thread):
        while not ended.is_set():
            stop(thread)
            time.sleep(seconds)
            ptrace(CONTINUE, thread)
            time.sleep(seconds)
