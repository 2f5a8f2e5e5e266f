"""Countable rules of English: no sentence of a page has more than 40 words, no page and no source has a phrase that stands in
PHRASES (each with what to write), and doc comments that begin with What, Who, Whose, Of or That do not become more.

english.py REPOSITORY [PAGE...]

With pages it judges these alone. `--count` prints, for each page, its words and
its sentences of more than 25 and of more than 40 words. Each fault is a line: page, line, rule, sentence; the exit status
is 1 when there is one.
"""

import os
import re
import subprocess
import sys

LONGEST = 40
COMFORTABLE = 25

# Generated from declarations, whose texts have their own tests.
GENERATED = set("""
deploy/docs/reference/message-fields.md
deploy/docs/reference/settings-of-servers.md
""".split())

# Doc comments in Sources whose first word hides what they are about. The number only shrinks.
HIDDEN_SUBJECTS = 0

# Phrases that are nowhere any more, and what to write.
PHRASES = {
    "is not named may nothing": "accounts that are not listed have no rights",
    "believes it nothing but": "trusts only its …",
    "nobody gives a certificate": "no answer from the enrolment service",
    "no end of the update was told": "update still running",
    "is a whole station afterwards": "each board is fully enrolled or not at all",
    "does not say cannot be heard": "name the sender that is away",
    "does not tell where they differ": "constant-time comparison",
    "Nobody keeps us busy": "rate limit: … requests a second",
    "Starts what brings": "starts the delivery program",
    "could stage one anywhere": "could fake an earthquake anywhere",
    "What it says is in": "the commands are in",
    "at which something is tells more": "prefer the address that answers",
    "Whoever was not told": "recovery is sent to those who got the outage",
    "how probably it is an earthquake": "how likely an earthquake rather than a footstep",
    "makes a site of all of them": "builds a searchable site",
    "has to be known to apt": "there is no public repository: name the command",
    "is said and does not end it": "… is reported; … goes on",
    "cannot judge its session anew": "account commands wait for … s",
    "What is still taken for": "false alarms",
    "does not speak against it": "… does not block a message",
    "The way of a sample": "signal path",
    "the tool for people": "the command-line tool",
    "Noticed by:": "triggered by",
    "How it is put up": "installation",
    "whatever a network does": "idempotent",
    "heap calls": "heap allocations",
    "has to bear": "how much it writes to the SD card",
    "nothing can be kept": "storage unavailable",
    "is set aside": "is renamed, or moved aside as …",
    "ends by signal": "stopping: received signal",
    "goes on already": "already in progress",
    "cannot be written down": "could not be saved",
    "than the broker takes and the storage holds": "output queue full",
    "What is in the way": "to fix:",
    "the broker lets us not": "not authorised by the broker",
    "there is nobody to ask": "no terminal: add --yes or --dry-run",
    "This is not allowed": "name the value and the allowed range",
    "Least duration": "minimum duration",
    "Longest freeze": "maximum freeze",
    "says everything again": "publishes its retained messages again",
    "in other hands": "in use by another process",
    "is another matter": "say how the two cases differ",
    "no right is wanting": "not a permission error",
    "leaves as ever": "is still sent",
    "comes to nothing": "fails",
    "What a station says is bounded": "input validation: every message is range-checked",
    "held to the other family": "the next attempt uses the other address family",
    "is away, stuck": "is missing, stuck, saturated or has been replaced",
    "turn out to have one source": "events that share a source are merged",
    "is not to be marked by others": "to opt a station out, set …",
    "What is said, and when": "fields, and when they are published",
    "that nobody gets from them": "could not be reproduced",
    "When the one at work dies": "when the active detector dies",
    "What has no room is left away": "if space is short, … is dropped",
    'A question is a "no"': 'end of input and Ctrl-C answer "no"',
    "Who speaks is there": "a live message proves that the station is online",
    "What is written down is published": "versions already in the queue are still published",
}

repository = os.path.abspath(sys.argv[1])
chosen = [word for word in sys.argv[2:] if not word.startswith("--")]
counting = "--count" in sys.argv


def passages(text):
    """Pairs of line and text that no sentence goes beyond: paragraphs, list items, items of tables' cells (between semicolons).

    Headings and code are none.
    """
    fenced, number, start, lines = False, 0, 0, []

    def end():
        nonlocal lines
        if lines:
            yield start, " ".join(lines)
        lines = []

    for line in text.split("\n"):
        number += 1
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield from end()
        elif fenced or re.match("    ", line) and not lines or re.match(r"\s*<", line):
            continue
        elif not line.strip() or line.startswith("#"):
            yield from end()
        elif line.startswith("|"):
            yield from end()
            if not re.match(r"\|[\s:|-]+$", line):
                for cell in re.sub(r"`[^`]*`", "`C`", line).replace("\\|", "/").strip("|").split("|"):
                    for one in cell.split("; "):
                        yield number, one.strip()
        else:
            if re.match(r"\s*([-*]|\d+\.) ", line):
                yield from end()
                line = re.sub(r"^\s*([-*]|\d+\.) ", "", line)
            if not lines:
                start = number
            lines.append(line.strip())
    yield from end()


def sentences(passage):
    # (A list of names in code is read as one.)
    passage = re.sub(r"C(?:, C)+\b", "C", re.sub(r"`+[^`]+`+", "C", passage))
    passage = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", passage)
    passage = re.sub(r"\b(e\.g|i\.e|et al|vs|No|Fig|p|pp)\.", r"\1", passage)
    # (A sentence may begin with a name in small letters, as libmosquitto; "10 s, 20 s ... an hour" is one.)
    return re.split(r"""(?<=[^.\s][.!?])["')*]*\s+| · """, passage)


def words(sentence):
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def told(path, text):
    """Each line of a text that has a phrase, with what to write."""
    for number, line in enumerate(text.split("\n"), 1):
        for phrase, better in PHRASES.items():
            if phrase.lower() in line.lower():
                yield f"{path}:{number}: `{phrase}`; write: {better}"


faults, judged = [], 0
pages = subprocess.run(["git", "-C", repository, "ls-files", "README.md", "deploy/*.md", ":!deploy/checks", ":!deploy/benchmarks"],
                       capture_output=True, text=True, check=True).stdout.split()
for page in pages:
    if chosen and page not in chosen or not chosen and page in GENERATED:
        continue
    with open(os.path.join(repository, page), encoding="utf-8") as file:
        text = file.read()
    found, comfortable, longest = [], 0, 0
    for line, passage in passages(text):
        for sentence in sentences(passage):
            count = words(sentence)
            comfortable += count > COMFORTABLE
            longest += count > LONGEST
            if count > LONGEST:
                found.append(f"{page}:{line}: {count} words, at most {LONGEST} are allowed: {sentence}")
    found += told(page, text)
    if counting:
        print(f"{page:58} {len(text.split()):5} words, {comfortable:3} sentences of more than {COMFORTABLE}, {longest:3} of more than {LONGEST}")
    judged += 1
    faults += found

if not chosen:
    files = subprocess.run(["git", "-C", repository, "ls-files", "Sources", "Tests", "config", "deploy", "*.md", ":!deploy/docs/changelog.md"],
                           capture_output=True, text=True, check=True).stdout.split("\n")
    for path in files:
        if not re.search(r"\.(swift|sh|py|js|json|yaml|tsv|service|md)$|/[a-z-]+$", path) or path.endswith("docs.d/english.py"):
            continue
        try:
            with open(os.path.join(repository, path), encoding="utf-8") as file:
                found = list(told(path, file.read()))
        except (UnicodeDecodeError, IsADirectoryError, FileNotFoundError):
            continue
        faults += found if path not in pages else []
    hidden = []
    sources = subprocess.run(["git", "-C", repository, "ls-files", "Sources/*.swift"], capture_output=True, text=True, check=True)
    for path in sources.stdout.split():
        inside = False
        with open(os.path.join(repository, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                comment = re.match(r"\s*///\s*(.*)", line)
                if comment and not inside and re.match(r"(What|Who|Whose|Of|That)\b", comment[1]):
                    hidden.append(f"{path}:{number}: {comment[1]}")
                inside = bool(comment)
    print(f"{len(hidden)} doc comments begin with What, Who, Whose, Of or That; at most {HIDDEN_SUBJECTS} are allowed")
    if len(hidden) > HIDDEN_SUBJECTS:
        faults.append("a new doc comment begins with What, Who, Whose, Of or That: name the thing, or begin with a verb")
    if counting:
        print("\n".join(hidden))

print(f"English: {judged} pages judged")
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
