"""A state as a file: data, table, drawing, script."""

import csv
import io
from collections.abc import Callable

from starlette.responses import JSONResponse, Response

from app.experiments.experiment import Experiment, Named
from app.experiments.parameters import Params
from app.laboratory import Outcome, data
from app.language import Language, Text
from app.web.site import Site


def timing(outcome: Outcome) -> dict[str, str]:
    """The header that says how long it took; none for what was read from a record."""
    return {} if outcome.elapsed_ms is None else {"Server-Timing": f"run;dur={outcome.elapsed_ms}"}


def attachment(text: str, media_type: str, name: str) -> Response:
    return Response(text, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _json(site: Site, experiment: Experiment, params: Params, outcome: Outcome, language: Language) -> Response:
    return JSONResponse(data(experiment, params, outcome), headers=timing(outcome))


def _csv(site: Site, experiment: Experiment, params: Params, outcome: Outcome, language: Language) -> Response:
    table = experiment.table(params, outcome.result)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows:
        writer.writerow([_raw(cell, language) for cell in row])
    return attachment(out.getvalue(), "text/csv; charset=utf-8", f"{experiment.name}.csv")


def _raw(cell: object, language: Language) -> object:
    match cell:
        case None:
            return ""
        case Text():
            return cell[language]
        case Named():
            return cell.name
        case bool():
            return str(cell).lower()
        case float():
            return repr(cell)
    return cell


def _svg(site: Site, experiment: Experiment, params: Params, outcome: Outcome, language: Language) -> Response:
    drawing = experiment.drawing(params, outcome.result)
    text = site.templates.get_template("drawing.svg").render(
        drawing=drawing, language=language, title=experiment.sentence(params, outcome.result)[language]
    )
    return Response(text, media_type="image/svg+xml")


FORMS: dict[str, Callable[[Site, Experiment, Params, Outcome, Language], Response]] = {
    "json": _json,
    "csv": _csv,
    "svg": _svg,
}
ENDINGS = (*FORMS, "py")
