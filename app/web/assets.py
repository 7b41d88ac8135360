"""The site's own style sheets and scripts, joined at the start into one file each, named by their content."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
"""A line for whoever opens the file; readers are not sent it."""
HTMX = "4.0.1"
HTMX_CDN = f"https://cdn.jsdelivr.net/npm/htmx.org@{HTMX}/dist/htmx.min.js"
HTMX_INTEGRITY = "sha384-Qp9rdC8H7EqOoX+nR0P3RPG2Noji+qdwJlGpfzwQJsfOpp3sGwIdSP9xO3+UlEhn"
"""Of the published file; a test computes it from there."""
ASKING = ("01-htmx.js", "02-fields.js", "03-state.js")
"""Scripts that are for what a server computes."""


@dataclass(frozen=True)
class Asset:
    """A finished file; its name changes with its content, so readers may keep it for ever."""

    name: str
    media_type: str
    body: bytes

    @property
    def href(self) -> str:
        return f"/static/{self.name}"


@dataclass(frozen=True)
class Assets:
    style: Asset
    script: Asset
    htmx: Asset | None
    """Present where the site carries htmx itself."""
    pages: Mapping[str, Asset]
    """Style sheets and scripts that one room alone needs, by the names of their files."""

    def named(self, name: str) -> Asset | None:
        carried = (self.style, self.script, self.htmx, *self.pages.values())
        return next((asset for asset in carried if asset is not None and asset.name == name), None)


def read_assets(folder: Path, copy: bool = False) -> Assets:
    """`styles/*.css` in the order of their names (the first declares the layers), `scripts/*.js` likewise.

    A copy has those of `copies/` too, and does without the scripts that ask a server. What stands in `pages/` is
    not joined.
    """
    styles, scripts = sorted(folder.glob("styles/*.css")), sorted(folder.glob("scripts/*.js"))
    if copy:
        styles += sorted(folder.glob("copies/*.css"))
        scripts = [path for path in scripts if path.name not in ASKING] + sorted(folder.glob("copies/*.js"))
    style = _joined(styles, "css", "garden", "text/css; charset=utf-8")
    script = _joined(scripts, "js", "garden", "text/javascript; charset=utf-8")
    carried = folder / "htmx.min.js"
    htmx = _asset("htmx", "js", "text/javascript; charset=utf-8", carried.read_bytes()) if carried.is_file() else None
    pages = {path.name: _alone(path) for path in sorted(folder.glob("pages/*.*"))}
    return Assets(style, script, htmx, pages)


def _alone(path: Path) -> Asset:
    ending = path.suffix[1:]
    return _joined([path], ending, path.stem, f"text/{'javascript' if ending == 'js' else 'css'}; charset=utf-8")


def _joined(paths: Iterable[Path], ending: str, name: str, media_type: str) -> Asset:
    parts = [path.read_text(encoding="utf-8") for path in paths]
    if ending == "js":
        parts = [f"{{\n{COMMENT.sub('', part)}}}\n" for part in parts]
    return _asset(name, ending, media_type, "\n".join(parts).encode())


def _asset(name: str, ending: str, media_type: str, body: bytes) -> Asset:
    return Asset(f"{name}.{hashlib.sha256(body).hexdigest()[:12]}.{ending}", media_type, body)
