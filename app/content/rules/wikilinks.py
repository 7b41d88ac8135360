"""`[[slug]]`, `[[folder/note#section|words]]`, `[[note#^id]]`; with `!` a picture, a file or a transclusion."""

import re
import unicodedata
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from app.content.files import OBSIDIANS
from app.content.reading import Reading, here, reading
from app.content.rules.anchors import PREFIX
from app.language import Text

MISSING = Text("This file is missing", "缺少这个文件")
WIKILINK = re.compile(
    r"(?P<shown>!?)\[\[(?P<target>[^\[\]\n|#]*)(?P<sections>#[^\[\]\n|]*)?(?:\|(?P<words>[^\[\]\n]*))?\]\]"
)
FILE = re.compile(
    r"\.(?:png|jpe?g|gif|webp|avif|svg|bmp|mp3|wav|ogg|oga|opus|m4a|flac|3gp|mp4|webm|ogv|mov|mkv|pdf|docx?|xlsx?|pptx?"
    r"|odt|epub|zip|gz|csv|tsv|json|ya?ml|toml|txt|rtf|bib|tex|py|ipynb|html?|css)$",
    re.IGNORECASE,
)
"""Names that are those of files; a note may be called Node.js."""


def wikilinks(md: MarkdownIt) -> None:
    md.inline.ruler.before("marks", "wikilinks", _wikilink)


def _wikilink(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith(("[[", "![["), state.pos):
        return False
    match = WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None or not (match["target"].strip(" \\") or (match["sections"] or "").strip("# \\")):
        return False
    if not silent:
        target = unicodedata.normalize("NFC", match["target"].rstrip("\\").strip())
        sections = (match["sections"] or "").rstrip("\\")
        words = (match["words"] or "").strip() or None
        path = _path(reading(state), target) if "." in target else None
        if path is not None:
            _file(state, path, match["shown"], words, sections)
        else:
            _note(state, target, section_named(sections), match["shown"], words)
    state.pos = match.end()
    return True


def section_named(written: str) -> str | None:
    """The section that `#a#b` means, the last of several; of a block `^id` the id that it has in the page."""
    last = unicodedata.normalize("NFC", written.rsplit("#", 1)[-1].strip())
    return f"{PREFIX}{last[1:]}" if last.startswith("^") else last or None


def _path(desk: Reading, target: str) -> str | None:
    """A drawing of Excalidraw stands for the picture that was made of it."""
    path = desk.ask("find", target)
    if path is None and OBSIDIANS.search(target):
        stem = re.sub(r"\.md$", "", target)
        names = (f"{stem}.svg", f"{stem}.png", f"{stem.removesuffix('.excalidraw')}.svg")
        return next((found for name in names if (found := desk.ask("find", name))), None)
    return path


def _note(state: StateInline, target: str, section: str | None, shown: str, words: str | None) -> None:
    desk, line = reading(state), here(state)
    if (FILE.search(target) or OBSIDIANS.search(target)) and desk.ask("slug", target) is None:
        _missing(state, target, shown, words)
        return
    token = state.push("transclusion" if shown else "wikilink", "a", 0)
    token.content = words or target or section or ""
    token.meta = {"target": _slug(desk, target), "section": section, "words": words, "line": line}
    if state.linkLevel > 0:
        what = f"the link '[[{target}]]' stands inside another link, so it is shown as text; take one of the two away"
        desk.fault(line, what, stops=False)
        token.type = "text"


def _slug(desk: Reading, target: str) -> str:
    """The slug of a note that is named by its path, as vaults do; a title with a stroke in it stays one."""
    if "/" in target or target[-3:].lower() == ".md":
        name = re.sub(r"\.md$", "", target, flags=re.IGNORECASE)
        return desk.ask("slug", target) or (name if name == target else name.rsplit("/", 1)[-1])
    return desk.ask("twin", target) or target


def _missing(state: StateInline, target: str, shown: str, words: str | None) -> None:
    desk = reading(state)
    what = f"there is no file '{target}' in the content folder; put it there, or mend its name"
    if OBSIDIANS.search(target):
        what = f"'{target}' is shown by Obsidian only; beside it, put a picture of it that is called '{target}.svg'"
    desk.fault(here(state), what, stops=False)
    token = state.push("image" if shown else "missing", "", 0)
    token.content = words or target
    token.meta = {"missing": target, "whole": True}
    token.attrs = {"src": "", "alt": ""} if shown else {"title": MISSING[desk.language]}
    token.children = [Token("text", "", 0, content=words)] if words else []


def _file(state: StateInline, path: str, shown: str, words: str | None, sections: str) -> None:
    """A picture, sound or film as an image, which the rule of pictures finishes; any other file as a link."""
    page = sections.strip("# ")
    href = f"/files/{quote(path)}" + (f"#{quote(page, safe='=&')}" if page else "")  # of a PDF, #page=3
    token = state.push("image", "img", 0) if shown else state.push("file", "a", 0)
    token.content = words or ("" if shown else path.rsplit("/", 1)[-1])
    token.attrs = {"src": href, "alt": ""} if shown else {"href": href}
    token.children = [Token("text", "", 0, content=words)] if shown and words else []
    token.meta = {"file": path, "whole": True}
