"""A comparison into one HTML file that needs no other: `perennial compare … --html FILE`."""

from app.language import Language
from app.settings import shipped
from app.traces.comparison import Comparison
from app.web.assets import read_assets
from app.web.compare_views import compare_view
from app.web.rendering import environment
from app.web.words import Words


def standing_report(found: Comparison, language: Language) -> str:
    assets = read_assets(shipped("static"))
    view = {
        "report": compare_view(found, language),
        "language": language,
        "words": Words(language),
        "style": (assets.style.body + assets.pages["compare.css"].body).decode(),
    }
    return environment(shipped("templates"), assets, False).get_template("compare/standing.html").render(view)
