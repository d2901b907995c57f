#!/usr/bin/python3
# tests/eval/fit_confidence.py - the constants of fingerprint/confidence.cpp and account.cpp, fitted on measured music.
# Source: ridge-penalised logistic regression: S. le Cessie and J. C. van Houwelingen, "Ridge Estimators in Logistic
# Regression", Applied Statistics 41 (1992): minimise -l(b) + ridge / 2 |b|^2, the constant left free.
"""Reads what spintag_alignment_features wrote. Right: the best alignment of a clip is at the place that it was cut
from. Wrong: the best alignment of a clip of which nothing is in the catalogue. Everything that is told of recall and
false windows is by fits that have not seen the recording (five folds)."""

import argparse
import csv
import math
import re
import sys

import tools

if __name__ == "__main__":
    tools.demand(set(), ("numpy", "scipy.signal"))

import numpy as np  # noqa: E402
import scipy.optimize  # noqa: E402
import scipy.special  # noqa: E402

from shared_audio import representatives  # noqa: E402

# Of confidence.cpp.
SHORTEST_S, LONGEST_S = 2, 15
FAINTEST_DB, LOUDEST_DB = 8, 27
SAME_WARP = 0.006  # of account.cpp
POINTS_PER_DECADE, FITTED_TRACKS = 4, 100
FULL_LENGTH_S, SHORT = 5, 0.5
FEATURES = ("rate", "score", "window", "masking", "explained", "foreign", "foreign_db", "moments", "odd_warp", "missing",
            "deficit")
FITS = {"kWithLevels": tuple(name for name in FEATURES if name != "masking"), "kPeaksAlone": FEATURES[:9]}
# Of account.cpp.
LEAST_LOSS_DB, MOST_LOSS_DB = -10, 15
TERMS = ("", "v", "m", "l", "v * v", "v * m", "v * l", "m * m", "m * l", "l * l")

RIDGE = 0.01  # on features of unit deviation: only what the data leave open is decided by it
FOLDS = 5
FAINTEST_SCORE = 7.0  # below that nobody would ask; the daemon asks from 10 on
SAME_PASSAGE = 0.85  # of the track's peaks found in other music: the two share the passage whole
NEARLY_SAME = 0.62  # ... and nearly
ALLOWED = (0, 3, 10)  # false windows
PROMISE = 0.999  # confidence at the threshold


def fit_logistic(features, right, ridge=RIDGE, weight=None):
    """(weights, constant) of the log-odds of `right`.
    @param features  [rows, features]
    @param right     [rows], true or false; both must occur
    @param weight    [rows], how often each counts (default: once)"""
    features, sign = np.asarray(features, float), np.where(np.asarray(right, bool), 1.0, -1.0)
    if abs(sign.sum()) == len(sign):
        raise ValueError("nothing to tell apart: all rows are right, or all are wrong")
    mean, deviation = features.mean(0), features.std(0)
    deviation[deviation < 1e-12 * (1 + abs(mean))] = 1.0  # the same in all rows: its weight comes out as 0
    design = np.column_stack([np.ones(len(sign)), (features - mean) / deviation])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 0
    weight = np.ones(len(sign)) if weight is None else np.asarray(weight, float)

    def loss(at):
        return (weight * np.logaddexp(0, -sign * (design @ at))).sum() + 0.5 * (penalty * at * at).sum()

    def slope(at):
        return -design.T @ (weight * sign * scipy.special.expit(-sign * (design @ at))) + penalty * at

    def curvature(at):
        chance = scipy.special.expit(design @ at)
        return (design.T * (weight * chance * (1 - chance))) @ design + np.diag(penalty)

    found = scipy.optimize.minimize(loss, np.zeros(design.shape[1]), jac=slope, hess=curvature, method="trust-exact",
                                    options={"gtol": 1e-7 * len(sign), "maxiter": 500})
    weights = found.x[1:] / deviation
    return weights, float(found.x[0] - weights @ mean)


def folds_of(groups, folds=FOLDS):
    """[rows] of fold numbers; a group is in one fold, and the folds are of about the same size."""
    names, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    size, fold_of_name = np.zeros(folds, int), np.zeros(len(names), int)
    for name in np.argsort(-counts, kind="stable"):
        fold_of_name[name] = np.argmin(size)
        size[fold_of_name[name]] += counts[name]
    return fold_of_name[inverse]


def unseen_odds(features, right, groups, folds=FOLDS, weight=None):
    """Log-odds of every row by a fit to the groups of the other folds."""
    odds, fold = np.zeros(len(right)), folds_of(groups, folds)
    weight = np.ones(len(right)) if weight is None else weight
    for one in np.unique(fold):
        weights, constant = fit_logistic(features[fold != one], right[fold != one], weight=weight[fold != one])
        odds[fold == one] = features[fold == one] @ weights + constant
    return odds


def features_of(row):
    """What confidence_of() makes of a row, in the order of FEATURES."""
    more = math.log10(max(1.0, float(row["tracks"]) / FITTED_TRACKS))
    points = max(1.0, float(row["score"]) - POINTS_PER_DECADE * more)
    length_s = min(max(float(row["length_s"]), SHORTEST_S), LONGEST_S)
    return [points / length_s, math.log(points), math.log(length_s), float(row["masking"]),
            float(row["explained_share"]), float(row["foreign_per_s"]),
            min(max(float(row["foreign_db"]), FAINTEST_DB), LOUDEST_DB), math.log1p(float(row["moments"])),
            is_odd(float(row["tempo"]), float(row["pitch"])), float(row["missing_share"]),
            float(row["deficit"])]


def shortness(row):
    """Log-odds that a row loses for its length alone: chosen, not fitted, so that the shortest do not lie."""
    return SHORT * max(0.0, FULL_LENGTH_S - max(float(row["length_s"]), SHORTEST_S))


def is_odd(tempo, pitch):
    """1 when tempo and pitch are both changed, by different amounts; else 0."""
    tempo, pitch = math.log(tempo), math.log(pitch)
    return float(min(abs(tempo), abs(pitch), abs(tempo - pitch)) >= SAME_WARP)


def is_usable(row, shared):
    """Whether a row says something about right and wrong.
    @param shared  {frozenset of two recordings} that share audio: naming one for the other is no mistake"""
    if row["rank"] != "0" or float(row["score"]) < FAINTEST_SCORE:
        return False
    if row["truth"]:
        return row["right"] == "1"  # another place of the right track, or another track: nobody's mistake or the clip's
    return (float(row["found_share"]) <= SAME_PASSAGE
            and not any(frozenset((source, row["track"])) in shared for source in row["source"].split("|")))


def read_rows(paths):
    """The rows of CSV files; "file.csv:0.3" makes each of them count 0.3 times."""
    rows = []
    for told in paths:
        path, _, weight = told.rpartition(":") if re.search(r":[\d.]+$", told) else (told, "", "1")
        with open(path, newline="", encoding="utf-8") as file:
            rows += [{**row, "weight": float(weight)} for row in csv.DictReader(file)]
    return rows


def groups_of(rows, shared):
    """One number for each recording that rows were cut from; recordings that share audio have the same."""
    names = sorted({row["source"].split("|")[0] for row in rows} | {name for pair in shared for name in pair})
    place = {name: i for i, name in enumerate(names)}
    pairs = [tuple(sorted(place[name] for name in pair)) for pair in shared if len(pair) == 2]
    group = representatives(len(names), pairs)
    return np.array([group[place[row["source"].split("|")[0]]] for row in rows])


def recall_at(odds_right, odds_wrong, allowed):
    """Share of right ones above the threshold that lets `allowed` wrong ones through."""
    worst = np.sort(odds_wrong)[::-1]
    return float(np.mean(odds_right > worst[allowed])) if allowed < len(worst) else 1.0


def recall_table(rows, odds):
    right = np.array([bool(row["truth"]) for row in rows])
    lengths = np.array([float(row["length_s"]) for row in rows])
    whole = np.array([float(row["found_share"]) > NEARLY_SAME for row in rows])
    text = ["| seconds | right | wrong | "
            + " | ".join(f"recall at {n} false" for n in ALLOWED) + " | "
            + " | ".join(f"at {n}, but for shared passages" for n in ALLOWED) + " |",
            "|---" * (3 + 2 * len(ALLOWED)) + "|"]
    for length_s in np.unique(lengths):
        here = lengths == length_s
        yes, no, no_shared = odds[here & right], odds[here & ~right], odds[here & ~right & ~whole]
        cells = [f"{100 * recall_at(yes, wrong, n):.1f}" if len(yes) and len(wrong) else "-"
                 for wrong in (no, no_shared) for n in ALLOWED]
        text.append(f"| {length_s:g} | {len(yes)} | {len(no)} | " + " | ".join(cells) + " |")
    return text


def left_table(rows, odds, threshold):
    """The false windows above the threshold, one a line."""
    text = ["| log-odds | clip | seconds | cut from | named | score | share found |", "|---|---|---|---|---|---|---|"]
    wrong = [(value, row) for value, row in zip(odds, rows) if not row["truth"] and value > threshold]
    for value, row in sorted(wrong, key=lambda one: -one[0]):
        text.append(f"| {value:.2f} | {row['clip']} | {row['length_s']} | {row['source']} | {row['track']} | "
                    f"{float(row['score']):.1f} | {float(row['found_share']):.2f} |")
    return text


def constants_text(fit, weights, constant, even, threshold):
    """The fit as confidence.cpp has it."""
    steepness = math.log(PROMISE / (1 - PROMISE)) / (threshold - even)
    values = [*((name, f"{value:.4g}") for name, value in zip((*FITS[fit], "none"), (*weights, constant))),
              ("steepness", f"{steepness:.3g}"), ("even", f"{even:g}")]
    return [f"constexpr Weights {fit}{{", *(f"    .{name} = {value}," for name, value in values), "};"]


def confidence_report(rows, shared, even, threshold, fit):
    """@param fit  one of FITS"""
    best = [row for row in rows if row["rank"] == "0" and row["truth"]]
    used = [row for row in rows if is_usable(row, shared)]
    features = np.array([features_of(row) for row in used]).reshape(len(used), len(FEATURES))
    features = features[:, [FEATURES.index(name) for name in FITS[fit]]]
    weight = np.array([row["weight"] for row in used])
    right = np.array([bool(row["truth"]) for row in used])
    odds = unseen_odds(features, right, groups_of(used, shared), weight=weight) - np.array([shortness(row) for row in used])
    weights, constant = fit_logistic(features, right, weight=weight)
    above = np.mean(odds[right] > threshold)
    return [f"// {right.sum()} right alignments (the best one of {len(best) - right.sum()} more clips is not at the "
            f"right place), {(~right).sum()} wrong ones", *constants_text(fit, weights, constant, even, threshold), "",
            *recall_table(used, odds), "",
            f"Above {threshold:g} (confidence {PROMISE:g}): {100 * above:.1f} % of the right ones, and of the wrong:", "",
            *left_table(used, odds, threshold)]


def quadratic(salience_db, masker_db, loss_db):
    """The terms of chance_to_find() but for the constant, in the order of TERMS."""
    v, m, l = salience_db / 10, masker_db / 10, np.clip(loss_db, LEAST_LOSS_DB, MOST_LOSS_DB) / 10
    return np.column_stack([v, m, l, v * v, v * m, v * l, m * m, m * l, l * l])


def chance_report(paths):
    rows = read_rows(paths)
    columns = [np.array([float(row[name]) for row in rows]) for name in ("salience_db", "masker_db", "loss_around_db")]
    features, found = quadratic(*columns), np.array([row["found"] == "1" for row in rows])
    groups = np.array([row["source"].split("|")[0] for row in rows])
    odds = unseen_odds(features, found, groups)
    weights, constant = fit_logistic(features, found)
    terms = [f"{value:+.4g} * {term}" if term else f"{value:.4g}" for term, value in zip(TERMS, (constant, *weights))]
    loss = np.logaddexp(0, np.where(found, -odds, odds)).mean()
    share = found.mean()
    without = -(share * math.log(share) + (1 - share) * math.log(1 - share))
    return [f"// {len(rows)} peaks of right alignments, {100 * share:.1f} % of them found; log loss {loss:.3f}, "
            f"{without:.3f} without a model", "z = " + " ".join(terms)]


def read_shared(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {frozenset((row["track_a"], row["track_b"])) for row in csv.DictReader(file)}


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("features", nargs="*", 
                        help="CSV files of spintag_alignment_features; FILE:0.3 lets its rows count so much")
    parser.add_argument("--shared", metavar="shared_audio.csv", help="of evaluate.py: pairs that take no part")
    parser.add_argument("--peaks", nargs="+", metavar="CSV", help="of spintag_alignment_features --peaks")
    parser.add_argument("--even", type=float, default=0.6, help="log-odds that become 1:1 (default 0.6)")
    parser.add_argument("--threshold", type=float, default=1.5,
                        help=f"log-odds of the fit that become a confidence of {PROMISE:g} (default 1.5)")
    options = parser.parse_args(given)
    if not options.features and not options.peaks:
        parser.error("nothing to fit: give features, --peaks or both")
    if options.threshold <= options.even:
        parser.error("--threshold must be above --even")
    if options.features:
        shared = read_shared(options.shared) if options.shared else set()
        rows = read_rows(options.features)
        for fit in FITS:
            print("\n".join(confidence_report(rows, shared, options.even, options.threshold, fit)) + "\n")
    if options.peaks:
        print("\n".join(chance_report(options.peaks)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, OSError, KeyError) as error:
        sys.exit(f"fit_confidence.py: {error}")
