"""A note and its translation into what parts them: sections, embeds and ran numbers must be the same."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from app.content.note import Note, Ran
from app.errors import Fault
from app.numerals import folded, numeral

RanKey = tuple[str, tuple[tuple[str, str], ...], str]
"""Name, parameters and path: what a ran number is about."""


def differences(one: Note, two: Note) -> Iterator[Fault]:
    """Errors, but a warning where the growth differs; each stands at the line that has no equal."""
    yield from _sections(one, two)
    yield from _embeds(one, two)
    yield from _rans(one, two)
    if one.growth != two.growth:
        what = f"the growth is {one.growth} here and {two.growth} in {two.file}; write the same in both"
        yield Fault(one.file, 1, what, stops=False)


def _sections(one: Note, two: Note) -> Iterator[Fault]:
    for note, other in ((one, two), (two, one)):
        theirs = [section.id for section in other.sections if section.explicit]
        alone = [section for section in note.sections if section.explicit and section.id not in theirs]
        for section in alone:
            near = get_close_matches(section.id, theirs, n=1)
            likely = f" (is it '{near[0]}' there?)" if near else ""
            mend = f"give its heading there {{#{section.id}}}, or take the id away here"
            yield Fault(note.file, section.line, f"section '{section.id}' is not in {other.file}{likely}; {mend}")
    ours = [section.id for section in one.sections if section.explicit]
    theirs = [section.id for section in two.sections if section.explicit]
    if ours != theirs and Counter(ours) == Counter(theirs):
        lines = {section.id: section.line for section in one.sections}
        moved = next(at for at, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        what = f"section '{ours[moved]}' stands where {two.file} has '{theirs[moved]}'; put them in the same order"
        yield Fault(one.file, lines[ours[moved]], what)


def _embeds(one: Note, two: Note) -> Iterator[Fault]:
    for note, other in ((one, two), (two, one)):
        theirs = {embed.name for embed in other.embeds}
        for embed in note.embeds:
            if embed.name not in theirs:
                what = f"embed '{embed.name}' ({embed.experiment}) is not in {other.file}; place it there too"
                yield Fault(note.file, embed.line, what)
    twins = {embed.name: embed for embed in two.embeds}
    for embed in one.embeds:
        twin = twins.get(embed.name)
        if twin and (parts := list(_parts(_embed(embed.experiment, embed.given), _embed(twin.experiment, twin.given)))):
            where = f"{two.file}:{twin.line}"
            yield Fault(one.file, embed.line, f"embed '{embed.name}' is not that of {where}: {', '.join(parts)}")


def _embed(experiment: str, given: Mapping[str, str]) -> dict[str, str]:
    return {"experiment": experiment, **{name: folded(text) for name, text in given.items()}}


def _parts(ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            yield f"{name} is {ours.get(name, 'not given')} here, {theirs.get(name, 'not given')} there"


def _rans(one: Note, two: Note) -> Iterator[Fault]:
    ours, theirs = _by_key(one), _by_key(two)
    for note, mine, other, yours in ((one, ours, two, theirs), (two, theirs, one, ours)):
        for about, rans in mine.items():
            for ran in rans[len(yours.get(about, ())) :]:
                what = f"the ran number {ran.written} ({_words(about)}) is not in {other.file}; write it there too"
                yield Fault(note.file, ran.line, what)
    for about, rans in ours.items():
        for ran, twin in zip(rans, theirs.get(about, ()), strict=False):
            if not _same(ran.written, twin.written):
                said = f"says {ran.written} here and {twin.written} in {two.file}:{twin.line}"
                yield Fault(one.file, ran.line, f"the ran number ({_words(about)}) {said}; write the same in both")


def _by_key(note: Note) -> dict[RanKey, list[Ran]]:
    """In order of what they say, so that two numbers about the same may change places in a translation."""
    found: dict[RanKey, list[Ran]] = defaultdict(list)
    for ran in sorted(note.rans, key=lambda ran: (str(numeral(ran.written) or ran.written), ran.line)):
        given = tuple(sorted((name, folded(text)) for name, text in ran.given.items()))
        found[(ran.name, given, ran.read)].append(ran)
    return found


def _words(about: RanKey) -> str:
    name, given, read = about
    return " ".join((name, *(f"{parameter}={text}" for parameter, text in given), f"read={read}"))


def _same(one: str, two: str) -> bool:
    a, b = numeral(one), numeral(two)
    return folded(one) == folded(two) if a is None or b is None else a == b
