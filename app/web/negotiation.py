"""Which language and which form a request asks for."""

from starlette.requests import Request

from app.language import LANGUAGES, Language

COOKIE = "language"


def preferred(request: Request, fallback: Language) -> Language:
    """By the cookie that the language switch sets, then by Accept-Language."""
    chosen = request.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    return accepted(request.headers.get("accept-language", ""), fallback)


def accepted(header: str, fallback: Language) -> Language:
    """The language of ours that `Accept-Language` weighs most; zh-Hant-TW counts as zh."""
    best: tuple[float, Language] = (0.0, fallback)
    for item in header.split(","):
        tag, _, rest = item.strip().partition(";")
        base = tag.strip().lower().split("-")[0]
        weight = _weight(rest)
        for language in LANGUAGES:
            if base == language and weight > best[0]:
                best = (weight, language)
    return best[1]


def wants_markdown(accept: str) -> bool:
    """Whether an `Accept` header names markdown and does not weigh a page more."""
    if "text/markdown" not in accept:
        return False
    parts = (item.partition(";") for item in accept.split(","))
    weights = {kind.strip(): _weight(rest) for kind, _, rest in parts}
    return weights.get("text/markdown", 0.0) > 0 and weights["text/markdown"] >= weights.get("text/html", 0.0)


def _weight(rest: str) -> float:
    name, _, value = rest.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
