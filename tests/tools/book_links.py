"""Follows every link of a folder of HTML pages: book_links.py FOLDER. Files exist, and anchors are of the page."""

import pathlib
import sys
from html.parser import HTMLParser

# Elements without an end.
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.faults, self.open = [], [], [], []
        self.feed(text)
        self.faults += [f"<{tag}> is not closed" for tag in self.open if tag not in ("p", "li", "html", "meta")]

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                if value in self.ids:
                    self.faults.append(f"#{value} twice")
                self.ids.append(value)
            elif name in ("href", "src"):
                self.links.append(value)

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.faults.append(f"</{tag}> behind <{self.open[-1] if self.open else ''}>")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    # all.html is a sheet of the papers' figures, not of the book.
    pages = {path: Page(path.read_text()) for path in folder.rglob("*.html")}
    faults, links = [], 0
    for path, page in pages.items():
        name = path.relative_to(folder)
        if name.name != "all.html":
            faults += [f"{name}: {fault}" for fault in page.faults]
        for link in page.links:
            if ":" in link:
                continue
            links += 1
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if folder not in target.parents or not target.is_file():
                faults.append(f"{name}: {link}: no such file")
            elif anchor and anchor not in pages[target].ids:
                faults.append(f"{name}: {link}: no such anchor")
    print(*faults, f"{len(pages)} pages, {links} links", sep="\n")
    return bool(faults) or len(pages) < 30


sys.exit(main())
