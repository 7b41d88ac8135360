"""Training runs into records on the causal ladder.

`recorder.py` is copied into other projects. It is read as text here, never imported: it needs torch.
"""

from pathlib import Path


def recorder_source() -> bytes:
    return Path(__file__).with_name("recorder.py").read_bytes()
