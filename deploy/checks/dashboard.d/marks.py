"""What run.py has to know of a case."""


def at_night(case):
    """The short form of the check leaves it out."""
    case.at_night = True
    return case


def early(case):
    """It takes long, and is begun before others, so that they run beside it."""
    case.early = True
    return case


def measures(case):
    """It judges how fast or how cheap something is: never beside another one that does."""
    case.measures = True
    return case
