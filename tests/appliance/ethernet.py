"""The cable of a virtual machine: QEMU hands over every frame as a datagram, and this end is a switch and a host.

The machine's card is on one side, QEMU's own network (DHCP, forwarded ports) on the other. Between them stands a host with
many addresses that knocks at ports as a stranger would, without rights on this machine.
"""
import collections
import select
import socket
import struct
import threading
import time

OUR_MAC = bytes.fromhex("0242ba5c0001")
EVERYBODY = b"\xff" * 6


def free_udp():
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("127.0.0.1", 0))
    return one


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Cable:
    """`arguments` are QEMU's for a card with this MAC and the network behind it."""

    def __init__(self, model, forwards):
        self.ours = {socket.inet_aton(f"10.0.2.{n}") for n in range(64, 96)} | {
            socket.inet_aton(f"10.0.2.{n}") for n in range(128, 250)
        }
        self.card, self.net = free_udp(), free_udp()
        at = []
        for end in (self.card, self.net):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            other = free_udp()
            at.append((end.getsockname()[1], other.getsockname()[1]))
            other.close()
        (self.card_port, card_peer), (self.net_port, net_peer) = at
        self.card_peer, self.net_peer = ("127.0.0.1", card_peer), ("127.0.0.1", net_peer)
        datagrams = "socket,id={},udp=127.0.0.1:{},localaddr=127.0.0.1:{}"
        self.arguments = [
            "-netdev", datagrams.format("card", self.card_port, card_peer),
            "-device", f"{model},netdev=card",
            "-netdev", "user,id=user" + "".join(f",hostfwd={forward}" for forward in forwards),
            "-netdev", datagrams.format("out", self.net_port, net_peer),
            "-netdev", "hubport,id=hub1,hubid=1,netdev=user",
            "-netdev", "hubport,id=hub2,hubid=1,netdev=out",
        ]
        self.neighbours = {}
        self.announced = collections.Counter()
        self.tcp, self.asked = {}, b""
        self.unreachable = set()
        self.ending = False
        self.thread = threading.Thread(target=self.switch, daemon=True)
        self.thread.start()

    def close(self):
        self.ending = True
        self.thread.join()
        self.card.close()
        self.net.close()

    # ── the switch ──────────────────────────────────────────────────────────────────────────────

    def switch(self):
        while not self.ending:
            for end in select.select([self.card, self.net], [], [], 0.2)[0]:
                frame = end.recv(65536)
                if end is self.net:
                    self.card.sendto(frame, self.card_peer)
                elif not self.is_for_us(frame):
                    self.net.sendto(frame, self.net_peer)

    def is_for_us(self, frame):
        kind = frame[12:14]
        if kind == b"\x08\x06":
            operation, mac, sender, wanted = struct.unpack("!6xH6s4s6x4s", frame[14:42])
            self.neighbours[sender] = mac
            if sender == wanted:
                self.announced[socket.inet_ntoa(sender)] += 1
            if operation == 1 and wanted in self.ours:
                self.send_arp(2, wanted, mac, sender)
                return True
        if frame[:6] != OUR_MAC:
            return False
        if kind == b"\x08\x00":
            self.packet(frame[14:])
        return True

    def packet(self, packet):
        length = (packet[0] & 15) * 4
        inside = packet[length:]
        if packet[9] == 6 and packet[12:16] == self.asked:
            port, _, _, _, _, flags = struct.unpack("!HHIIBB", inside[:14])
            self.tcp[port] = "closed" if flags & 4 else "open" if flags & 0x12 == 0x12 else self.tcp.get(port)
        elif packet[9] == 1 and inside[:2] == b"\x03\x03":
            refused = inside[8:]
            self.unreachable.add(struct.unpack("!H", refused[(refused[0] & 15) * 4 + 2:][:2])[0])

    # ── the host ────────────────────────────────────────────────────────────────────────────────

    def send_arp(self, operation, sender, mac, wanted):
        to = mac if operation == 2 else EVERYBODY
        body = struct.pack("!HHBBH6s4s6s4s", 1, 0x800, 6, 4, operation, OUR_MAC, sender, mac, wanted)
        self.card.sendto((to + OUR_MAC + b"\x08\x06" + body).ljust(60, b"\0"), self.card_peer)

    def mac_of(self, address):
        """Asks who has it; None where nobody answers."""
        wanted = socket.inet_aton(address)
        self.neighbours.pop(wanted, None)
        for _ in range(20):
            self.send_arp(1, min(self.ours), b"\0" * 6, wanted)
            end = time.monotonic() + 0.25
            while time.monotonic() < end:
                if wanted in self.neighbours:
                    return self.neighbours[wanted]
                time.sleep(0.01)
        return None

    def send(self, mac, source, destination, protocol, body):
        pseudo = source + destination + struct.pack("!BBH", 0, protocol, len(body))
        at = 16 if protocol == 6 else 6
        body = body[:at] + struct.pack("!H", checksum(pseudo + body)) + body[at + 2:]
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0, source, destination)
        head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
        frame = mac + OUR_MAC + b"\x08\x00" + head + body
        self.card.sendto(frame.ljust(60, b"\0"), self.card_peer)

    def open_tcp(self, address, ports):
        """Which of `ports` take connections. Every one is asked until it has said yes or no."""
        mac, source, destination = self.mac_of(address), min(self.ours), socket.inet_aton(address)
        # What another address says late, again and again, is no answer.
        self.asked = destination
        self.tcp.clear()
        left = list(ports)
        for _ in range(20):
            for at, port in enumerate(left):
                self.send(mac, source, destination, 6, struct.pack("!HHIIBBHHH", 40000, port, 7, 0, 0x50, 2, 1024, 0, 0))
                if at % 64 == 63:
                    self.until(lambda: all(p in self.tcp for p in left[at - 63:at + 1]), 0.3)
            self.until(lambda: all(port in self.tcp for port in left), 1)
            left = [port for port in left if port not in self.tcp]
            if not left:
                return {port for port, state in self.tcp.items() if state == "open"}
        raise AssertionError(f"TCP ports that say nothing: {left[:20]}")

    def open_udp(self, address, ports):
        """Which of `ports` do not answer that nobody is there, asked again and again from many addresses: a system says so
        only so often to one."""
        mac, destination = self.mac_of(address), socket.inet_aton(address)
        self.unreachable.clear()
        sources = sorted(self.ours)
        left = list(ports)
        for turn in range(12):
            for at, port in enumerate(left):
                body = struct.pack("!HHHH", 40001, port, 8, 0)
                self.send(mac, sources[(at + turn * 7) % len(sources)], destination, 17, body)
                if at % 25 == 24:
                    time.sleep(0.06)
            self.until(lambda: all(port in self.unreachable for port in left), 1.2)
            left = [port for port in left if port not in self.unreachable]
        return set(left)

    def until(self, holds, seconds):
        end = time.monotonic() + seconds
        while not holds() and time.monotonic() < end:
            time.sleep(0.005)
