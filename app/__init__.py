"""Perennial: a bilingual digital garden whose numbers are executed instead of quoted."""

__version__ = "0.1.0"
