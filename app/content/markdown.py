"""Text into markdown-it tokens, by the rules of this table.

CommonMark with tables and struck-out text, and what the garden adds. A rule is a function that a parser is
given to; it has its file, its row here, and its cases in tests/content/cases.
"""

from collections.abc import Callable
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_cjk_friendly import cjk_friendly

from app.content.reading import Reading
from app.content.rules.anchors import anchors
from app.content.rules.callouts import callouts
from app.content.rules.code import code
from app.content.rules.comments import comments
from app.content.rules.footnotes import footnotes
from app.content.rules.headings import headings
from app.content.rules.highlights import highlights
from app.content.rules.line_breaks import line_breaks
from app.content.rules.lines import lines
from app.content.rules.links import links
from app.content.rules.marks import marks
from app.content.rules.mathematics import mathematics
from app.content.rules.pictures import pictures
from app.content.rules.tables import tables
from app.content.rules.tags import tags
from app.content.rules.tasks import tasks
from app.content.rules.text import text
from app.content.rules.transclusions import transclusions
from app.content.rules.widgets import widgets
from app.content.rules.wikilinks import wikilinks

RULES: tuple[Callable[[MarkdownIt], None], ...] = (
    cjk_friendly,  # **，** beside Chinese punctuation
    text,  # up to the next sign
    lines,  # every rule below knows its line
    comments,  # %%for the author alone%%
    headings,  # ## Title {#id}
    anchors,  # a paragraph ^id
    callouts,  # > [!note] Title
    tasks,  # - [x] done
    highlights,  # ==words==
    mathematics,  # $…$ and $$…$$
    marks,  # [words]{concept=…} and [0.352]{ran=… read=…}
    wikilinks,  # [[slug#section|words]], [[note#^id]], ![[picture.png]]
    footnotes,  # [^1] and ^[words]
    tags,  # #tag and #nested/tag
    links,  # [words](other.md#heading), [words](files/x.py), ![words](picture.png)
    pictures,  # ![[picture.png|300x200]], sound and film
    transclusions,  # ![[slug#section]]
    widgets,  # ```widget momentum
    code,  # ```python
    tables,  # columns to the left, right and middle without styles
    line_breaks,  # none between two Han characters
)


def tokens(source: str, reading: Reading) -> list[Token]:
    """The tokens of a note's text without its front matter; what is wrong with it is in the reading afterwards."""
    return parser().parse(source, {"reading": reading})


@cache
def parser() -> MarkdownIt:
    md = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for rule in RULES:
        md.use(rule)
    return md
