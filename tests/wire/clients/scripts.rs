//! Programs in Python, for the libraries that people use from it.

/// Four kinds of calls on bytes, without generated code.
pub const GRPC_SERVER: &str = r#"
import sys, time
from concurrent import futures
import grpc

def unary(request, context):
    if request == b"bad":
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such thing")
    if request == b"slow":
        time.sleep(5)
    context.set_trailing_metadata((("x-last", "there"),))
    return request

def server_stream(request, context):
    for n in range(int(request)):
        yield str(n).encode()

def client_stream(requests, context):
    return str(sum(int(r) for r in requests)).encode()

def both_ways(requests, context):
    for r in requests:
        yield r + b"!"

handlers = {
    "Unary": grpc.unary_unary_rpc_method_handler(unary),
    "ServerStream": grpc.unary_stream_rpc_method_handler(server_stream),
    "ClientStream": grpc.stream_unary_rpc_method_handler(client_stream),
    "BothWays": grpc.stream_stream_rpc_method_handler(both_ways),
}
server = grpc.server(futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", handlers),))
assert server.add_insecure_port(sys.argv[1]) != 0
server.start()
server.wait_for_termination()
"#;

/// Calls each of them; with a second argument only tells how one fails.
pub const GRPC_CLIENT: &str = r#"
import sys, threading
import grpc

channel = grpc.insecure_channel(sys.argv[1])
unary = channel.unary_unary("/test.Echo/Unary")

def failing(what, request, **more):
    try:
        unary(request, timeout=more.pop("timeout", 20), **more)
        print(what, "answered")
    except grpc.RpcError as error:
        details = error.details()
        print((what + " " + error.code().name + " " + details).rstrip())

if len(sys.argv) > 2:
    failing(sys.argv[2], b"hello")
    sys.exit()

print("unary", unary(b"hello", timeout=20).decode())
streamed = channel.unary_stream("/test.Echo/ServerStream")(b"5", timeout=20)
print("server stream", " ".join(m.decode() for m in streamed))
numbers = (str(n).encode() for n in range(5))
print("client stream", channel.stream_unary("/test.Echo/ClientStream")(numbers, timeout=20).decode())

# Each message is sent once the answer to the one before is there.
turn = threading.Semaphore(1)
def messages():
    for m in (b"a", b"b", b"c"):
        turn.acquire()
        yield m
answers = []
for answer in channel.stream_stream("/test.Echo/BothWays")(messages(), timeout=20):
    answers.append(answer.decode())
    turn.release()
print("both ways", " ".join(answers))
failing("error", b"bad")
failing("deadline", b"slow", timeout=0.3)
_, call = unary.with_call(b"x", timeout=20)
print("metadata", dict(call.trailing_metadata())["x-last"])
"#;

pub const WEBSOCKET_SERVER: &str = r#"
import asyncio, sys
import websockets

async def echo(socket, *_):
    async for message in socket:
        await socket.send(message)

async def main():
    async with websockets.serve(echo, "127.0.0.1", int(sys.argv[1]), max_size=None):
        await asyncio.Future()

asyncio.run(main())
"#;

/// The port, and the file of the authority where TLS is spoken.
pub const WEBSOCKET_CLIENT: &str = r#"
import asyncio, ssl, sys
import websockets

async def main():
    port = int(sys.argv[1])
    more = {}
    if len(sys.argv) > 2:
        more = {"ssl": ssl.create_default_context(cafile=sys.argv[2]), "server_hostname": "www.test"}
    scheme = "wss" if more else "ws"
    said = []
    async with websockets.connect(f"{scheme}://127.0.0.1:{port}/a", max_size=None, **more) as socket:
        await socket.send("hello")
        assert await socket.recv() == "hello"
        said.append("small")
        await socket.send("x" * 1000000)
        assert len(await socket.recv()) == 1000000
        said.append("large")
        await socket.send(bytes(range(256)))
        assert await socket.recv() == bytes(range(256))
        said.append("binary")
        await asyncio.wait_for(await socket.ping(), 20)
        said.append("ping")
        await socket.close()
        said.append(f"closed {socket.close_code}")
    print(" ".join(said))

asyncio.run(main())
"#;
