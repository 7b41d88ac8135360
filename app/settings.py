"""Everything a host can set: environment variables `PERENNIAL_*`, or the command's options.

The README documents each field; a test compares the two.
"""

import os
import tempfile
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.language import Language

PACKAGE = Path(__file__).parent


def shipped(name: str) -> Path:
    """A folder that comes with the program: inside the package when installed, beside it in a checkout."""
    inside = PACKAGE / "shipped"
    return (inside if inside.is_dir() else PACKAGE.parent) / name


def user_cache() -> Path:
    """As the XDG Base Directory Specification says; beside other temporary files for a user without a home."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        caches = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        caches = Path(tempfile.gettempdir())
    return caches / "perennial"


class Settings(BaseSettings):
    """Read once at the start and handed down; frozen."""

    model_config = SettingsConfigDict(env_prefix="PERENNIAL_", frozen=True, extra="forbid")

    title: str = Field(default="Perennial", description="name of the garden, in the bar and in page titles")
    author: str = Field(default="", description="who writes it; named in the footer when set")
    licence: str = Field(default="CC BY 4.0", description="licence of the content, named in the footer")
    licence_url: str = Field(
        default="https://creativecommons.org/licenses/by/4.0/", description="where that licence can be read"
    )
    repository: str = Field(
        default="", description="address to which a note's path is added for “correct this page”; no link when empty"
    )
    default_language: Language = Field(default="en", description="language of notes whose name does not say")
    content: Path = Field(default_factory=lambda: shipped("content"), description="folder of the notes")
    cache_folder: Path = Field(
        default_factory=user_cache,
        description="folder for what is worked out from the notes; deleting it costs time only",
    )
    drafts: bool = Field(default=False, description="serve drafts too")
    base_url: str = Field(
        default="", description="public address, for absolute links; taken from the request when empty"
    )
    host: str = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="port to listen on")
    trusted_hosts: str = Field(default="*", description="host names that are answered, separated by commas")
    trusted_proxies: str = Field(default="127.0.0.1", description="proxies whose forwarded headers are believed")
    hsts: bool = Field(default=False, description="send Strict-Transport-Security, when served over HTTPS only")
    workers: int = Field(default=1, ge=1, le=64, description="worker processes for experiments that need torch")
    time_limit: float = Field(default=10.0, gt=0, description="seconds after which an experiment is stopped")
    memory_limit: int = Field(
        default=1024, ge=64, description="MiB that an experiment may take above the worker's own base"
    )
    queue: int = Field(
        default=32, ge=1, description="experiments that may wait or run at once; more are told to come back"
    )
    client_slots: int = Field(
        default=4, ge=1, description="experiments and comparisons that one client may have waiting or running at once"
    )
    cache: int = Field(default=2048, ge=0, description="results of experiments that are kept")
    page_cache: int = Field(default=32, ge=0, description="MiB of finished pages that are kept")
    upload_limit: int = Field(default=64, ge=1, description="KiB that a checkpoint file may have")
    trace_limit: int = Field(
        default=512, ge=1, description="MiB of traces that may be sent at once, and eight times as many unpacked"
    )
    comparisons: int = Field(default=1, ge=1, le=64, description="traces that are compared at once; as many may wait")
    comparison_time: float = Field(default=120.0, gt=0, description="seconds after which a comparison is stopped")
    htmx: Literal["cdn", "local"] = Field(default="cdn", description="where readers get htmx: its CDN, or this site")
    metrics: bool = Field(default=False, description="serve Prometheus figures at /metrics")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="what is logged")
    log_format: Literal["text", "json"] = Field(default="text", description="how it is logged")
