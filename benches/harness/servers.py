"""The servers behind, the peers and Bascule: each started once from its file in `benches/peers/`."""

import os
import resource
import shutil
import subprocess

from . import dns
from .machine import LOAD_CORE, SERVER_CORE, Failed, Missing, Process

PEERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers")

# What each kind of target is started with, and a TCP port that answers once it is ready. Bascule says so itself.
KINDS = {
    "haproxy-l4": (["haproxy", "-db", "-f", "haproxy-l4.cfg"], 21110),
    "haproxy-l7": (["haproxy", "-db", "-f", "haproxy-l7.cfg"], 21120),
    "nginx": (["nginx", "-p", ".", "-c", "nginx.conf"], 21220),
    "bascule-l4": ("bascule-l4.toml", None),
    "bascule-udp": ("bascule-udp.toml", None),
    "bascule-l7": ("bascule-l7.toml", None),
    "bascule-tls": ("bascule-tls.toml", None),
    "bascule-h2": ("bascule-h2.toml", None),
    "bascule-failover": ("bascule-failover.toml", None),
    "bascule-dns": ("bascule-dns.toml", None),
    "gdnsd": (["gdnsd", "-c", "gdnsd", "start"], 21153),
    "knot": (["knotd", "-c", "knot.conf"], 21154),
    "nsd": (["nsd", "-d", "-c", "nsd.conf"], 21155),
    "pdns": (["pdns_server", "--config-dir=.", "--config-name="], 21156),
    "pdns-lua": (["pdns_server", "--config-dir=.", "--config-name=lua"], 21157),
    "reflector": (["./udp", "reflect", "127.0.0.1:21158"], None),
    "haproxy-failover": (["haproxy", "-db", "-f", "haproxy-failover.cfg"], 21130),
}


class Servers:
    """Everything that runs; ends with the `with` block."""

    def __init__(self, folder, binary, tools, areas):
        self.folder, self.binary, self.tools = folder, binary, tools
        self.running, self.refused = {}, {}
        # nginx reads its files as another user where it is started as root.
        os.chmod(folder, 0o755)
        for name in os.listdir(PEERS):
            shutil.copy(os.path.join(PEERS, name), folder)
        shutil.copy(os.path.join(tools, "udp"), folder)
        if "dns" in areas:
            dns.prepare(folder)
        if set(areas) - {"dns"}:
            self.start_behind()

    def start_behind(self):
        """What the proxies stand before."""
        folder = self.folder
        for name in ("www", "tmp"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, "www", "big"), "wb") as big:
            big.write(os.urandom(1 << 20))
        with open(os.path.join(folder, "www", "chunked"), "w") as text:
            text.write("0123456789abcdef\n" * 60)
        certificate(folder)
        self.start("backend", LOAD_CORE, ["nginx", "-p", ".", "-c", "backend.conf"], 21000)
        self.start("echo", LOAD_CORE, ["./udp", "echo", "127.0.0.1:21003"], None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.running.values():
            process.stop()

    def start(self, name, core, command, port):
        process = Process(name, core, command, self.folder)
        self.running[name] = process
        if port:
            process.wait_for_port(port)
        return process

    def get(self, kind):
        """The running target of this kind. `Missing` where this build of Bascule refuses its configuration."""
        if kind in self.refused:
            raise Missing(self.refused[kind])
        if kind not in self.running:
            command, port = KINDS[kind]
            if isinstance(command, str):
                ready = os.path.join(self.folder, f"{kind}.ready")
                command = [*self.bascule(kind, command), "--ready-file", ready]
                self.start(kind, SERVER_CORE, command, None).wait_for_file(ready)
            else:
                self.start(kind, SERVER_CORE, command, port)
        process = self.running[kind]
        if process.process.poll() is not None:
            raise Failed(f"{kind} has ended:\n{process.last_words()}")
        return process

    def beside_ns(self):
        """User and system time of the servers behind and of all load that has ended."""
        load = resource.getrusage(resource.RUSAGE_CHILDREN)
        behind = sum(self.running[name].cpu_ns() for name in ("backend", "echo") if name in self.running)
        return behind + int((load.ru_utime + load.ru_stime) * 1e9)

    def stop(self, kind):
        if kind in self.running:
            self.running.pop(kind).stop()

    def bascule(self, kind, file):
        if not os.path.exists(os.path.join(self.folder, file)):
            raise Missing("there is no configuration for it yet")
        check = subprocess.run([self.binary, "check", file], cwd=self.folder, capture_output=True, text=True)
        if check.returncode != 0:
            first = (check.stdout + check.stderr).strip().splitlines()
            self.refused[kind] = f"this build refuses {file}: {first[0] if first else 'without a word'}"
            raise Missing(self.refused[kind])
        return [self.binary, "run", "--config", file, "--ephemeral"]


def certificate(folder):
    """One P-256 certificate for all."""
    crt, key = os.path.join(folder, "site.crt"), os.path.join(folder, "site.key")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
    names = ["-subj", "/CN=bench.test", "-addext", "subjectAltName=DNS:bench.test,DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*command, *names, "-keyout", key, "-out", crt], check=True, capture_output=True)
    with open(os.path.join(folder, "site.pem"), "w") as pem:
        pem.write(open(crt).read() + open(key).read())
