"""An upgrade while clients ask: a package like the one that is installed, of a higher version, and a steady load."""
import http.client
import itertools
import pathlib
import subprocess
import threading
import time

# Half of them on connections of their own.
CLIENTS = 10


def raised(deb, folder):
    """The same package with a version that is higher."""
    root = folder / "raised"
    subprocess.run(["dpkg-deb", "--raw-extract", deb, root], check=True)
    control = root / "DEBIAN/control"
    lines = control.read_text().splitlines(keepends=True)
    version = next(line for line in lines if line.startswith("Version: ")).split()[1] + "+raised"
    control.write_text("".join(f"Version: {version}\n" if line.startswith("Version: ") else line for line in lines))
    made = folder / "raised.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", root, made], check=True, stdout=subprocess.DEVNULL
    )
    return made, version


def drive(folder, *files):
    """A CD of them, which is no seed."""
    content = folder / "upgrade"
    content.mkdir()
    for file in files:
        (content / pathlib.Path(file).name).hardlink_to(file)
    image = folder / "upgrade.iso"
    subprocess.run(["genisoimage", "-quiet", "-V", "UPGRADE", "-J", "-r", "-o", image, content], check=True)
    return image


class Load:
    """Clients that ask at a steady rate, or as fast as they are answered, from `with` to its end. `rate`: of all, a second."""

    def __init__(self, port, rate, clients=CLIENTS):
        self.port, self.every = port, clients / rate
        self.stopped = threading.Event()
        self.done, self.failed = itertools.count(), []
        self.times = []
        self.threads = [threading.Thread(target=self.ask, args=(client,), daemon=True) for client in range(clients)]

    def __enter__(self):
        self.begun = time.monotonic()
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        self.took = time.monotonic() - self.begun
        self.requests = next(self.done)

    def ask(self, client):
        keeps, kept = client % 2 == 0, None
        due = time.monotonic() + self.every * client / len(self.threads)
        while not self.stopped.wait(max(0, due - time.monotonic())):
            due = max(due + self.every, time.monotonic() - self.every)
            next(self.done)
            begun = time.monotonic()
            connection = kept or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            kept = None
            try:
                connection.request("GET", "/", headers={} if keeps else {"Connection": "close"})
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failed.append(f"{answer.status} after {time.monotonic() - self.begun:.1f} s")
                elif keeps and not answer.will_close:
                    kept = connection
            except (OSError, http.client.HTTPException) as error:
                self.failed.append(f"{error!r} after {time.monotonic() - self.begun:.1f} s, kept: {keeps}")
            if kept is None:
                connection.close()
            self.times.append(time.monotonic() - begun)
