"""The rows of the table: what is done, by whom, and the goal."""

from . import dns, duties, load
from .targets import Row, Target

CLIENTS = 64
BULK_CLIENTS = 16


L4 = (Target("Bascule", "bascule-l4", 21010), Target("HAProxy", "haproxy-l4", 21110), Target("nginx", "nginx", 21210))
UDP = (Target("Bascule", "bascule-udp", 21011), Target("nginx", "nginx", 21211))
L7 = (
    Target("Bascule", "bascule-l7", 21020),
    Target("HAProxy", "haproxy-l7", 21120),
    Target("nginx", "nginx", 21220, has_cookie=False),
)
TLS = (
    Target("Bascule", "bascule-tls", 21021, tls=True),
    Target("HAProxy", "haproxy-l7", 21121, tls=True),
    Target("nginx", "nginx", 21221, tls=True, has_cookie=False),
)
GRPC = (
    Target("Bascule", "bascule-h2", 21022, tls=True),
    Target("HAProxy", "haproxy-l7", 21122, tls=True),
)


def url(target, path):
    return f"{'https' if target.tls else 'http'}://127.0.0.1:{target.port}{path}"


def carries(_servers, target):
    duties.served(target.name, target.port, target.tls)


def balances(_servers, target):
    duties.served(target.name, target.port, target.tls)
    return duties.persists(target.name, target.port, target.tls, target.has_cookie)


def echoes(servers, target):
    load.udp(servers.tools, target.port, 1, 8)


def calls(_servers, target):
    load.h2load(url(target, "/bench.Hello/Say"), 1, 4, GRPC_HEADERS)


GRPC_HEADERS = ("content-type: application/grpc", "te: trailers", ":method: POST")


def http(path, connections=CLIENTS, close=False):
    def work(_servers, target, seconds, cookie):
        return load.wrk(url(target, path), seconds, connections, cookie, close)

    return work


def http2(_servers, target, seconds, cookie):
    return load.h2load(url(target, "/small"), seconds, CLIENTS, [f"cookie: {cookie}"] if cookie else [])


def grpc(_servers, target, seconds, _):
    return load.h2load(url(target, "/bench.Hello/Say"), seconds, CLIENTS, GRPC_HEADERS)


def datagrams(servers, target, seconds, _):
    return load.udp(servers.tools, target.port, seconds, CLIENTS)


BULK = http("/big", BULK_CLIENTS)
ROWS = (
    Row("l4-keep-alive", "l4", "TCP, keep-alive, small", "request", {"HAProxy": 1.0}, L4, carries, http("/small")),
    Row("l4-new", "l4", "TCP, new connection", "connection", {"HAProxy": 0.95}, L4, carries, http("/small", close=True)),
    Row("l4-bulk", "l4", "TCP, 1 MiB", "MiB", {"HAProxy": 0.8}, L4, carries, BULK),
    Row("udp", "l4", "UDP, 512 B there and back", "exchange", {"nginx": 0.8}, UDP, echoes, datagrams),
    Row("l7-keep-alive", "l7", "HTTP, keep-alive, cookie, XFF", "request", {"HAProxy": 0.75}, L7, balances, http("/small")),
    Row("l7-new", "l7", "HTTP, new connection", "connection", {"HAProxy": 0.9}, L7, balances, http("/small", close=True)),
    Row("l7-bulk", "l7", "HTTP, 1 MiB", "MiB", {"HAProxy": 0.9}, L7, balances, BULK),
    Row("l7-chunked", "l7", "HTTP, chunked 1 kB", "request", {}, L7, balances, http("/chunked")),
    Row("tls-keep-alive", "l7", "TLS 1.3, keep-alive", "request", {"HAProxy": 0.7}, TLS, balances, http("/small")),
    Row("tls-new", "l7", "TLS 1.3, new connection", "connection", {"HAProxy": 0.6}, TLS, balances, http("/small", close=True)),
    Row("tls-bulk", "l7", "TLS 1.3, 1 MiB", "MiB", {"HAProxy": 1.1}, TLS, balances, BULK),
    Row("h2", "l7", "HTTP/2 over TLS, 10 streams", "request", {"HAProxy": 2.0}, TLS, balances, http2),
    Row("grpc", "l7", "gRPC over TLS, 10 streams", "call", {"HAProxy": 2.0}, GRPC, calls, grpc),
    *dns.ROWS,
)
