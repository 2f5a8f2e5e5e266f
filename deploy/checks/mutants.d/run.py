"""Makes defects of one line in a copy of the tree, and says which of them no test notices.

run.py REPOSITORY COPY [PATH...]
run.py REPOSITORY --list      builds nothing: only whether the list fits the sources and the tests

The copy stays, so that the next run builds only what has changed since. The list is `list` beside this file."""

import filecmp
import os
import random
import re
import shutil
import subprocess
import sys
import time

repository, copy, *words = sys.argv[1:]
PROGRAM = ".build/debug/SeismotePackageTests.xctest"
# Seconds after which tests with a defect in them count as hanging, which is noticed as well.
PATIENCE = 600


def read_list(path):
    found = []
    for block in re.split(r"\n\n+", re.sub(r"(?m)^#.*\n", "", open(path, encoding="utf-8").read()).strip()):
        head, *lines = block.split("\n")
        old = [one[2:] for one in lines if one.startswith("- ")]
        new = [one[2:] for one in lines if one.startswith("+ ")]
        if not old or not new or [one[:2] for one in lines] != ["- "] * len(old) + ["+ "] * len(new):
            sys.exit(f"error: {path}: not a defect: {block}")
        file, tests = head.split(None, 1)
        found.append((file, tests, "\n".join(old), "\n".join(new)))
    return found


def unfit(defects):
    """What the list has that is not, or is not once, in the sources, and tests that it names and nobody has."""
    names = set()
    for folder, folders, files in os.walk(os.path.join(repository, "Tests")):
        names.update(folders)
        for one in files:
            if one.endswith(".swift"):
                text = open(os.path.join(folder, one), encoding="utf-8").read()
                names.update(re.findall(r"\b(?:func|struct|class|enum) (\w+)", text))
    found = []
    for number, file, tests, old, _ in defects:
        path = os.path.join(repository, "Sources", file)
        count = open(path, encoding="utf-8").read().count(old) if os.path.exists(path) else 0
        if count != 1:
            found.append(f"{number} {file}: stands {count} times in the file: {old}")
        for word in re.findall(r"\w+", tests):
            if not any(word in name for name in names):
                found.append(f"{number} {file}: no test is called {word}")
    return found


def bring_up_to_date():
    """What git knows or would take, as it is in the working tree."""
    names = subprocess.run(
        ["git", "-C", repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True).stdout.split("\0")
    wanted = {one for one in names if one and os.path.isfile(os.path.join(repository, one))}
    for folder, folders, files in os.walk(copy):
        folders[:] = [one for one in folders if not (folder == copy and one == ".build")]
        for one in files:
            path = os.path.relpath(os.path.join(folder, one), copy)
            if path not in wanted and path != "Package.resolved":
                os.remove(os.path.join(copy, path))
    for one in wanted:
        here, there = os.path.join(repository, one), os.path.join(copy, one)
        if not os.path.exists(there) or not filecmp.cmp(here, there, shallow=False):
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copy(here, there)


def build():
    environment = dict(os.environ, SEISMOTE_WITHOUT_SERVERS="1")
    done = subprocess.run(
        ["swift", "build", "--build-tests", "--quiet"], cwd=copy, env=environment, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def test(tests):
    """passed, failed or hanging; and the first test that failed."""
    try:
        done = subprocess.run(
            [PROGRAM, "--testing-library", "swift-testing", "--filter", tests], cwd=copy, capture_output=True,
            text=True, errors="replace", timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return "hanging", ""
    said = done.stdout + done.stderr
    if done.returncode == 0:
        ran = re.search(r"Test run with (\d+) test", said)
        if not ran or ran[1] == "0":
            sys.exit(f"error: no test matches {tests}")
        return "passed", ""
    which = re.search(r"Test (\S+) recorded an issue", re.sub(r"\x1b\[[0-9;]*m", "", said))
    return "failed", which[1] if which else f"exit status {done.returncode}"


defects = read_list(os.path.join(os.path.dirname(os.path.abspath(__file__)), "list"))
numbered = [(number, *one) for number, one in enumerate(defects, 1)]
faults = unfit(numbered)
for one in faults:
    print("STALE     ", one)
if copy == "--list":
    if faults:
        sys.exit("error: deploy/checks/mutants.d/list does not fit: a defect of it follows the line that it changes")
    sys.exit()
if words:
    numbered = [one for one in numbered if one[1].startswith(tuple(words))]
if not numbered:
    sys.exit("error: the list has no defect below these paths")
count = int(os.environ.get("SEISMOTE_MUTANTS", 0))
# (A second try is of what was found, not of another draw.)
again = os.environ.get("SEISMOTE_FAILED", "/dev/null")
before = {int(one) for one in open(again, encoding="utf-8")} if os.path.exists(again) else set()
if before:
    numbered = [one for one in numbered if one[0] in before]
elif 0 < count < len(numbered):
    seed = os.environ.get("SEISMOTE_SEED", str(random.randrange(1_000_000)))
    print(f"{count} of {len(numbered)}, seed {seed}", flush=True)
    numbered = sorted(random.Random(seed).sample(numbered, count))

os.makedirs(copy, exist_ok=True)
bring_up_to_date()
built, said = build()
if not built:
    sys.exit("error: the tree does not compile as it is:\n" + said[-2000:])
# A test that fails without any defect would count as noticing all.
for tests in sorted({one[2] for one in numbered}):
    result, which = test(tests)
    if result != "passed":
        sys.exit(f"error: without a defect {tests} is {result}: {which}")

survived, killed = [], 0
for number, file, tests, old, new in numbered:
    path = os.path.join(copy, "Sources", file)
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    if text.count(old) != 1:
        continue
    began = time.monotonic()
    try:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text.replace(old, new))
        built, said = build()
        result, which = test(tests) if built else ("", "")
    finally:
        shutil.copy(os.path.join(repository, "Sources", file), path)
    took = f"{time.monotonic() - began:4.0f} s"
    if not built:
        faults.append(f"{number} {file}: does not compile: {new}: {re.findall('error: .*', said)[:1]}")
        print("NO DEFECT ", faults[-1], flush=True)
    elif result == "passed":
        survived.append(number)
        print(f"SURVIVED   {took} {number} {file}: {new}", flush=True)
    else:
        killed += 1
        print(f"killed     {took} {number} {file}: {which or result}", flush=True)
print(f"{killed} defects noticed, {len(survived)} not, {len(faults)} that the list has wrong")
with open(again, "w", encoding="utf-8") as lines:
    lines.writelines(f"{number}\n" for number in survived)
sys.exit(1 if survived or faults else 0)
