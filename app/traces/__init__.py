"""Training runs into records on the causal ladder.

`recorder.py` is copied into other projects; nothing here imports it, nor torch.
"""
