"""`concepts.yaml` into concepts: under each id a label and a meaning in both languages, and other spellings.

momentum:
  label: {en: momentum, zh: 动量}
  meaning: {en: the running sum of past gradients, zh: 历次梯度的累积}
  also: {en: [momenta], zh: [速度]}
"""

import re
import unicodedata
from pathlib import Path

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from app.content.entries import Entry, Unreadable, absent, entries
from app.content.note import Concept
from app.errors import Fault
from app.language import LANGUAGES, Language, Text

FILE = "concepts.yaml"
ID = re.compile(r"[a-z][a-z0-9-]*")
KEYS = ("label", "meaning", "also")


def read_concepts(folder: Path) -> tuple[dict[str, Concept], tuple[Fault, ...]]:
    """Concepts by id, in the order of the file; no file, no concepts. One with a fault is left out."""
    path = folder / FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}, ()
    except OSError as error:
        return {}, (Fault(FILE, 1, f"this cannot be opened ({error.strerror})"),)
    try:
        read = entries(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return {}, (Fault(FILE, line, f"byte {data[error.start]:#04x} is not UTF-8; save the file in UTF-8"),)
    except Unreadable as fault:
        return {}, (Fault(FILE, fault.line, f"this cannot be read: {fault}"),)
    concepts: dict[str, Concept] = {}
    faults: list[Fault] = []
    spellings: dict[tuple[Language, str], str] = {}
    for entry in read:
        try:
            concept = _concept(entry)
        except Unreadable as fault:
            faults.append(Fault(FILE, fault.line, f"the concept '{entry.key}': {fault}"))
            continue
        concepts[concept.id] = concept
        for language in LANGUAGES:
            for spelling in (concept.label[language], *concept.also[language]):
                first = spellings.setdefault((language, spelling.casefold()), concept.id)
                if first != concept.id:
                    what = f"'{spelling}' is a spelling of '{first}' and of '{concept.id}'; leave it to one of them"
                    faults.append(Fault(FILE, entry.line, what))
    return concepts, tuple(sorted(faults))


def _concept(entry: Entry) -> Concept:
    if not ID.fullmatch(entry.key):
        raise Unreadable(entry.line, "an id is made of small letters, digits and hyphens")
    parts = _mapping(entry.node, entry.line, "'label', 'meaning' and 'also'")
    for key, node in parts.items():
        if key not in KEYS:
            raise Unreadable(node.start_mark.line + 1, f"it has no place for '{key}'; it has {', '.join(KEYS)}")
    also = _mapping(parts["also"], entry.line, "spellings by language") if "also" in parts else {}
    return Concept(
        id=entry.key,
        label=_text(parts, "label", entry.line),
        meaning=_text(parts, "meaning", entry.line),
        also={language: _spellings(also.get(language)) for language in LANGUAGES},
    )


def _mapping(node: Node, line: int, what: str) -> dict[str, Node]:
    if not isinstance(node, MappingNode):
        raise Unreadable(line, f"it needs {what}")
    return {str(key.value): item for key, item in node.value}


def _text(parts: dict[str, Node], key: str, line: int) -> Text:
    if key not in parts:
        raise Unreadable(line, f"it has no '{key}'; write it in both languages")
    words = _mapping(parts[key], line, f"its '{key}' in both languages, as in {{en: …, zh: …}}")
    missing = [name for name in LANGUAGES if name not in words or not _scalar(words[name]).strip()]
    if missing:
        at = parts[key].start_mark.line + 1
        raise Unreadable(at, f"its '{key}' is missing in {' and '.join(missing)}; write it in both languages")
    return Text(en=_scalar(words["en"]), zh=_scalar(words["zh"]))


def _spellings(node: Node | None) -> tuple[str, ...]:
    if node is None or absent(node):
        return ()
    items = node.value if isinstance(node, SequenceNode) else [node]
    return tuple(_scalar(item) for item in items)


def _scalar(node: Node) -> str:
    if not isinstance(node, ScalarNode):
        raise Unreadable(node.start_mark.line + 1, "a spelling is words, not a list or a mapping")
    return unicodedata.normalize("NFC", " ".join(str(node.value).split()))
