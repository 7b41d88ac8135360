"""The budgets of the garden, measured: `python -m bench` prints a table and writes RESULTS.md; nothing is asserted.

Whatever is compared is measured in turns within one run, so that a slow minute of the machine slows both sides.
"""
