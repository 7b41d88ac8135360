"""A seed into a bilingual vault: so many notes of some 300 words, five links each, in the ways of real gardens.

Half of the files are translations of the other half. Slugs, sections and links are equal in both, so that a check finds
no fault; words are drawn by Zipf's rule, as in real text, so that a search has frequent and rare ones to look for.
"""

import random
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

WORDS = 300
LINKS = 5
CONCEPTS = 40
SECTIONS = 3
SYLLABLES = {
    "en": re.findall("..", "bacedifoguhajekilomunapequrosutavewixozutaricoendaringle"),
    "zh": list(
        "学习训练权重动量梯度顺序精度恢复数据随机舍入检查点误差模型优化步长损失收敛样本批次种子状态记录比较方法结果条件"
    ),
}
LEXICON = 4000
"""Different words of each language."""
TAGS = {"en": [f"topic-{n}" for n in range(24)], "zh": [f"主题{n}" for n in range(24)]}
GROWTHS = ("seedling", "budding", "evergreen", "speculative")
FILE = {"en": "{}.en.md", "zh": "{}.zh.md"}


def write_vault(folder: Path, notes: int, seed: int = 0) -> Path:
    """Writes that many files (an even number) and `concepts.yaml` into an empty folder, and returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(notes // 2, seed)
    (folder / "concepts.yaml").write_text("".join(writer.concepts()), encoding="utf-8")
    for number in range(writer.slugs):
        place = folder / f"shelf-{number % 16:02}"
        place.mkdir(exist_ok=True)
        for language in ("en", "zh"):
            path = place / FILE[language].format(slug(number))
            path.write_text(writer.note(number, language), encoding="utf-8")
    return folder


def slug(number: int) -> str:
    return f"note-{number:05}"


class Writer:
    """Every choice of a note comes from the seed and its number, so that a larger vault begins like a smaller one."""

    def __init__(self, slugs: int, seed: int) -> None:
        self.slugs, self.seed = slugs, seed
        self.lexicon = {language: list(lexicon(language)) for language in SYLLABLES}
        self.weights = list(accumulate(1 / (rank + 2) for rank in range(LEXICON)))

    def concepts(self) -> Iterator[str]:
        for number in range(CONCEPTS):
            en, zh = (self.lexicon[language][200 + number * 7] for language in ("en", "zh"))
            yield f"idea-{number}:\n  label: {{en: {en} {number}, zh: {zh}{number}号}}\n"
            yield f"  meaning: {{en: What {en} {number} means., zh: {zh}{number}号的意思。}}\n"

    def note(self, number: int, language: str) -> str:
        shared = random.Random(f"{self.seed} {number}")
        links = [shared.randrange(self.slugs) for _ in range(LINKS)]
        ideas = [shared.randrange(CONCEPTS) for _ in range(3)]
        shown = shared.randrange(number) if number and number % 20 == 0 else None
        growth, tags = shared.choice(GROWTHS), shared.sample(range(len(TAGS["en"])), 3)
        day = f"20{shared.randrange(20, 27)}-{shared.randrange(1, 13):02}-{shared.randrange(1, 29):02}"
        own = random.Random(f"{self.seed} {number} {language}")
        head = ["---", f"title: {self.sentence(own, language, 4).rstrip('.。')} {number}", f"growth: {growth}"]
        head += [f"planted: {day}", f"tags: [{', '.join(TAGS[language][tag] for tag in tags)}]"]
        head += [f"aliases: [old-{number:05}]"] if number % 10 == 0 else []
        return "\n".join([*head, "---", "", *self.body(own, language, links, ideas, shown)]) + "\n"

    def body(
        self, own: random.Random, language: str, links: Sequence[int], ideas: Sequence[int], shown: int | None
    ) -> Iterator[str]:
        paragraphs = 2 * (SECTIONS + 1)
        for at in range(paragraphs):
            if at and at % 2 == 0:
                yield from (f"## {self.sentence(own, language, 3).rstrip('.。')} {{#part-{at // 2}}}", "")
            text = " ".join(self.sentence(own, language, 12) for _ in range(WORDS // paragraphs // 12))
            if at < len(links):
                text += (
                    f" [[{slug(links[at])}]]" if at % 2 else f" [[{slug(links[at])}#part-1|{self.word(own, language)}]]"
                )
            if at < len(ideas):
                text += f" [{self.word(own, language)}]{{concept=idea-{ideas[at]}}}"
            yield from (text.replace("。 ", "。") if language == "zh" else text, "")
        if shown is not None:
            yield from (f"![[{slug(shown)}#part-2]]", "")

    def sentence(self, own: random.Random, language: str, words: int) -> str:
        chosen = [self.word(own, language) for _ in range(words)]
        return "".join(chosen) + "。" if language == "zh" else " ".join(chosen).capitalize() + "."

    def word(self, own: random.Random, language: str) -> str:
        return own.choices(self.lexicon[language], cum_weights=self.weights)[0]


def lexicon(language: str) -> Iterator[str]:
    """Different words, the frequent ones first."""
    draw, seen = random.Random(f"lexicon {language}"), set[str]()
    while len(seen) < LEXICON:
        word = "".join(draw.choices(SYLLABLES[language], k=draw.choice((2, 2, 3))))
        if word not in seen:
            seen.add(word)
            yield word
