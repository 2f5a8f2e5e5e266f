"""How a check ends."""


def verdict(problems, most=40):
    """Says what is wrong, at most so many times; gives the exit status."""
    for problem in problems[:most]:
        print(f"WRONG: {problem}")
    return 1 if problems else 0
