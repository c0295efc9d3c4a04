"""Checks the documentation site: every link of every page leads somewhere, and a browser shows the pages that newcomers see first."""

import argparse
import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

# Pages, and what has to be seen there: a symbol, the titles of its topics, and code.
SHOWN = {
    "/documentation/tintype/": ["Asynchronous image loading", "Loading", "Caching", "Errors", "ImageManager"],
    "/documentation/tintype/imagemanager/": ["ImageManager", "Loading an image", "Looking into the cache", "image(for:)"],
    "/documentation/tintype/loading/": ["ImageRequest", "manager", "await"],
    "/documentation/tintypetesting/originserver/": ["OriginServer", "start"],
}


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


def show(site, base):
    """Opens pages in headless Chromium, which runs the site's scripts, and looks at what they made."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
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
        for page, texts in SHOWN.items():
            address = f"http://127.0.0.1:{server.server_port}{'/' + base if base else ''}{page}"
            # The virtual time of the browser may run out before a busy machine has sent everything.
            for attempt in range(1, 4):
                made = subprocess.run(
                    [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     f"--user-data-dir={folder}/profile", f"--virtual-time-budget={attempt * 20000}", "--dump-dom", address],
                    capture_output=True, text=True, timeout=120).stdout
                absent = [f"{page} does not show '{text}'" for text in texts if text not in made]
                if "<code" not in made:
                    absent.append(f"{page} shows no code")
                if not absent:
                    break
            missing += absent
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
