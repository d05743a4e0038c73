"""Whether a target does what all must do alike. A target that does not makes the run void."""

import http.client
import ssl

from .machine import Failed


def connection(port, tls):
    if tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
    return http.client.HTTPConnection("127.0.0.1", port, timeout=5)


def ask(target, port, path, tls=False, cookie=None):
    client = connection(port, tls)
    try:
        client.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        answer = client.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise Failed(f"{target} did not answer {path}: {error}") from error
    finally:
        client.close()
    if answer.status != 200:
        raise Failed(f"{target} answered {path} with {answer.status}")
    return answer, body


def served(target, port, tls=False):
    """The three answers come whole; the chunked one chunked."""
    _, small = ask(target, port, "/small", tls)
    _, big = ask(target, port, "/big", tls)
    answer, _ = ask(target, port, "/chunked", tls)
    if small != b"hello from behind\n" or len(big) != 1 << 20:
        raise Failed(f"{target} changed an answer: {small!r}, {len(big)} bytes")
    if answer.getheader("Transfer-Encoding") != "chunked":
        raise Failed(f"{target} did not answer in chunks")


def persists(target, port, tls=False, has_cookie=True):
    """The client's address arrives, and a cookie brings it back to its server. The cookie."""
    answer, body = ask(target, port, "/who", tls)
    if b"forwarded_for=127.0.0.1" not in body:
        raise Failed(f"{target} does not send X-Forwarded-For: {body!r}")
    if not has_cookie:
        return None
    cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]
    if not cookie:
        raise Failed(f"{target} set no persistence cookie")
    for _ in range(6):
        _, again = ask(target, port, "/who", tls, cookie)
        if again != body:
            raise Failed(f"{target} did not keep its client: {body!r}, then {again!r}")
    return cookie
