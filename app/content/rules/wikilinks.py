"""`[[slug]]`, `[[slug#section|words]]`, and with `!` before it a picture, a file or a transclusion."""

import re
import unicodedata
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from app.content.reading import here, reading

WIKILINK = re.compile(
    r"(?P<shown>!?)\[\[(?P<target>[^\[\]\n|#]*)(?P<sections>#[^\[\]\n|]*)?(?:\|(?P<words>[^\[\]\n]*))?\]\]"
)
PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|svg|bmp)$", re.IGNORECASE)
FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")


def wikilinks(md: MarkdownIt) -> None:
    md.inline.ruler.before("marks", "wikilinks", _wikilink)


def _wikilink(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith(("[[", "![["), state.pos):
        return False
    match = WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None or not (match["target"].strip() or (match["sections"] or "").strip("# ")):
        return False
    if not silent:
        target = unicodedata.normalize("NFC", match["target"].strip())
        words = (match["words"] or "").strip() or None
        desk = reading(state)
        path = desk.files.find(desk.file, target) if "." in target else None
        if path is not None:
            _file(state, path, match["shown"], words)
        else:
            _note(state, target, _section(match["sections"]), match["shown"], words)
    state.pos = match.end()
    return True


def _section(written: str | None) -> str | None:
    """The last of several; a block id of Obsidian (`#^x`) names nothing that a page has."""
    last = unicodedata.normalize("NFC", (written or "").rsplit("#", 1)[-1].strip())
    return None if last.startswith("^") else last or None


def _note(state: StateInline, target: str, section: str | None, shown: str, words: str | None) -> None:
    desk, line = reading(state), here(state)
    token = state.push("transclusion" if shown else "wikilink", "a", 0)
    token.content = words or target or section or ""
    token.meta = {"target": target, "section": section, "words": words, "line": line}
    if state.linkLevel > 0:
        desk.fault(line, f"the link '[[{target}]]' stands inside another link; take one of the two away")
        token.type = "text"
    elif FILE.search(target) and (shown or not target.endswith(".md")):
        if shown:
            token.type = "wikilink"
        desk.fault(
            line, f"there is no file '{target}' in the content folder; put it there, or mend its name", stops=False
        )
    elif target.endswith(".md"):
        path = desk.files.beside(desk.file, target)
        token.meta["target"] = desk.files.slugs.get(path or "", target.rsplit("/", 1)[-1].removesuffix(".md"))
    elif "/" in target:
        token.meta["target"] = _slug(state, target)


def _slug(state: StateInline, target: str) -> str:
    """The slug of a note that is named by its path, as vaults do; a title with a stroke in it stays one."""
    files, language = reading(state).files, reading(state).language
    for path in (f"{target}.md", f"{target}.{language}.md"):
        if path in files.slugs:
            return files.slugs[path]
    return target


def _file(state: StateInline, path: str, shown: str, words: str | None) -> None:
    name = path.rsplit("/", 1)[-1]
    if shown and PICTURE.search(path):
        token = state.push("image", "img", 0)
        width = words if words and words.isdecimal() else None
        token.content = "" if width else words or ""
        token.attrs = {"src": f"/files/{quote(path)}", "alt": "", **({"width": width} if width else {})}
        token.children = [Token("text", "", 0, content=token.content)]
    else:
        token = state.push("file", "a", 0)
        token.attrs = {"href": f"/files/{quote(path)}"}
        token.content = words or name
    token.meta = {"file": path}
