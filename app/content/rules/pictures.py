"""`![words|300](picture.png)`, `![[picture.png|300x200]]`: pictures with a size; sound and film get their controls.

A picture that is not there leaves its words.
"""

import re
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.reading import reading
from app.content.rules.headings import words
from app.content.rules.wikilinks import MISSING
from app.language import Language

PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|svg|bmp)$", re.IGNORECASE)
SOUND = re.compile(r"\.(?:mp3|wav|ogg|oga|opus|m4a|flac|3gp)$", re.IGNORECASE)
FILM = re.compile(r"\.(?:mp4|webm|ogv|mov|mkv)$", re.IGNORECASE)
SIZE = re.compile(r"(?:^|\|)[ \t]*(?P<width>\d{1,5})(?:x(?P<height>\d{1,5}))?[ \t]*$")


def pictures(md: MarkdownIt) -> None:
    md.core.ruler.after("relative_links", "pictures", _pictures)
    md.add_render_rule("media", _media)
    md.add_render_rule("missing", _missing)


def _pictures(state: StateCore) -> None:
    if "![" in state.src:
        for token in state.tokens:
            for child in token.children or ():
                if child.type == "image":
                    _finish(child, reading(state).language)


def _finish(token: Token, language: Language) -> None:
    path = str(token.meta.get("file", ""))
    text = words(token.children or [])
    size = SIZE.search(text) if "whole" in token.meta or "|" in text else None
    if size:
        text = text[: size.start()].strip()
        token.attrs |= {name: number for name, number in size.groupdict().items() if number}
    token.content, token.children = text, [Token("text", "", 0, content=text)]
    if "missing" in token.meta:
        token.type, token.content, token.attrs = "missing", text or token.meta["missing"], {"title": MISSING[language]}
    elif path and not PICTURE.search(path):
        film, sound = FILM.search(path), SOUND.search(path)
        name = text or path.rsplit("/", 1)[-1]
        if film or sound:
            token.type, token.tag, token.attrs["aria-label"] = "media", "video" if film else "audio", name
        else:
            token.type, token.content, token.attrs = "file", name, {"href": token.attrs["src"]}
    else:
        token.attrs["loading"] = "lazy"


def _media(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    kept = {name: token.attrs[name] for name in ("src", "width", "height", "aria-label") if name in token.attrs}
    given = "".join(f' {name}="{escape(str(text))}"' for name, text in kept.items())
    return f'<{token.tag} controls preload="metadata"{given}></{token.tag}>'


def _missing(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    title = escape(str(token.attrs["title"]))
    return f'<span class="missing" title="{title}">{escape(token.content, quote=False)}</span>'
