"""A note into a part of it: the blocks of one section, or one named block, with the footnotes they refer to."""

from dataclasses import replace

from app.content.blocks import Block
from app.content.note import Note, Prose
from app.content.pieces import Footnotes, Heading, anchored, references


def excerpt(note: Note, section: str | None) -> tuple[Block, ...]:
    """From the heading of a section to the next one of its level or above; all of the note without a section.

    A block alone where that is named. Nothing where the note has no such section.
    """
    if section is None:
        return tuple(note.body)
    if any(anchor.id == section for anchor in note.anchors) and (alone := _block(note, section)):
        return (alone, *_footnotes(note, [alone]))
    blocks: list[Block] = []
    level = 0
    """Of the section once its heading has come; 0 outside it."""
    for block in note.body:
        if not isinstance(block, Prose):
            blocks += [block] if level else []
            continue
        tokens = []
        for token in block.tokens:
            named = isinstance(token, Heading) and section in (token.id, token.block)
            if isinstance(token, Heading) and (named or token.level <= level):
                level = token.level if named else 0
            if level and not isinstance(token, Footnotes):
                tokens.append(token)
        if tokens:
            blocks.append(Prose(tuple(tokens), block.line))
    return (*blocks, *_footnotes(note, blocks))


def _block(note: Note, id: str) -> Prose | None:
    """An item stands in a list of its own."""
    for block in note.body:
        found = anchored(block.tokens, id) if isinstance(block, Prose) else None
        if found and isinstance(block, Prose):
            item = str(found.tokens[0]).startswith("<li")
            return Prose(("<ul>\n", found, "</ul>\n") if item else (found,), block.line)
    return None


def _footnotes(note: Note, blocks: list[Block]) -> tuple[Prose, ...]:
    """The list at the end of the note, cut down to what the blocks refer to."""
    wanted = {number for block in blocks if isinstance(block, Prose) for number in references(block.tokens)}
    last = note.body[-1] if wanted else None
    if not isinstance(last, Prose) or not isinstance(last.tokens[0], Footnotes):
        return ()
    items = tuple(item for item in last.tokens[0].items if item.number in wanted)
    return (replace(last, tokens=(Footnotes(items),)),)
