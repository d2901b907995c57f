# tests/count_results.py - sums what ctest and GoogleTest reported: `count_results.py FOLDER CTEST_STATUS`.
"""FOLDER holds ctest.xml (--output-junit), ctest.json (--show-only=json-v1) and one NAME.json for each GoogleTest
program (GTEST_OUTPUT=json:FOLDER/). A program without GoogleTest counts as one test. A program that failed although
GoogleTest saw no failure (it crashed, hung, leaked or was never built) counts as one failure more. The last line is
`N passed, N failed`, with `, N skipped` when some were; the exit status is 1 if any failed or none passed."""

import collections
import glob
import json
import os
import sys
import xml.etree.ElementTree as ElementTree

Counts = collections.namedtuple("Counts", "passed failed skipped")


def count_googletest(path):
    """The cases of one GoogleTest report, and the names of those that failed or were skipped."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    counts, named = collections.Counter(), []
    for suite in report.get("testsuites", []):
        for case in suite.get("testsuite", []):
            name = f'{suite["name"]}.{case["name"]}'
            if case.get("failures"):
                counts["failed"] += 1
                named.append(("FAILED ", name))
            elif case.get("result") == "SKIPPED":
                counts["skipped"] += 1
                named.append(("skipped", name))
            elif case.get("status") == "RUN":
                counts["passed"] += 1
    # Failures outside a test (a suite's set-up) are in the total alone.
    counts["failed"] = max(counts["failed"], report.get("failures", 0) + report.get("errors", 0))
    return Counts(counts["passed"], counts["failed"], counts["skipped"]), named


def read_outcomes(folder):
    """ctest's name of each program -> 'passed', 'failed' or 'skipped'."""
    outcomes = {}
    for case in ElementTree.parse(os.path.join(folder, "ctest.xml")).iter("testcase"):
        skipped = case.find("skipped")
        reason = "" if skipped is None else skipped.get("message", "")
        if case.get("status") == "run":
            outcomes[case.get("name")] = "passed"
        elif reason.startswith("SKIP_") or case.get("status") == "disabled":
            outcomes[case.get("name")] = "skipped"
        else:
            outcomes[case.get("name")] = "failed"
    return outcomes


def main(folder, ctest_status):
    if not os.path.exists(os.path.join(folder, "ctest.xml")):
        print("FAILED   ctest ran nothing")
        print("0 passed, 1 failed")
        return 1
    outcomes = read_outcomes(folder)
    with open(os.path.join(folder, "ctest.json"), encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    programs = collections.defaultdict(list)  # several ctest entries may run one program
    for test in tests:
        programs[(test.get("command") or [test["name"]])[0]].append(test["name"])

    total = collections.Counter()
    for program, names in sorted(programs.items()):
        reports = sorted(glob.glob(os.path.join(glob.escape(folder), os.path.basename(program) + ".json")) +
                         glob.glob(os.path.join(glob.escape(folder), os.path.basename(program) + "_[0-9]*.json")))
        failed_here = 0
        for report in reports:
            counts, named = count_googletest(report)
            for field, number in counts._asdict().items():
                total[field] += number
            failed_here += counts.failed
            for what, name in named:
                print(f"{what}  {os.path.basename(program)}: {name}")
        for name in names:
            outcome = outcomes.get(name, "failed")
            if not reports:
                total[outcome] += 1
            elif outcome == "failed" and not failed_here:
                total["failed"] += 1
            else:
                continue
            if outcome != "passed":
                print(f"{outcome:7}  {name} (the program as a whole)")

    if ctest_status and not total["failed"]:
        print(f"FAILED   ctest itself: status {ctest_status}")
        total["failed"] += 1
    line = f'{total["passed"]} passed, {total["failed"]} failed'
    if total["skipped"]:
        line += f', {total["skipped"]} skipped'
    print(line)
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: count_results.py FOLDER CTEST_STATUS")
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
