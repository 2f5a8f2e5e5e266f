"""Run by `independent` beside this file: how good the class and the on-site estimate are on what took no part in the fit.

Three columns. `in force`: the model of the program, which has seen these recordings, and of what is drawn by chance other draws.
`recordings`: fivefold by groups of recordings, as `fit` has it. `collections`: a model that was fitted without the
whole collection (field, stations, shake table, phones in daily use) or without a group of modelled kinds judges that collection or
group. What is drawn by chance (variants, modelled disturbances, faults, noise) has one seed for the fit and another for the test.
"""

import argparse
import concurrent.futures
import pathlib
import pickle

import electrical
import fit
import numpy as np
import onsite

WHITE = {"white", "one_axis", "common", *(case for case in electrical.CASES if "mg" in case), electrical.STRONG}


def collection(event):
    """The name of what is left out together with an event."""
    if event["source"] not in ("model", "electrical"):
        return event["source"]
    if event["kind"] in WHITE:
        return "white noise"
    kinds = [k for k in (*electrical.KINDS, *electrical.CASES) if k not in WHITE]
    if event["source"] == "model":
        kinds = list(fit.training.disturbances.KINDS)
    return f"{event['source']} {kinds.index(event['kind']) % 4}"


def folds(events, by):
    """Of each event the name of its fold."""
    return np.array([collection(e) for e in events] if by == "collections" else [str(k) for k in fit.folds(events)])


def logits_of(job):
    train, test, chosen = job
    _, t, x = fit.rows(test)
    return fit.fit(train, chosen).logits(t, x)


def judged_apart(train, test, by):
    """Logits of each judging of `test` by a model that was fitted to those of `train` that are not of its fold."""
    of_train, of_test = folds(train, by), folds(test, by)
    index, t, _ = fit.rows(test)
    out, names = np.zeros(len(t)), sorted(set(of_test))
    jobs = [(train, [e for e, n in zip(test, of_test) if n == name], of_train != name) for name in names]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for name, logits in zip(names, pool.map(logits_of, jobs)):
            out[of_test[index] == name] = logits
    return out


def count(results, what):
    return sum(what(r) for r in results)


def head(events, results):
    """The lines of the table: name and value."""
    def some(chosen):
        return [r for e, r in zip(events, results) if chosen(e)]

    plain = lambda e, source: e["source"] == source and e["variant"] == 0
    called, alarmed = lambda r: r["called"] is not None, lambda r: r["alarm"] is not None
    still = some(lambda e: plain(e, "real") and e["kind"] != "carried")
    varied = some(lambda e: e["source"] == "real" and e["variant"] > 0 and e["kind"] != "carried")
    clear, strong = some(lambda e: plain(e, "field") and e["clear"]), some(lambda e: plain(e, "field") and e["strong"])
    felt = some(lambda e: e["pgv"] >= 0.01 and plain(e, "field"))
    station = some(lambda e: e["pgv"] >= 0.01 and plain(e, "station"))
    table = some(lambda e: plain(e, "table"))
    white = some(lambda e: e["kind"] == electrical.STRONG)
    decisions = [r["called"] for r in clear if called(r)]
    share = lambda r, what: f"{count(r, what)} of {len(r)} ({100 * count(r, what) / max(1, len(r)):.1f} %)"
    yield "phones at rest or hardly moved: called", share(still, called)
    yield "... alarmed", share(still, alarmed)
    yield "the same, varied: called", share(varied, called)
    yield "... alarmed", share(varied, alarmed)
    yield "field, clear: called", share(clear, called)
    yield "field, strong: at the end", share(strong, lambda r: r["final"])
    yield "field, clear: decision after the onset, s, median and 90 %", f"{np.median(decisions):.2f}; {np.percentile(decisions, 90):.1f}"
    yield "field, 1 cm/s: alarmed", share(felt, alarmed)
    yield "... before the peak velocity", share(felt, lambda r: r["before"])
    yield "stations, 1 cm/s: alarmed", share(station, alarmed)
    yield "... before the peak velocity", share(station, lambda r: r["before"])
    yield "shake table: at the end", share(table, lambda r: r["final"])
    yield "2 m/s² of white noise for 5 s: called", share(white, called)
    yield "... alarmed", share(white, alarmed)
    for name, chosen in (("modelled", lambda e: e["source"] == "model"), ("trucks", lambda e: e["kind"] == "truck"),
                         ("electrical faults", lambda e: e["kind"] in electrical.KINDS),
                         ("noise of a band", lambda e: e["kind"] == "band"),
                         ("coarse steps", lambda e: e["kind"] == "quantisation")):
        yield f"{name}: called", share(some(chosen), called)
        yield "... alarmed", share(some(chosen), alarmed)


def kept(path, make):
    if path and path.exists():
        return pickle.loads(path.read_bytes())
    found = make()
    if path:
        path.write_bytes(pickle.dumps(found))
    return found


def main():
    parser = argparse.ArgumentParser(prog="independent")
    parser.add_argument("reference", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help="of what is fitted to")
    parser.add_argument("--other", type=int, default=7001, help="of what is judged")
    parser.add_argument("--passages", type=int, default=40, help="modelled disturbances of each kind and rate, of what is judged")
    parser.add_argument("--fitted", type=int, default=75, help="the same of what is fitted to")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the features, to be read the next time")
    o = parser.parse_args()
    file = lambda seed, count: o.keep and o.keep / f"events-{seed}-{count}.pickle"
    train, test = (kept(file(*one), lambda: fit.collected(o.reference, *one)) for one in ((o.seed, o.fitted), (o.other, o.passages)))
    print(f"fitted to {len(train)} events (seed {o.seed}), judged on {len(test)} (seed {o.other})\n")
    _, t, x = fit.rows(test)
    logits = [fit.Model.in_force().logits(t, x), *(judged_apart(train, test, by) for by in ("recordings", "collections"))]
    columns = [list(head(test, fit.judged(test, one))) for one in logits]
    print(f"{'':62}{'in force':>24}{'recordings left out':>24}{'collections left out':>24}")
    for row in zip(*columns):
        print(f"{row[0][0]:62}" + "".join(f"{value:>24}" for _, value in row))
    print()
    onsite.independent(o.reference, o.other)


if __name__ == "__main__":
    main()
