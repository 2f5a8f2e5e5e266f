"""Compares the lists in the documents with the tree that they speak of: programs, rooms, libraries, checks, commits, files.

tree.py REPOSITORY

Needs no program of ours. Every difference is a line; the exit status is 1 when there is one.
"""

import glob
import os
import re
import subprocess
import sys

repository = os.path.abspath(sys.argv[1])
faults = []


def git(*words):
    return subprocess.run(["git", "-C", repository, *words], capture_output=True, text=True, check=False)


def read(path):
    with open(os.path.join(repository, path), encoding="utf-8") as file:
        return file.read()


def say(page, text):
    faults.append(f"{page}: {text}")


tracked = git("ls-files").stdout.split("\n")
pages = {path: read(path) for path in tracked if path.endswith(".md") and "/benchmarks/" not in path}
package = read("Package.swift")


def names(text):
    return re.findall(r'"([^"]+)"', text)


def section(page, title):
    """The text below a heading, to the next one."""
    found = re.search(rf"(?ms)^(##+) {re.escape(title)}\n(.*?)(?=^\1 |^## |\Z)", pages.get(page, ""))
    if not found:
        say(page, f"has no section `## {title}`")
    return found[2] if found else ""


def first_column(text):
    return [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in text.split("\n") if re.match(r"\| `", line)]


def differ(page, what, described, true):
    for one in sorted(set(true) - set(described)):
        say(page, f"{what} {one} is not described")
    for one in sorted(set(described) - set(true)):
        say(page, f"{what} {one} is described, and there is none")
    for one in sorted({one for one in described if described.count(one) > 1}):
        say(page, f"{what} {one} is described {described.count(one)} times")


NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]
ARCHITECTURE = "deploy/docs/extend/architecture.md"
DECISIONS = "deploy/docs/extend/decisions.md"


def programs():
    """Each is in README and architecture, and no page counts wrong."""
    true = [os.path.basename(path) for path in re.findall(r'program\(\s*"([^"]+)"', package)]
    differ(ARCHITECTURE, "the program", sum(first_column(section(ARCHITECTURE, "Programs")), []), true)
    for one in true:
        if f"`{one}`" not in pages["README.md"]:
            say("README.md", f"the program {one} is not mentioned")
    for page in ("README.md", ARCHITECTURE, DECISIONS):
        for word in re.findall(r"(?i)\b(\w+) (?:programs|executables)\b", pages[page]):
            if word.lower() in NUMBERS and NUMBERS.index(word.lower()) != len(true):
                say(page, f"speaks of {word} programs; there are {len(true)}")
    return len(true)


DEPENDENCIES = {
    os.path.basename(path): names(re.sub(r"\.product\([^)]*\)", "", below)) for path, below in re.findall(
        r'(?:room|program|\.target)\(\s*(?:name: )?"([^"]+)",\s*(?:dependencies: )?\[(.*?)\]', package, re.S)}


def below(name):
    """All targets that one depends on, directly or not."""
    found, left = set(), [name]
    while left:
        for one in DEPENDENCIES.get(left.pop(), []):
            if one not in found:
                found.add(one)
                left.append(one)
    return found


def rooms():
    """Each room and each C module has its row, with the programs that it is linked into."""
    paths = re.findall(r'room\(\s*"([^"]+)"', package)
    # Libraries beside the rooms, which are targets of their own (argument parser), and the shims.
    paths += re.findall(r'\.target\(\s*name: "[^"]+",.*?path: "Sources/([^"]+)"', package, re.S)
    paths += ["Libraries/" + one for one in re.findall(r'(?:library|shim)\("([^"]+)"\)', package)]
    true = [os.path.basename(path) for path in paths]
    described = {}
    for product, table in re.findall(r"(?ms)^### `Sources/(\w+)`[^\n]*\n(.*?)(?=^### |\Z)", section(ARCHITECTURE, "Rooms")):
        for one in sum(first_column(table), []):
            described[one] = product
    differ(ARCHITECTURE, "the room", list(described), true)
    for path in paths:
        product, one = path.split("/")[0], os.path.basename(path)
        if described.get(one, product) != product:
            say(ARCHITECTURE, f"the room {one} is below {described[one]}; its folder is Sources/{path}")
        if not os.path.isdir(os.path.join(repository, "Sources", path)):
            say("Package.swift", f"there is no Sources/{path}")
    folders = {os.path.dirname(path)[len("Sources/"):] for path in tracked if path.startswith("Sources/")}
    programs = re.findall(r'program\(\s*"([^"]+)"', package)
    for one in sorted(one for one in folders if not (one + "/").startswith(tuple(path + "/" for path in paths + programs))):
        say("Package.swift", f"Sources/{one} belongs to no room and no program")
    linked = {short: below(program) for short, program in (
        ("agent", "seismoted"), ("tool", "seismote"), ("network", "seismote-network"), ("feed", "seismote-feed"), ("broker", "seismote-broker"),
        ("updater", "seismote-update"), ("notify", "seismote-notify"))}
    for line in section(ARCHITECTURE, "Rooms").split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        for one in re.findall(r"`([^`]+)`", cells[1]) if re.match(r"\| `", line) else []:
            wanted = [short for short, all_below in linked.items() if one in all_below]
            said = list(linked) if cells[3] == "all" else cells[3].split(", ")
            if said != wanted:
                say(ARCHITECTURE, f"the room {one} is in {', '.join(said)}; it is in {', '.join(wanted)}")
    return len(true)


def libraries():
    """What is linked, opened at run time or fetched is in the first decision."""
    linked = set()
    for path in glob.glob(repository + "/Sources/Libraries/*/module.modulemap"):
        linked |= set(re.findall(r'link "([^"]+)"', open(path, encoding="utf-8").read()))
    for path in tracked:
        if path.startswith("Sources/") and path.endswith((".c", ".cpp")):
            linked |= {re.sub(r"^lib|\.so.*$", "", one) for one in re.findall(r'dlopen\("([^"]+)"', read(path))}
    fetched = {re.sub(r"\.git$", "", url.rsplit("/", 1)[1]) for url in re.findall(r'\.package\(url: "([^"]+)"', package)}
    described = sum(first_column(section(DECISIONS, "What is linked")), [])
    differ(DECISIONS, "the library", described, linked | fetched)
    return len(linked | fetched)


def checks():
    """Every check is in the table of checks.md, under each form that has a row once."""
    page = "deploy/docs/extend/checks.md"
    rows = [re.sub(r"`", "", line.split("|")[1].split(":")[0]).strip() for line in section(page, "All checks").split("\n")
            if re.match(r"\| `", line)]
    for one in sorted({one for one in rows if rows.count(one) > 1}):
        say(page, f"the check {one} is described {rows.count(one)} times")
    described = {row.split(" ")[0] for row in rows}
    scripts = {os.path.basename(path) for path in tracked
               if re.fullmatch(r"deploy/checks/[a-z0-9-]+", path) and os.access(os.path.join(repository, path), os.X_OK)}
    listed = set()
    for path in glob.glob(repository + "/deploy/checks/list*"):
        for line in open(path, encoding="utf-8"):
            # (A line "= a …" begins a part of the nightly list.)
            if line.strip() and line[0] not in "#=":
                listed.add(line.split()[0])
                if line.split()[0] not in scripts:
                    say(os.path.relpath(path, repository), f"there is no check {line.split()[0]}")
    # `nightly` runs the others.
    for one in sorted(scripts - {"nightly"} - described):
        say(page, f"the check {one} is not described")
    for one in sorted(described - scripts):
        say(page, f"the check {one} is described, and there is none")
    for one in sorted(scripts - {"nightly"} - listed):
        if f"`{one}`" not in section(page, "Checks that no list runs"):
            say(page, f"the check {one} is in no list, and the page does not say so")
    return len(scripts)


def commits():
    """Commits that are cited are in the history."""
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        print("skipped: commits that are cited: the clone has no history")
        return 0
    count = 0
    for page, text in pages.items():
        for one in re.findall(r"(?:`|\bcommit )([0-9a-f]{7,40})\b", text):
            if re.search("[a-f]", one) and re.search("[0-9]", one):
                count += 1
                if git("cat-file", "-e", one + "^{commit}").returncode:
                    say(page, f"there is no commit {one}")
    runs = pages.get("deploy/docs/understand/nightly-runs.md", "")
    for one in re.findall(r"(?m)^\| [0-9-]{10} \| `?([0-9a-f]{7,40})`? \|", runs):
        count += 1
        if git("cat-file", "-e", one + "^{commit}").returncode:
            say("deploy/docs/understand/nightly-runs.md", f"there is no commit {one}")
    return count


def files():
    """Files of the tree that pages name are there."""
    paths = {path for path in tracked if path}
    folders = {path[:at.start()] for path in paths for at in re.finditer("/", path)}
    swift = {path for path in paths if path.endswith(".swift")}
    ends = {path[at.end():] for path in swift for at in re.finditer("/", path)}
    count = 0
    for page, text in pages.items():
        text = re.sub(r"https?://\S+", "", text)
        for one in sorted(set(re.findall(r"[\w+/.-]*\w\.swift\b", text))):
            count += 1
            if one not in ends and one not in paths:
                say(page, f"there is no file {one}")
        for one in sorted(set(re.findall(r"`((?:(?:Sources|Tests|deploy)/[\w./+-]*\w|config/[\w.-]+\.\w+))/?`", text))):
            count += 1
            if one not in paths and one not in folders:
                say(page, f"there is no {one}")
    return count


def order():
    """Index and site have the same pages in the same order, and leave none out; README leads to the index and to what everybody needs."""
    site = read("deploy/site.d/mkdocs.yml").split("\nnav:\n")[1]
    listed = [one for one in re.findall(r": ([\w/.-]+\.md)", site) if not re.search("all-settings|command-line|^index", one)]
    folder = "deploy/docs/"
    page = folder + "index.md"
    found = [os.path.normpath(os.path.join(os.path.dirname(page), one))
             for row in re.findall(r"(?m)^\| (?!Folder).*$", section(page, "All pages"))
             for one in re.findall(r"\]\(([^)#]+)\)", row)]
    wanted = ["deploy/dashboard/README.md" if one == "page.md" else folder + one for one in listed]
    for there, here in zip(found + [None] * len(wanted), wanted + [None] * len(found)):
        if there != here:
            say(page, f"has {there or 'nothing'} where the site has {here or 'nothing'}")
            break
    for one in ("index.md", "changelog.md", "start/tutorial.md", "extend/contributing.md", "extend/vulnerabilities.md"):
        if f"]({folder}{one})" not in pages["README.md"]:
            say("README.md", f"does not lead to {folder}{one}")
    if len(pages["README.md"].split()) > 700:
        say("README.md", f"has {len(pages['README.md'].split())} words; at most 700 are allowed")
    there = {path[len(folder):] for path in pages if path.startswith(folder)}
    for one in sorted(there - set(listed) - {"index.md"}):
        say("deploy/site.d/mkdocs.yml", f"does not have {one}")
    return len(listed)


def products():
    """A page may not deny what the tree has: rows of the comparison with its peers, and what it is not for."""
    page = "deploy/docs/start/about.md"
    evidence = {"SeedLink": "Sources/Feed/Feed/SeedLink", "MQTT": "Sources/Core/MQTT/Link", "Detection": "Sources/Core/Seismology/Detectors",
                "Location": "Sources/Network/Association", "magnitude": "Sources/Network/Association",
                "Remote settings": "Sources/Core/Commands"}
    folders = {os.path.dirname(path) for path in tracked}
    for word, folder in evidence.items():
        if not any(one == folder or one.startswith(folder + "/") for one in folders):
            continue
        row = re.search(rf"(?m)^\| [^|]*{word}[^|]*\|([^|]*)\|", pages[page])
        if not row:
            say(page, f"has no row about {word}, and there is {folder}")
        elif re.match(r"\s*(no|none)\b", row[1]):
            say(page, f"says `{row[1].strip()}` to {word}, and there is {folder}")
    denied = section(page, "It is not for")
    for word, folder in (("Locating", "Sources/Network/Association"), ("magnitudes", "Sources/Network/Association")):
        if word in denied and folder in {one[:len(folder)] for one in folders}:
            say(page, f"says that it is not for `{word}`, and there is {folder}")
    return len(evidence)


print(f"{programs()} programs, {rooms()} rooms, {libraries()} libraries, {checks()} checks, {commits()} commits, "
      f"{files()} files, {order()} pages in order, {products()} products compared with the tree")
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
