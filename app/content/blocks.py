"""The tokens of one note into its blocks, and into what stands in them: sections, passages, marks, numbers, links."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

from app.content import raw_html
from app.content.markdown import parser
from app.content.note import Embed, Link, Mark, Passage, Prose, Ran, Section, Transclusion
from app.content.pieces import Anchored, Back, Footnote, Footnotes, Heading, Linked, Marked, Number, Reference, Tag
from app.content.reading import Reading
from app.content.rules.headings import seen, words
from app.content.sentences import sentence_at

Block = Prose | Embed | Transclusion


@dataclass
class Blocks:
    """What a walk over the tokens, from the first to the last, has gathered."""

    reading: Reading
    body: list[Block] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    rans: list[Ran] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    anchors: list[Section] = field(default_factory=list)
    first_paragraph: str = ""

    _pieces: list[Any] = field(default_factory=list, init=False)
    _first_line: int = field(default=1, init=False)
    """Where the prose that the pieces will make begins."""
    _line: int = field(default=1, init=False)
    _section: str | None = field(default=None, init=False)
    _footnotes: dict[int, tuple[str | None, int]] = field(default_factory=dict, init=False)
    """Section and line of the first reference to each footnote."""
    _in_footnotes: bool = field(default=False, init=False)
    _marked_times: dict[str, int] = field(default_factory=dict, init=False)
    _open: list[tuple[str, int, int]] = field(default_factory=list, init=False)
    """Of each block with a name that is open: its id, its level, and where among the pieces it begins."""

    def walk(self, tokens: list[Token]) -> None:
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.map:
                self._line = self.reading.line(token.map[0])
            if token.type == "heading_open" and token.level == 0:
                self._heading(token, tokens[index + 1])
                index += 2
            elif token.type == "embed":
                self._embed(token)
            elif token.type == "transclusion":
                self._end_prose()
                self.body.append(Transclusion(token.meta["target"], token.meta["section"], token.meta["line"]))
            elif token.type == "footnote_block_open":
                self._end_prose()
                self._all_footnotes(tokens[index + 1 :])
                break
            else:
                self._add(self._block(tokens, index))
                if not self.first_paragraph and token.type == "inline" and tokens[index - 1].type == "paragraph_open":
                    self.first_paragraph = words(token.children or []) if token.level == 1 else ""
            index += 1
        self._end_prose()

    def _block(self, tokens: list[Token], index: int) -> list[Any]:
        token = tokens[index]
        if "anchor" in token.meta:
            return self._anchored(token, tokens, index)
        if token.nesting < 0 and self._open and self._open[-1][1] == token.level:
            id, _, start = self._open.pop()
            inside = (*self._pieces[start:], _html(tokens, index))
            del self._pieces[start:]
            return [Anchored(id, _merged(inside))]
        if token.type == "inline":
            return self._inline(token)
        if "piece" in token.meta:
            return [token.meta["piece"]]
        if token.type == "math_block":
            self._passage(token.meta["plain"])
        elif token.type == "html_block":
            for line in raw_html.lines(token.content):
                self._passage(line)
        if token.type == "footnote_anchor":
            return [Back(token.meta["id"] + 1, token.meta["subId"] + 1)]
        return [_html(tokens, index)]

    def _anchored(self, token: Token, tokens: list[Token], index: int) -> list[Any]:
        id = token.meta.pop("anchor")
        self.anchors.append(Section(id, "", 0, self._line, False))
        if token.nesting > 0:
            self._open.append((id, token.level, len(self._pieces)))
            return self._block(tokens, index)
        return [Anchored(id, _merged(["<div>", *self._block(tokens, index), "</div>\n"]))]

    def _heading(self, token: Token, inline: Token) -> None:
        level, id, title = int(token.tag[1]), str(token.attrs["id"]), token.meta["title"]
        self.sections.append(Section(id, title, level, self._line, token.meta["explicit"]))
        if token.meta["explicit"] and level == 2:
            self._section = id
        block = token.meta.get("anchor", "")
        if block:
            self.anchors.append(Section(block, title, 0, self._line, False))
        self._add([Heading(level, id, title, _merged(self._inline(inline, passage=False)), block)])

    def _embed(self, token: Token) -> None:
        embed = token.meta.get("embed")
        if embed is None:
            return
        names = {block.name: block.line for block in self.body if isinstance(block, Embed)}
        if embed.name in names:
            what = (
                f"a widget named '{embed.name}' is already in line {names[embed.name]}; give this one a name, 'as: …'"
            )
            self.reading.fault(embed.line, what)
            return
        self._end_prose()
        self.body.append(embed)

    def _all_footnotes(self, tokens: list[Token]) -> None:
        items, before = [], self._section
        self._in_footnotes = True
        for index, token in enumerate(tokens):
            if token.type == "footnote_open":
                number = token.meta["id"] + 1
                self._section, self._line = self._footnotes.get(number, (None, self._line))
            elif token.type == "footnote_close":
                items.append(Footnote(number, _merged(self._pieces)))
                self._pieces = []
            elif token.type != "footnote_block_close":
                self._line = self.reading.line(token.map[0]) if token.map else self._line
                self._pieces += self._block(tokens, index)
        self._section, self._in_footnotes = before, False
        self.body.append(Prose((Footnotes(tuple(items)),), self._line))

    def _inline(self, token: Token, passage: bool = True) -> list[Any]:
        """Pieces of a paragraph and its like; what it holds is told apart from where it stands in its text."""
        children = token.children or []
        parts = list(seen(children))
        text = " ".join("".join(parts).split())
        if passage and "ours" not in token.meta:
            self._passage(text)
        pieces: list[Any] = []
        index = 0
        while index < len(children):
            child = children[index]
            if child.type == "text":
                pieces.append(escapeHtml(child.content))
            elif child.type == "link_open" and "note" in child.meta:
                end = _link_end(children, index)
                pieces.append(self._linked(child, children[index + 1 : end], _sentence(text, parts[:index])))
                index = end
            else:
                sentence = _sentence(text, parts[:index]) if child.type in ("mark", "wikilink") else ""
                pieces.append(self._piece(children, index, sentence))
            index += 1
        if "done" in token.meta:
            ticked = " checked" if token.meta["done"] else ""
            return [f'<label><input type="checkbox" disabled{ticked}> ', *pieces, "</label>"]
        return pieces

    def _passage(self, text: str) -> None:
        if text := " ".join(text.split()):
            self.passages.append(Passage(self._section, text, self._line, self._in_footnotes))

    def _piece(self, children: list[Token], index: int, sentence: str) -> Any:
        child = children[index]
        meta = child.meta
        if "file" in meta:
            self.files.append(meta["file"])
        match child.type:
            case "mark":
                return self._marked(child, sentence)
            case "ran":
                return self._ran(child)
            case "wikilink":
                link = Link(meta["target"], meta["section"], meta["words"], sentence, meta["line"])
                self.links.append(link)
                return Linked(link.target, link.section, escape(link.words, quote=False) if link.words else None)
            case "footnote_ref":
                number = meta["id"] + 1
                self._footnotes.setdefault(number, (self._section, self._line))
                return Reference(number, meta.get("subId", 0) + 1)
            case "tag":
                return Tag(meta["name"], escape(child.content, quote=False))
            case "file":
                return f'<a href="{child.attrs["href"]}">{escape(child.content, quote=False)}</a>'
            case _:
                return _html(children, index)

    def _marked(self, token: Token, sentence: str) -> Marked:
        concept = token.meta["given"]["concept"]
        self._marked_times[concept] = self._marked_times.get(concept, 0) + 1
        anchor = f"at-{concept}-{self._marked_times[concept]}"
        children = token.children or []
        self.marks.append(Mark(concept, words(children), self._section, sentence, anchor, token.meta["line"]))
        return Marked(concept, anchor, _all_html(children))

    def _ran(self, token: Token) -> Number:
        given = {key: value for key, value in token.meta["given"].items() if key not in ("ran", "read")}
        children = token.children or []
        ran = Ran(token.meta["given"]["ran"], given, token.meta["given"]["read"], words(children), token.meta["line"])
        self.rans.append(ran)
        return Number(ran, _all_html(children))

    def _linked(self, token: Token, inside: list[Token], sentence: str) -> Linked:
        target, section, line = token.meta["note"]
        self.links.append(Link(target, section, words(inside) or None, sentence, line))
        return Linked(target, section, _all_html(inside) or None)

    def _add(self, pieces: list[Any]) -> None:
        if not self._pieces:
            self._first_line = self._line
        self._pieces += pieces

    def _end_prose(self) -> None:
        if self._pieces:
            self.body.append(Prose(_merged(self._pieces), self._first_line))
            self._pieces = []


def _sentence(text: str, seen: list[str]) -> str:
    """The sentence of a text around the place where what was seen of it so far ends; the text has single spaces."""
    before = "".join(seen)
    spaced = " ".join(before.split())
    return sentence_at(text, len(spaced) + (bool(spaced) and before[-1].isspace()))


def _html(tokens: list[Token], index: int) -> str:
    """The HTML of a token that needs nothing but itself."""
    md = parser()
    rule = md.renderer.rules.get(tokens[index].type)  # type: ignore[attr-defined]
    if rule:
        return str(rule(tokens, index, md.options, {}))
    return str(md.renderer.renderToken(tokens, index, md.options, {}))  # type: ignore[attr-defined]


def _all_html(tokens: list[Token]) -> str:
    return "".join(_html(tokens, index) for index in range(len(tokens)))


def _link_end(children: list[Token], start: int) -> int:
    depth = 0
    for index in range(start, len(children)):
        depth += {"link_open": 1, "link_close": -1}.get(children[index].type, 0)
        if depth == 0:
            return index
    return len(children)


def _merged(pieces: Iterable[Any]) -> tuple[Any, ...]:
    """The same with strings that stand together made one."""
    merged: list[Any] = []
    texts: list[str] = []
    for piece in [*pieces, None]:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if texts:
            merged.append("".join(texts))
            texts = []
        if piece is not None:
            merged.append(piece)
    return tuple(merged)
