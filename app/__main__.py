"""The command, begun quickly: `perennial`, or `python -m app`."""

import gc


def main() -> None:
    """Of what is imported nothing is garbage: to look for some takes a fifth of a short command's time."""
    gc.disable()
    from app.cli import main as command

    gc.freeze()
    gc.enable()
    command()


if __name__ == "__main__":
    main()
