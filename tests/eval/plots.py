# tests/eval/plots.py - what results.csv looks like: PNG and SVG files.

import os
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  the backend comes first
import numpy as np  # noqa: E402

from score import in_order, length_text, wilson  # noqa: E402

# Right edges of the bins of the reliability diagram: most answers are nearly certain, so the bins close up there.
CONFIDENCE_EDGES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1.0)


def _save(figure, out, name):
    for suffix in ("png", "svg"):
        # No date and a fixed salt: the same results give the same file.
        figure.savefig(os.path.join(out, f"{name}.{suffix}"), dpi=110, bbox_inches="tight",
                       metadata={"Date": None} if suffix == "svg" else None)
    plt.close(figure)


def _share_axes(title, x_label):
    figure, axes = plt.subplots(figsize=(7, 4.5))
    axes.set(title=title, xlabel=x_label, ylabel="recognised (bars: 95 %)", ylim=(-0.03, 1.03))
    axes.grid(alpha=0.3)
    return figure, axes


def _curve(axes, groups, label):
    """@param groups  [(x, outcomes)]"""
    points = [(x, sum(o.right for o in some), len(some)) for x, some in sorted(groups, key=lambda group: group[0])]
    shares = np.array([right / count for _, right, count in points])
    limits = np.array([wilson(right, count) for _, right, count in points])
    errors = np.maximum(0, [shares - limits[:, 0], limits[:, 1] - shares])
    axes.errorbar([x for x, _, _ in points], shares, yerr=errors, marker="o", capsize=3, label=label)


def _grouped(outcomes, key):
    return [(value, [o for o in outcomes if key(o) == value]) for value in in_order(map(key, outcomes))]


def recall_against_length(outcomes, out):
    swept = [o for o in outcomes if "length" in o.parts]
    if not swept:
        return
    figure, axes = _share_axes("Recall against the length of the clip", "seconds")
    for condition, some in _grouped(swept, lambda o: o.condition):
        _curve(axes, _grouped(some, lambda o: o.length_s), condition)
    axes.legend()
    _save(figure, out, "recall_length")


def recall_against_snr(outcomes, out):
    swept = [o for o in outcomes if "snr" in o.parts]
    if not swept:
        return
    figure, axes = _share_axes("Recall in white noise", "music above noise, dB")
    for length_s, some in _grouped(swept, lambda o: o.length_s):
        _curve(axes, _grouped(some, lambda o: int(re.search(r"[+-]\d+", o.condition).group())), length_text(length_s))
    axes.invert_xaxis()
    axes.legend()
    _save(figure, out, "recall_snr")


def reliability_bins(outcomes):
    """[(low edge, high edge, mean confidence, right, count)] of the answers at the low threshold, no empty bin."""
    answered = [o for o in outcomes if o.low_answer]
    bins = []
    for low, high in zip(CONFIDENCE_EDGES, CONFIDENCE_EDGES[1:]):
        some = [o for o in answered if low <= o.low_confidence < high or (high == 1.0 == o.low_confidence)]
        if some:
            mean = sum(o.low_confidence for o in some) / len(some)
            bins.append((low, high, mean, sum(o.low_right for o in some), len(some)))
    return bins


def reliability(outcomes, out):
    bins = reliability_bins(outcomes)
    if not bins:
        return
    figure, axes = _share_axes("Is the confidence true?", "confidence (answers in the bin)")
    places = np.arange(len(bins))
    shares = np.array([right / count for *_, right, count in bins])
    limits = np.array([wilson(right, count) for *_, right, count in bins])
    axes.bar(places, shares, 0.75, color="tab:blue", alpha=0.5, label="right")
    axes.errorbar(places, shares, yerr=np.maximum(0, [shares - limits[:, 0], limits[:, 1] - shares]), fmt="none",
                  ecolor="tab:blue", capsize=4)
    axes.plot(places, [mean for _, _, mean, _, _ in bins], "k_", markersize=28, label="mean confidence")
    axes.set_xticks(places, [f"{low:g}\nto {high:g}\n({count})" for low, high, _, _, count in bins], fontsize=8)
    axes.set_ylabel("share of answers that are right")
    axes.legend(loc="upper left")
    _save(figure, out, "reliability")


def tradeoff_points(positives, negatives):
    """[(false tags an hour, recall, threshold)] from the strictest threshold to none. A threshold lets through what
    is at least that sure."""
    hours = sum(o.length_s for o in negatives) / 3600
    thresholds = sorted({o.low_confidence for o in [*positives, *negatives] if o.low_answer}, reverse=True)
    right = np.sort([o.low_confidence for o in positives if o.low_right])
    false = np.sort([o.low_confidence for o in negatives if o.low_answer and not o.low_right])
    return [((len(false) - np.searchsorted(false, least)) / hours,
             (len(right) - np.searchsorted(right, least)) / len(positives), least) for least in thresholds]


def tradeoff(outcomes, out):
    figure, axes = _share_axes("Recall of the usual conditions against false tags, over all thresholds",
                               "false tags in an hour of music that is not in the catalogue")
    drawn = False
    for length_s in sorted({o.length_s for o in outcomes}):
        positives = [o for o in outcomes if o.length_s == length_s and "usual" in o.parts]
        negatives = [o for o in outcomes if o.length_s == length_s and o.condition == "unknown"]
        points = tradeoff_points(positives, negatives) if positives and negatives else []
        if points:
            false, recall, _ = zip(*points)
            axes.step(false, recall, where="post", marker=".", label=length_text(length_s))
            drawn = True
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(left=-0.05)
    if drawn:
        axes.legend()
        _save(figure, out, "recall_false_tags")
    else:
        plt.close(figure)


def draw_all(outcomes, out):
    os.makedirs(out, exist_ok=True)
    matplotlib.rcParams["svg.hashsalt"] = "spintag"
    for draw in (recall_against_length, recall_against_snr, reliability, tradeoff):
        draw(outcomes, out)
