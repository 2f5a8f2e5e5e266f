"""What a judge says, and the exit status that says the same."""

import os

from .messages import stations


def verdict(problems, name=None):
    """Prints what is not as it must be, of a station or of all; gives whether there is anything."""
    for problem in problems:
        print(f"{name}: WRONG: {problem}" if name else f"WRONG: {problem}")
    return bool(problems)


def each(judge, folder, root, names):
    """Judges stations one after the other, each by what it has published; gives whether anything is not as it must be."""
    found = stations(os.path.join(folder, "received"), root)
    return any([verdict(judge(folder, name, found.get(name)), name) for name in names])
