"""Compares network events with earthquakes that are known."""
import datetime
import json
import statistics

from synthetic import kilometres


def seconds(text):
    whole, part = text.rstrip("Z").split(".")
    return datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc).timestamp() + float("0." + part)


def events(path):
    """Last version of each network event, with the first one in `first`; merged and withdrawn ones are left out."""
    last = {}
    for line in open(path):
        m = json.loads(line)
        e = last.setdefault(m["event_id"], {"first": m, "versions": []})
        e["versions"].append(m["version"])
        e["last"] = m
    return {k: e for k, e in last.items()}


def score(path, truth, decide=4):
    found, extra, gone, km, first, magnitude = {}, [], 0, [], [], []
    for name, e in events(path).items():
        m = e["last"]
        assert e["versions"] == list(range(1, len(e["versions"]) + 1)), (name, e["versions"])
        own = {(s["id"], round(seconds(s["onset"]), 2)) for s in m["stations"]}
        best, shared = None, 0
        for i, t in enumerate(truth):
            n = sum((s, round(x, 2)) in own for x, s, _ in t["onsets"])
            if n > shared:
                best, shared = i, n
        if "merged_into" in m or m.get("withdrawn"):
            gone += 1
        elif best is None or shared < len(own) / 2 or best in found:
            extra.append(name)
        else:
            found[best] = name
            t = truth[best]
            km.append(kilometres((m["latitude"], m["longitude"]), (t["latitude"], t["longitude"])))
            first.append(seconds(e["first"]["t"]) - sorted(x for x, _, _ in t["onsets"])[decide - 1])
            if m["magnitude"]:
                magnitude.append(m["magnitude"]["value"] - t["magnitude"])
    q = lambda v, p: sorted(v)[min(len(v) - 1, int(p * len(v)))] if v else float("nan")
    return dict(found=len(found), of=len(truth), extra=len(extra), gone=gone, km_median=q(km, .5), km_90=q(km, .9), km_worst=q(km, 1),
                first_median=q(first, .5), first_90=q(first, .9), first_worst=q(first, 1),
                magnitude=statistics.median(magnitude) if magnitude else None, magnitudes=len(magnitude),
                magnitude_68=q([abs(x) for x in magnitude], .68), missing=[i for i in range(len(truth)) if i not in found], extras=extra)


def clocks(path, truth, wrong):
    """Wrong clocks of stations that shook which the last versions name, how many there are, and right ones that are named."""
    named = {}
    for e in events(path).values():
        if "merged_into" not in e["last"] and not e["last"].get("withdrawn"):
            named |= {x["id"]: x["offset_s"] for x in e["last"].get("clocks", [])}
    shaken = {s for e in truth for _, s, _ in e["onsets"]} & set(wrong)
    return dict(named=sum(s in shaken and abs(x - wrong[s]) < .7 for s, x in named.items()), wrong_clocks=len(shaken), named_right=len(set(named) - set(wrong)))


if __name__ == "__main__":
    import sys
    truth = json.load(open(sys.argv[2]))
    result = score(sys.argv[1], truth)
    if len(sys.argv) > 3 and sys.argv[3].endswith(".json"):
        result |= clocks(sys.argv[1], truth, json.load(open(sys.argv[3])))
    print(json.dumps({key: round(one, 2) if isinstance(one, float) else one for key, one in result.items()}))
    # What `deploy/docs/operate/network-detector.md` promises.
    if "--judge" in sys.argv and (result["found"] < result["of"] or result["extra"] or result["km_median"] > 1 or result["first_median"] > 1 or result["first_worst"] > 6):
        sys.exit("not all earthquakes were found, or more than there were, or too far off, or too late")
    # Peaks are made with the same relation, so that the magnitudes differ by its scatter alone.
    if "--judge" in sys.argv and (result["magnitudes"] < result["found"] / 2 or abs(result["magnitude"]) > .2 or result["magnitude_68"] > .5):
        sys.exit("fewer than half of the earthquakes have a magnitude, or it is more than 0.2 off in the median, or more than 0.5 for one in three")
