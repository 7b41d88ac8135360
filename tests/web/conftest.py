"""A reader without a browser: the shipped garden behind Starlette's test client."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.web.visits import garden


@pytest.fixture(scope="session")
def site() -> Iterator[TestClient]:
    """The garden as it is shipped, its workers up."""
    with garden() as client:
        yield client
