"""Draws the pictures of deploy/docs/understand/class-figures.md from what the station itself says; see `pictures` beside this file.
Two more are drawn by `fit --pictures`, by cross-validation.

    pictures.py SEISMOTE FIELD FOLDER [PASSAGES [SEED [KEEP]]]

KEEP is a file for what the replays give, to be read the next time.
"""

import pathlib
import sys

import assessment
import judgings
import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of what it draws with)

PRIOR = 1 / 3  # of earthquakes to disturbances: so rare the model takes them to be
NAMES = {"construction": "pile driving", "machine": "washing machine", "moved": "cable, sensor touched"}
BLUE, RED, GREY = "#2563a8", "#b3402a", "#888888"
STYLE = {"svg.hashsalt": "seismote", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
         "axes.edgecolor": GREY, "figure.facecolor": "white"}


def save(figure, folder, name):
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    plt.close(figure)


def reliability(earthquakes, passages, folder):
    """How often it was an earthquake, of the judgings that gave a probability: at the five published times."""
    sides = [np.array([p for e in events for p in e["p"] if p is not None]) for events in (earthquakes, passages)]
    weights = [np.full(len(side), weight / len(side)) for side, weight in zip(sides, (PRIOR, 1))]
    bins = np.linspace(0, 1, 11)
    figure, (axes, counts) = plt.subplots(2, 1, figsize=(4.6, 5.2), sharex=True, height_ratios=(4, 1))
    axes.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls="--")
    for low, high in zip(bins, bins[1:]):
        inside = [(side >= low) & (side < high + (high == 1)) for side in sides]
        n = [int(i.sum()) for i in inside]
        sums = [w[i].sum() for w, i in zip(weights, inside)]
        if sum(n) < 5:
            continue
        share = sums[0] / sum(sums)
        p = sum((w[i] * side[i]).sum() for w, i, side in zip(weights, inside, sides)) / sum(sums)
        # By the number of judgings, as if each were one of its own: those of one event are not.
        spread = np.sqrt(max(share * (1 - share), 0.25 / sum(n)) / sum(n))
        axes.errorbar(p, share, 2 * spread, fmt="o", color=BLUE, ms=4, lw=1)
    axes.set(ylim=(0, 1), ylabel="share that were earthquakes")
    axes.text(0.97, 0.05, f"{len(earthquakes)} earthquakes, {len(passages)} disturbances", ha="right", color=GREY, transform=axes.transAxes)
    for side, color, name in zip(sides, (BLUE, RED), ("earthquakes", "disturbances")):
        counts.hist(side, bins, histtype="step", color=color, weights=np.full(len(side), 100 / len(side)), label=name)
    counts.set(xlim=(0, 1), xlabel="probability that the station gave", ylabel="judgings, %")
    counts.legend(frameon=False, fontsize=8)
    save(figure, folder, "class-reliability")


def passing(earthquakes, passages, folder):
    """Per kind, at each second: how many of the onsets are at p >= 0.5."""
    rows = [("strong earthquakes", [e for e in earthquakes if e["pga_gal"] >= 4]), ("all earthquakes", earthquakes)]
    kinds = sorted({e["kind"] for e in passages})
    rows += [(NAMES.get(kind, kind), [e for e in passages if e["kind"] == kind]) for kind in kinds]
    shares = np.array([[100 * np.mean([(e["p"][k] or 0) >= 0.5 for e in events]) for k in range(5)]
                       + [100 * np.mean([e["likely"] is not None for e in events])] for _, events in rows])
    figure, axes = plt.subplots(figsize=(5.6, 4.4))
    axes.imshow(shares, aspect="auto", cmap="Blues", vmin=0, vmax=130)
    for i, row in enumerate(shares):
        for k, share in enumerate(row):
            axes.text(k, i, f"{share:.0f}", ha="center", va="center", color="white" if share > 75 else "black")
    axes.axhline(1.5, color="black", lw=0.8)
    axes.axvline(4.5, color="black", lw=0.8)
    axes.set_xticks(range(6), [f"{s:g} s" for s in assessment.SECONDS] + ["ever"])
    axes.set_yticks(range(len(rows)), [f"{name} ({len(events)})" for name, events in rows])
    axes.tick_params(length=0)
    axes.set_title("Onsets at p ≥ 0.5, %", fontsize=9, loc="left")
    save(figure, folder, "class-passing")


def lead(earthquakes, folder):
    """How long before the peak velocity a station has decided, by the distance of the earthquake."""
    decided = [e for e in earthquakes if e["likely"] is not None]
    felt = [e for e in decided if e["pgv"] >= 0.01]
    figure, axes = plt.subplots(figsize=(5.6, 3.6))
    axes.axhline(0, color=GREY, lw=0.8)
    axes.scatter([e["distance_km"] for e in decided], [e["pgv_time"] - e["likely"] for e in decided], 14, facecolors="none",
                 edgecolors=BLUE, label=f"taken for an earthquake ({len(decided)})")
    alarms = [e for e in felt if e["alarm"] is not None]
    axes.scatter([e["distance_km"] for e in alarms], [e["pgv_time"] - e["alarm"] for e in alarms], 26, color=RED,
                 label=f"alarm, of 1 cm/s and more ({len(alarms)} of {len(felt)})")
    axes.set(xscale="log", xlabel="distance, km", ylabel="before the peak velocity, s", ylim=(-10, 48))
    for e in decided:
        if e["pgv_time"] - e["likely"] > 48:
            axes.annotate(f"{e['pgv_time'] - e['likely']:.0f} s ↑", (e["distance_km"], 48), (0, -10), textcoords="offset points", ha="center", color=BLUE, fontsize=8)
    axes.set_xticks([25, 50, 100, 200, 300], ["25", "50", "100", "200", "300"])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
    save(figure, folder, "class-lead")


def alarms(rows, folder):
    """Of the fit: false and missed alarms, and those that come before the peak, over the alarm's probability."""
    levels = [row["level"] for row in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
    for name, color, style in (("phones at rest", RED, "-"), ("the same, varied", RED, ":"), ("modelled", "#d98a2b", "-"),
                               ("electrical, kinds", GREY, "-"), ("electrical, cases", GREY, ":")):
        left.plot(levels, [row[name] for row in rows], style, color=color, marker="o", ms=3, lw=1, label=name)
    left.set(xlabel="alarm.probability", ylabel="false alarms, % of events", ylim=(0, None))
    left.legend(frameon=False, fontsize=8)
    for name, style in (("stations", "-"), ("field", ":")):
        right.plot(levels, [100 - 100 * row[name][1] / row[name][0] for row in rows], style, color=BLUE, marker="o", ms=3, lw=1,
                   label=f"{name}: with an alarm")
        right.plot(levels, [100 * row[name][2] / row[name][0] for row in rows], style, color="#57a773", marker="o", ms=3, lw=1,
                   label=f"{name}: before the peak velocity")
    right.set(xlabel="alarm.probability", ylabel="earthquakes of 1 cm/s and more, %", ylim=(0, 103))
    right.legend(frameon=False, fontsize=8, loc="lower left")
    save(figure, folder, "class-alarm")


def final(bins, folder):
    """Of the fit: how often the last probability of an event was right, a quarter of the events being earthquakes."""
    figure, axes = plt.subplots(figsize=(4.4, 4))
    axes.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls="--")
    for p, share, n in bins:
        axes.errorbar(p, share, 2 * np.sqrt(max(share * (1 - share), 0.25 / n) / n), fmt="o", color=BLUE, ms=4, lw=1)
        axes.annotate(str(n), (p, share), (6, -10), textcoords="offset points", fontsize=7, color=GREY)
    axes.set(xlim=(0, 1.05), ylim=(0, 1.05), xlabel="last probability of an event", ylabel="share that were earthquakes")
    save(figure, folder, "class-final")


def of_fit(rows, bins, folder):
    with plt.rc_context(STYLE):
        alarms(rows, folder)
        final(bins, folder)


def main():
    tool, field, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    count, seed = (int(given or usual) for given, usual in zip((sys.argv[4:6] + ["", ""])[:2], (50, 20261)))
    keep = sys.argv[6] if len(sys.argv) > 6 else None
    found = judgings.stored(keep, lambda: judgings.recorded(tool, field) + judgings.modelled(tool, count, seed, field))
    earthquakes = [e for e in found if e["kind"] == "earthquake"]
    passages = [e for e in found if e["kind"] != "earthquake"]
    with plt.rc_context(STYLE):
        reliability(earthquakes, passages, folder)
        passing(earthquakes, passages, folder)
        lead(earthquakes, folder)


if __name__ == "__main__":
    main()
