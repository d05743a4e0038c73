"""Processes on the two cores, and what they cost."""

import os
import resource
import shutil
import socket
import subprocess
import time

# Debian keeps servers where only root looks.
PATH = os.environ["PATH"] = f"{os.environ['PATH']}:/usr/sbin"
SERVER_CORE = "0"
LOAD_CORE = "1"


class Missing(Exception):
    """Something that a row needs is not there; the row is left out and says why."""


class Failed(Exception):
    """A target did not serve: the whole run is void."""


def on_core(core, command):
    return ["taskset", "-c", core, *command]


class Process:
    """A server and its children, bound to a core. Its output goes to a file in its folder."""

    def __init__(self, name, core, command, folder):
        if shutil.which(command[0], path=PATH) is None and not os.path.exists(os.path.join(folder, command[0])):
            raise Missing(f"{command[0]} is not installed: scripts/install-prerequisites --bench")
        os.makedirs(folder, exist_ok=True)
        self.name, self.log = name, os.path.join(folder, f"{name}.log")
        with open(self.log, "wb") as log:
            self.started = time.monotonic()
            self.process = subprocess.Popen(on_core(core, command), cwd=folder, stdout=log, stderr=subprocess.STDOUT)

    def pids(self):
        """The process and what it has started (nginx has its worker there, NSD two steps down)."""
        found = [self.process.pid]
        for pid in found:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as children:
                    found += map(int, children.read().split())
        return found

    def cpu_ns(self):
        """User and system time of all threads, those that have ended included."""
        return sum(time.clock_gettime_ns((~pid << 3) | 2) for pid in self.pids())

    def kernel_ticks(self):
        """Of these, the ones in the kernel, and all; in clock ticks (10 ms)."""
        kernel = everything = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            user, system = int(fields[11]), int(fields[12])
            kernel, everything = kernel + system, everything + user + system
        return kernel, everything

    def resident_bytes(self):
        total = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                total += sum(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Pss:"))
        return total

    def wait_for_port(self, port, seconds=20):
        """Returns once it accepts TCP there."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.002)
        raise Failed(f"{self.name} does not listen on {port}:\n{self.last_words()}")

    def wait_for_file(self, path, seconds=20):
        """Returns once the file is there; removes it."""
        end = time.monotonic() + seconds
        while not os.path.exists(path):
            if time.monotonic() > end or self.process.poll() is not None:
                raise Failed(f"{self.name} does not become ready:\n{self.last_words()}")
            time.sleep(0.001)
        os.remove(path)

    def last_words(self):
        with open(self.log, errors="replace") as log:
            return "".join(log.readlines()[-15:])

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def raise_open_files(wanted):
    """Lets this process and its children have so many open files, or as many as the machine allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < wanted:
        with open("/proc/sys/fs/nr_open") as most:
            wanted = min(wanted, int(most.read()))
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
            return
        except (ValueError, OSError):
            # Only root may; the rows say what they could not have.
            wanted = hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def others():
    """What else runs, for the record: the commands of compilers and the load average."""
    compilers = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as comm:
                compilers += comm.read().strip() in ("rustc", "cc1", "cc1plus", "ld", "cargo", "clippy-driver")
        except OSError:
            continue
    return f"load average {os.getloadavg()[0]:.1f}, {compilers} compiler processes"
