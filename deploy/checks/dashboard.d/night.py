"""Marks cases that the short form of the check leaves out (run.py)."""


def at_night(case):
    case.at_night = True
    return case
