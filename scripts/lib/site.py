"""Checks the documentation site: every link of every page leads somewhere, a browser shows the pages that newcomers see first, and the
search finds symbols and articles."""

import argparse
import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

# Pages, and what has to be seen there: a symbol, the titles of its topics, and code.
SHOWN = {
    "/documentation/tintype/": ["Asynchronous image loading", "Loading", "Caching", "Errors", "ImageManager"],
    "/documentation/tintype/imagemanager/": ["ImageManager", "Loading an image", "Looking into the cache", "image(for:)"],
    "/documentation/tintype/loading/": ["ImageRequest", "manager", "await"],
    "/documentation/tintype/picturebrowser/": ["TintypeItemFactory", "decodeSize"],
    "/documentation/tintypetesting/originserver/": ["OriginServer", "start"],
    "/documentation/tintypegtk/": ["TintypePicture", "MainActorBridge"],
}

# What a reader types into the search of the sidebar, and the title that has to be found.
SEARCHES = {"thumbnailsize": "thumbnailSize", "alternatives": "Choosing between alternatives", "diskcache": "DiskCache", "jpegcoder": "JPEGCoder"}
SECONDS = 60


def strings(value):
    """All references in a tree of JSON: the identifiers of inline links and of topics."""
    if isinstance(value, dict):
        if value.get("type") == "reference" and "identifier" in value:
            yield value["identifier"]
        for key, child in value.items():
            if key == "identifiers" and isinstance(child, list):
                yield from (one for one in child if isinstance(one, str))
            elif key != "references":
                yield from strings(child)
    elif isinstance(value, list):
        for child in value:
            yield from strings(child)


def crawl(site, base):
    """Follows the links from the landing page. Returns the pages and the dead links."""
    data, dead, pages, waiting = site / "data", [], set(), ["/documentation"]
    while waiting:
        page = waiting.pop()
        if page in pages:
            continue
        pages.add(page)
        content = json.loads((data / (page.strip("/") + ".json")).read_text())
        references = content.get("references", {})
        # The names of protocols of the standard library, to which types conform, are shown without a link.
        text = {key: value for key, value in content.items() if key not in ("references", "identifier", "relationshipsSections")}
        for one in set(strings(text)):
            if references.get(one, {"type": "unresolvable"}).get("type") == "unresolvable":
                dead.append(f"{page}: {one} is not resolved")
        for reference in references.values():
            kind, url = reference.get("type"), reference.get("url", "")
            if kind in ("topic", "section") and url.startswith("/"):
                target = url.split("#")[0].rstrip("/").lower()
                if (data / (target.strip("/") + ".json")).exists():
                    waiting.append(target)
                else:
                    dead.append(f"{page}: there is no page {url}")
            for variant in reference.get("variants", []):
                name = variant.get("url", "").removeprefix("/")
                if name and "://" not in name and not (site / name.removeprefix(f"{base}/")).exists():
                    dead.append(f"{page}: there is no file {name}")
    return pages, dead


def topics(site, page):
    content = json.loads((site / "data" / (page + ".json")).read_text())
    return [section.get("title") for section in content.get("topicSections", [])]


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Browser:
    """Headless Chromium, which is steered by the DevTools protocol through a pipe."""

    def __init__(self, program, profile):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "browser", program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1600,1200",
             f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            pass_fds=[commands, answers], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.input, self.number = b"", 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, session=None, **parameters):
        """Sends a command, and returns its result. Events are skipped."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.input:
                piece = os.read(self.answers, 1 << 16)
                if not piece:
                    sys.exit("Chromium has ended")
                self.input += piece
            line, _, self.input = self.input.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer.get("result", {})

    def open(self, address):
        self.call("Page.navigate", self.session, url=address)

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", self.session, expression=script, returnByValue=True)
        return result.get("result", {}).get("value")

    def waits_for(self, script):
        """Returns false if a condition isn't true after a while."""
        end = time.monotonic() + SECONDS
        while not self.evaluate(script):
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    def type(self, text):
        self.call("Input.insertText", self.session, text=text)

    def close(self):
        self.process.kill()
        self.process.wait()


def show(site, base):
    """Opens pages in headless Chromium, which runs the site's scripts, and looks at what they made."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        return ["there is no Chromium"]
    missing = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        root.mkdir()
        served = root / base if base else root
        if base:
            served.symlink_to(site.resolve())
        handler = functools.partial(Handler, directory=str(root if base else site))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}{'/' + base if base else ''}"
        browser = Browser(program, f"{folder}/profile")
        try:
            for page, texts in SHOWN.items():
                browser.open(origin + page)
                for text in texts:
                    if not browser.waits_for(f"document.body.outerHTML.includes({json.dumps(text)})"):
                        missing.append(f"{page} does not show '{text}'")
                if not browser.waits_for("document.querySelector('code') !== null"):
                    missing.append(f"{page} shows no code")
            for typed, title in SEARCHES.items():
                browser.open(origin + "/documentation/tintype/?" + typed.replace(" ", "-"))
                field = "document.querySelector('.navigator input.filter__input')"
                if not browser.waits_for(f"{field} !== null"):
                    missing.append("there is no search in the sidebar")
                    break
                browser.evaluate(f"{field}.focus(); {field}.select()")  # The text of the last search is still there.
                browser.type(typed)
                if not browser.waits_for(f"document.querySelector('.navigator').innerText.includes({json.dumps(title)})"):
                    missing.append(f"a search for '{typed}' does not find '{title}'")
        finally:
            browser.close()
            server.shutdown()
    return missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("base", nargs="?", default="")
    parser.add_argument("--browser", action="store_true")
    arguments = parser.parse_args()
    pages, problems = crawl(arguments.site, arguments.base)
    for page in SHOWN:
        if page.rstrip("/") not in pages:
            problems.append(f"{page} cannot be reached from the landing page")
    if len(topics(arguments.site, "documentation/tintype/imagemanager")) < 4:
        problems.append("the page of ImageManager has no groups of topics")
    if arguments.browser:
        problems += show(arguments.site, arguments.base)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(pages)} pages, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
