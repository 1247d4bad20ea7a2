"""What mkdocs is told besides mkdocs.yml: files of the repository's root are pages, too, and links lead to them from either side.

A page that holds `<!-- the text of FILE -->` gets that file's text in its place. In the documents links are as the repository's host
shows them (`../../SECURITY.md`); here they become links to the pages.

A cell of a table says which column it is of, for narrow screens: docs/look.css shows a row there as a list.
"""

import os
import posixpath
import re

from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

PAGES = {
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "explanation/security.md",
}
INCLUDE = re.compile(r"^<!-- the text of ([A-Z]+\.md) -->$", re.M)
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def place(target, folder):
    """Where a link to `target` (from the root) leads, seen from `folder` of the site; None where it is no page of ours."""
    if target in PAGES:
        target = PAGES[target]
    elif target.startswith("docs/"):
        target = target[len("docs/") :]
    else:
        return None
    return posixpath.relpath(target, folder or ".")


class CellLabels(Treeprocessor):
    """Gives each cell of a table's body the text of its column's head."""

    def run(self, root):
        for table in root.iter("table"):
            heads = ["".join(it.itertext()).strip() for it in table.iter("th")]
            for row in table.iterfind("tbody/tr"):
                for head, cell in zip(heads, row):
                    if head:
                        cell.set("data-label", head)


class TableLabels(Extension):
    def extendMarkdown(self, md):
        # After what is inline (20), so that a head is plain text.
        md.treeprocessors.register(CellLabels(md), "cell-labels", 15)


def on_config(config):
    config.markdown_extensions.append(TableLabels())
    return config


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)
    root = os.path.dirname(config.config_file_path)

    def link(base):
        def change(found):
            if "://" in found[2] or found[2].startswith("mailto:"):
                return found[0]
            target = posixpath.normpath(posixpath.join(base, found[2]))
            other = place(target, folder)
            return found[1] + other + found[3] if other else found[0]

        return change

    # Its own links first: those into the documents are the same from either side.
    markdown = LINK.sub(link(posixpath.join("docs", folder)), markdown)

    def text(found):
        with open(os.path.join(root, found[1]), encoding="utf-8") as file:
            return LINK.sub(link("."), file.read())

    return INCLUDE.sub(text, markdown)
