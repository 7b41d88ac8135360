"""`$…$` and `$$…$$`: LaTeX into MathML, made here once and for all.

A dollar opens before no space and closes after no space and before no digit, so prices stay prices. Nor is Chinese
prose between two dollars a formula, as in 从$5涨到$6、HK$和US$: characters stand in the braces of one, `$L_{总}$`.
"""

import re
from functools import lru_cache
from html import escape
from typing import Any
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath.index import math_block_dollar

from app.content.reading import here, reading
from app.numerals import SUPERSCRIPT

DISPLAYED = re.compile(r"\$\$(?P<latex>(?:[^$\\]|\\.)+)\$\$", re.DOTALL)
RUNNING = re.compile(r"\$(?!\s)(?P<latex>(?:[^$\\]|\\.)+)(?<!\s)\$(?!\d)", re.DOTALL)
PARTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "mover": 2, "munder": 2, "msubsup": 3, "munderover": 3}
"""How many children an element has; the converter is content with fewer."""
BRACED = re.compile(r"\{[^{}]*\}")
PROSE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uf900-\ufaff\uff01-\uff60]")
SPACED = frozenset("=+−-×·/<>≤≥≠≈→∈∣")
PREFIX = re.compile(r"(^|[(\[,])\s*([+−-])\s+")
"""A sign that belongs to the number behind it."""
ALIGNED = re.compile(r"(\\(?:begin|end)\{)aligned\}")


def mathematics(md: MarkdownIt) -> None:
    md.block.ruler.before("fence", "math_block", math_block_dollar(allow_labels=False, allow_blank_lines=False))
    md.inline.ruler.before("escape", "math_inline", _inline)
    md.core.ruler.after("block", "math_block_html", _blocks)
    md.add_render_rule("math_inline", _html)
    md.add_render_rule("math_block", _html)


def _inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    match = DISPLAYED.match(state.src, state.pos, state.posMax) or RUNNING.match(state.src, state.pos, state.posMax)
    if match is None or (match.re is RUNNING and _prose(match["latex"])):
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = match["latex"].strip()
        displayed = match.re is DISPLAYED
        token.meta["html"] = _mathml(token.content, match[0], "block" if displayed else "inline", here(state), state)
        token.meta["plain"] = _plain(token.meta["html"], token.content, match[0])
    state.pos = match.end()
    return True


def _prose(latex: str) -> bool:
    """Whether Chinese stands in it outside of braces."""
    while PROSE.search(latex) and latex != (latex := BRACED.sub("", latex)):
        pass
    return PROSE.search(latex) is not None


def _blocks(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "math_block":
            line = reading(state).line(token.map[0] if token.map else 0)
            latex = token.content.strip()
            written = f"$$\n{latex}\n$$"
            html = _mathml(latex, written, "block", line, state)
            token.meta["html"] = html if html.startswith("<math") else f"<pre>{html}</pre>"
            token.meta["plain"] = _plain(html, latex, written)


def _plain(html: str, latex: str, written: str) -> str:
    """What is read of a formula: as it was written where it could not be made."""
    return (in_words(html) or latex) if html.startswith("<math") else written


def _mathml(latex: str, written: str, display: str, line: int, state: StateCore | StateInline) -> str:
    """As it was written, in a `code` element, where it cannot be read."""
    html, why = mathml(latex, display)
    if why:
        what = (
            f"this LaTeX cannot be read: {latex!r} ({why}), so it is shown as code; mend it, or write \\$ for a dollar"
        )
        reading(state).fault(line, what, stops=False)
        return f"<code>{escape(written, quote=False)}</code>"
    return html


@lru_cache(maxsize=4096)
def mathml(latex: str, display: str) -> tuple[str, str]:
    """MathML and no complaint, or nothing and what is wrong."""
    from latex2mathml.converter import convert  # which a start that finds every note as it was need not wait for

    try:
        html = convert(ALIGNED.sub(r"\1align*}", latex), display=display)
    except Exception as error:  # its reader raises whatever it stumbles over
        return "", str(error) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__.removesuffix("Error")).lower()
    why = _unfit(html)
    return ("", why) if why else (html, "")


def in_words(html: str) -> str:
    """A formula as a line of plain text, `(w − target)² / 2`: what search finds and a sentence quotes."""
    return " ".join(_line(ElementTree.fromstring(html)).split()) if html else ""


def _line(element: ElementTree.Element) -> str:
    name = element.tag.rpartition("}")[2]
    parts = [_line(child) for child in element]
    if name == "mo":
        sign = (element.text or "").strip()
        return f" {sign} " if sign in SPACED else sign
    if name in ("msup", "msub", "mfrac") and len(parts) == 2:
        first, second = (part.strip() for part in parts)
        if name == "mfrac":
            return f"{first}/{second}"
        raised = second.replace(" ", "").replace("−", "-")
        if name == "msup" and raised == "′":
            return f"{first}′"
        if name == "msup" and set(raised) <= set("+-0123456789"):
            return first + raised.translate(SUPERSCRIPT)
        return f"{first}{'^' if name == 'msup' else '_'}{second}"
    if name in ("msqrt", "mroot"):
        return f"√({' '.join(parts)})"
    if name == "mspace":
        return " "
    words = "".join(parts) or (element.text or "")
    return PREFIX.sub(r"\1\2", words)


def _unfit(html: str) -> str:
    """What the converter let pass although it means nothing; empty where all is well."""
    try:
        tree = ElementTree.fromstring(html)
    except ElementTree.ParseError:
        return "a sign stands where it cannot"
    for element in tree.iter():
        name, words = element.tag.rpartition("}")[2], element.text or ""
        if name in ("mi", "mo") and re.fullmatch(r"\\[A-Za-z]+", words):
            return f"'{words}' is not known here"
        if len(element) != PARTS.get(name, len(element)):
            return "a part of it is missing"
    return ""


def _html(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    return str(tokens[index].meta["html"]) + "\n" * tokens[index].block
