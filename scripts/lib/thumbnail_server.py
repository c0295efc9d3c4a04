"""Runs the thumbnail server of the tutorial beside a server of pictures, and checks its answers."""

import functools
import http.server
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


class Pictures(http.server.SimpleHTTPRequestHandler):
    requests = 0

    def do_GET(self):
        Pictures.requests += 1
        super().do_GET()

    def log_message(self, *_):
        pass


def get(port, **parameters):
    """The status, the media type, and the body of an answer."""
    url = f"http://127.0.0.1:{port}/thumbnail?{urllib.parse.urlencode(parameters)}"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read()


def start(program, *arguments):
    """Starts a server on a free port, and waits until it answers."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures) as free:
        port = free.server_port
    process = subprocess.Popen([program, str(port), *arguments])
    for _ in range(600):
        try:
            get(port)
            return process, port
        except (urllib.error.URLError, ConnectionError):
            if process.poll() is not None:
                break
            time.sleep(0.1)
    process.kill()
    sys.exit("The thumbnail server does not answer.")


def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r}, and not {expected!r}")


def main(program, folder):
    pictures = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pictures, directory=folder))
    threading.Thread(target=pictures.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{pictures.server_port}"
    picture = f"{origin}/{sorted(pathlib.Path(folder).iterdir())[0].name}"
    with tempfile.TemporaryDirectory() as cache:
        server, port = start(program, cache, "--local")
        try:
            status, kind, thumbnail = get(port, url=picture, width=200)
            expect("thumbnail", (status, kind, thumbnail[:4], thumbnail[8:12]), (200, "image/webp", b"RIFF", b"WEBP"))
            asked = Pictures.requests
            expect("the same thumbnail", get(port, url=picture, width=200)[2], thumbnail)
            expect("no width", get(port, url=picture)[0], 400)
            expect("no picture", get(port, url=f"{origin}/none.png", width=200)[0], 404)
            expect("a file", get(port, url="file:///etc/passwd", width=200)[0], 400)
            if Pictures.requests > asked + 2:
                sys.exit(f"{Pictures.requests - asked} requests for a cached picture and a missing one")
        finally:
            server.terminate()
            server.wait(timeout=30)
        server, port = start(program, f"{cache}/public")  # A cache of its own, without what the first server has loaded.
        try:
            expect("an address of the own network", get(port, url=picture, width=200)[0], 400)
        finally:
            server.terminate()
            server.wait(timeout=30)
    print(f"The thumbnail server sent {len(thumbnail)} bytes of WebP, and refused what it should.")


if __name__ == "__main__":
    main(*sys.argv[1:])
