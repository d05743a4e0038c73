"""A virtual machine of the appliance, as a hypervisor sees it: disk, firmware, seed, serial console, guest agent."""
import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

FIRMWARE = [("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"),
            ("/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd")]


def has_kvm():
    """Nested virtualisation can open /dev/kvm and boot nothing."""
    if os.environ.get("BASCULE_BOOT_KVM") == "no" or os.path.exists("/sys/module/kvm_pvm"):
        return False
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return bool(re.search(r"\b(vmx|svm)\b", flags)) and os.access("/dev/kvm", os.R_OK | os.W_OK)


def seed_drive(folder, text, instance, *more):
    """A CD as every hypervisor can attach it, with more files beside the seed."""
    content = folder / "seed"
    content.mkdir()
    (content / "user-data").write_text(text)
    (content / "meta-data").write_text(f"instance-id: {instance}\n")
    for file in more:
        shutil.copy(file, content)
    image = folder / "seed.iso"
    subprocess.run(["genisoimage", "-quiet", "-V", "CIDATA", "-J", "-r", "-o", image, content], check=True)
    return image


class Machine:
    def __init__(self, folder, disk, firmware, network, credential=None, drive=None):
        self.folder = folder
        self.log = folder / f"console-{firmware}-{time.monotonic_ns()}"
        (folder / "console.sock").unlink(missing_ok=True)
        (folder / "agent.sock").unlink(missing_ok=True)
        kvm = has_kvm()
        command = [
            "nice", "-n", "10", "qemu-system-x86_64", "-machine", "q35", "-m", "512", "-smp", "2",
            *(["-accel", "kvm", "-cpu", "host"] if kvm else ["-accel", "tcg,thread=multi,tb-size=256", "-cpu", "Nehalem"]),
            "-nodefaults", "-no-user-config", "-display", "none", "-device", "virtio-rng-pci",
            "-chardev", f"socket,id=console,path={folder}/console.sock,server=on,wait=off,logfile={self.log}",
            "-serial", "chardev:console",
            "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=agent,path={folder}/agent.sock,server=on,wait=off",
            "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0",
            "-drive", f"file={disk},if=none,id=disk,format=qcow2", "-device", "virtio-blk-pci,drive=disk",
            *network,
        ]
        if firmware == "uefi":
            code, variables = next(pair for pair in FIRMWARE if os.path.exists(pair[0]))
            shutil.copy(variables, folder / "variables.fd")
            command += ["-drive", f"if=pflash,format=raw,readonly=on,file={code}"]
            command += ["-drive", f"if=pflash,format=raw,file={folder}/variables.fd"]
        if credential is not None:
            (folder / "credential").write_text(credential)
            name = "opt/io.systemd.credentials/appliance.config"
            command += ["-fw_cfg", f"name={name},file={folder}/credential"]
        if drive is not None:
            command += ["-drive", f"file={drive},if=none,id=seed,media=cdrom,readonly=on", "-device", "virtio-blk-pci,drive=seed"]
        self.accelerator = "KVM" if kvm else "software emulation"
        self.started = time.monotonic()
        self.errors = open(folder / "qemu.log", "ab")
        self.process = subprocess.Popen(command, stderr=self.errors)
        self.agent, self.asked = None, 0

    def seconds(self):
        return time.monotonic() - self.started

    def console(self):
        return self.log.read_bytes().decode(errors="replace") if self.log.exists() else ""

    def must_run(self):
        if self.process.poll() is not None:
            raise AssertionError(f"QEMU ended: {(self.folder / 'qemu.log').read_text()[-2000:]}")

    def within(self, seconds, what, holds):
        """Waits until `holds()` is true, which may fail meanwhile; answers what it said."""
        end, last = time.monotonic() + seconds, None
        while time.monotonic() < end:
            self.must_run()
            try:
                found = holds()
                if found:
                    return found
            except (OSError, AssertionError, ValueError, KeyError) as error:
                last = error
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {what}" + (f" ({last})" if last else ""))

    # ── the guest agent ─────────────────────────────────────────────────────────────────────────

    def ask(self, command, **arguments):
        if self.agent is None:
            self.agent = socket.socket(socket.AF_UNIX)
            self.agent.connect(str(self.folder / "agent.sock"))
            self.agent.settimeout(60)
            self.answers = self.agent.makefile("rb")
        self.agent.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        answer = json.loads(self.answers.readline().lstrip(b"\xff"))
        if "error" in answer:
            raise AssertionError(f"{command}: {answer['error']}")
        return answer["return"]

    def agent_is_there(self):
        try:
            if self.agent is not None:
                self.agent.close()
            self.agent = socket.socket(socket.AF_UNIX)
            self.agent.connect(str(self.folder / "agent.sock"))
            self.agent.settimeout(3)
            self.answers = self.agent.makefile("rb")
            # A number of its own: what was asked before it was there may be answered yet.
            self.asked += 1
            ask = {"execute": "guest-sync-delimited", "arguments": {"id": self.asked}}
            self.agent.sendall(b"\xff" + json.dumps(ask).encode() + b"\n")
            while True:
                line = self.answers.readline()
                if not line:
                    raise OSError("the agent's channel ended")
                if line.rstrip().endswith(b'{"return": %d}' % self.asked):
                    self.agent.settimeout(60)
                    return True
        except OSError:
            self.agent.close()
            self.agent = None
            raise

    def inside(self, *command):
        """What a command says inside the machine, as root."""
        path, *arguments = command
        pid = self.ask("guest-exec", path=path, arg=arguments, **{"capture-output": True})["pid"]
        end = time.monotonic() + 120
        while time.monotonic() < end:
            status = self.ask("guest-exec-status", pid=pid)
            if status["exited"]:
                said = base64.b64decode(status.get("out-data", "")) + base64.b64decode(status.get("err-data", ""))
                if status.get("exitcode") != 0:
                    raise AssertionError(f"{' '.join(command)}: exit {status.get('exitcode')}: {said.decode(errors='replace')}")
                return said.decode(errors="replace")
            time.sleep(0.1)
        raise AssertionError(f"{' '.join(command)} does not end")

    # ── the console ─────────────────────────────────────────────────────────────────────────────

    def talk(self, *turns):
        """Turns of (what to wait for on the console, what to type then); answers all that was said meanwhile."""
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(self.folder / "console.sock"))
        line.settimeout(1)
        said, mark = b"", 0
        line.sendall(b"\r")
        for wanted, typed in turns:
            end = time.monotonic() + 60
            while wanted.encode() not in said[mark:]:
                if time.monotonic() > end:
                    raise AssertionError(f"the console does not say {wanted!r}: {said.decode(errors='replace')[-800:]}")
                try:
                    said += line.recv(4096)
                except TimeoutError:
                    pass
            mark = len(said)
            if typed is not None:
                line.sendall(typed.encode() + b"\r")
        line.close()
        return said.decode(errors="replace")

    def press_in_menu(self, key):
        """Presses a key of the boot menu."""
        self.within(20, "the console", (self.folder / "console.sock").exists)
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(self.folder / "console.sock"))
        line.setblocking(False)

        def counts_down():
            # Whoever listens must read: the machine waits for its serial line.
            with contextlib.suppress(BlockingIOError):
                line.recv(65536)
            # The entries themselves may be drawn by two terminals, over each other.
            return "executed automatically in" in self.console()

        self.within(60, "the boot menu", counts_down)
        line.send(key.encode())
        line.close()

    # ── the end ─────────────────────────────────────────────────────────────────────────────────

    def power_off(self):
        self.ask_to_stop()
        try:
            self.process.wait(90)
        except subprocess.TimeoutExpired:
            raise AssertionError("it does not power off") from None
        self.close()

    def ask_to_stop(self):
        self.agent.sendall(b'{"execute": "guest-shutdown", "arguments": {"mode": "powerdown"}}\n')

    def close(self):
        """Ends it as a power cut does, if it still runs."""
        if self.agent is not None:
            self.agent.close()
            self.agent = None
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.errors.close()
