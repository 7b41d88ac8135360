"""Sentences of both languages."""

import pytest

from app.content.sentences import opening, sentence_at, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("w is 0.352 here. So it is.", ["w is 0.352 here.", "So it is."]),
        ("Say, e.g. Momentum, i.e. Heat, cf. Fig. 2. Go.", ["Say, e.g. Momentum, i.e. Heat, cf. Fig. 2.", "Go."]),
        ("B. T. Polyak wrote it. See p. 4.", ["B. T. Polyak wrote it.", "See p. 4."]),
        ("So did I. Then we left.", ["So did I.", "Then we left."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Wait… and see. Wait… Now.", ["Wait… and see.", "Wait…", "Now."]),
        ("torch.optim.SGD is it. v1.2 too.", ["torch.optim.SGD is it. v1.2 too."]),
        ("先保存。再恢复！会怎样？不知道", ["先保存。", "再恢复！", "会怎样？", "不知道"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("先保存……再恢复。", ["先保存……", "再恢复。"]),
        ("结果是 0.352。动量用 torch.optim.SGD 算。", ["结果是 0.352。", "动量用 torch.optim.SGD 算。"]),
        ("先说完。Then English. 再说。", ["先说完。", "Then English.", "再说。"]),
        ("真的？！是。", ["真的？！", "是。"]),
        ("", []),
    ],
)  # fmt: skip
def test_a_text_is_parted_where_its_sentences_end(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


def test_the_sentence_around_a_place() -> None:
    text = "One here. Two there. 三在这里。四"
    assert [sentence_at(text, text.index(word)) for word in ("here", "Two", "there", "三", "四")] == [
        "One here.",
        "Two there.",
        "Two there.",
        "三在这里。",
        "四",
    ]


def test_the_opening_takes_as_many_sentences_as_fit() -> None:
    assert opening("One. Two. Three.", enough=9) == "One. Two."
    assert opening("一。二。三。", enough=4) == "一。二。"
    assert opening("word " * 9, most=12) == "word word…"
    assert opening("") == ""
