#!/usr/bin/env python3
"""Fits the weights of src/stages/signals.rs on samples and says how well they would do on sites they have not seen.

    commis eval --corpus corpus --samples /tmp/corpus.jsonl
    commis eval --corpus ../shared/realworld --samples /tmp/realworld.jsonl
    commis eval --corpus ../shared/realworld2 --samples /tmp/realworld2.jsonl
    scripts/fit-ranking.py /tmp/corpus.jsonl /tmp/realworld.jsonl /tmp/realworld2.jsonl        # needs numpy and scipy

The model is a softmax over a session's candidates and "none of them": each candidate's logit is the weighted sum of its shares,
that of "none" is one constant, and another where something was typed. Weights keep the sign that their meaning gives them and are
held small by a ridge. The cross-validation leaves out whole sites, never single cases. What stops a choice however sure it is
(doubts.rs, analyze.rs) is read from the samples. signals.rs has "none" by 220 more than fitted: a bar of .633 there is .6825 here.

What is fixed is not fitted: signals of the field (telemetry), of the page (what it showed), and those that only say how a recording
was made (latency, initiator).
"""
import collections
import json
import pathlib
import random
import sys

import numpy
from scipy.optimize import minimize

POSITIVE = """content_type echoes_input has_list json_richness task_keys task_values typed_in_request visible_on_page
    follows_input same_site words_in_keys tail_named tail_covered abbreviated dates_in_request dates_in_answer pairs_in_answer
    answer_values after_action resource_type names_in_request names_in_answer things_in_answer head_in_keys words_lead values_lead tail_early
    kind_named id_named""".split()
NEGATIVE = """lost_body suggestion_path other_collection typed_missing tail_unnamed part_beside unasked_values further_page hands_out_token
    error_answer tracker_path housekeeping_path housekeeping_answer crowded_site other_dates refused_lead no_list head_missing
    value_missing other_search refused_tail one_of_many part_of_thing record_for_many""".split()
FIXED = dict(telemetry=-5.0, shown_share=2.2, holds_items=4.5, lacks_items=-4.5, left_behind=-3.0)
NAMES = POSITIVE + NEGATIVE
SIGN = numpy.array([1.0] * len(POSITIVE) + [-1.0] * len(NEGATIVE))
RIDGE = 0.02
FOLDS = 8


class Case:
    def __init__(self, rows, group):
        self.id, self.site, self.group = rows[0]["case"], rows[0]["site"], group
        self.recipeable, self.typed = rows[0]["recipeable"], rows[0]["typed"]
        share = lambda row, name: row["shares"].get(name, 0) / 1000
        self.shares = numpy.array([[share(row, name) for name in NAMES] for row in rows])
        self.fixed = numpy.array([sum(share(row, name) * it for name, it in FIXED.items()) for row in rows])
        self.right = numpy.array([row["right"] for row in rows])
        self.stopped = numpy.array([bool(set(row["stops"]) - {"unsure"}) for row in rows])
        self.endpoints = [row["endpoint"] for row in rows]


def read(paths):
    out = []
    for path in paths:
        by_case = collections.OrderedDict()
        for line in open(path):
            row = json.loads(line)
            by_case.setdefault(row["case"], []).append(row)
        for rows in by_case.values():
            kind = rows[0]["kind"]
            name = pathlib.Path(path).stem
            group = name if name == "corpus" else f"{name} {'stress' if kind.startswith('stress') else 'plain'}"
            out.append(Case(rows, group))
    return out


def nothing(parameters, case):
    return parameters[-2] + parameters[-1] * case.typed


def loss(parameters, cases):
    size = parameters[:-2]
    total, gradient = 0.0, numpy.zeros(len(parameters))
    for case in cases:
        logits = numpy.concatenate([case.shares @ (size * SIGN) + case.fixed, [nothing(parameters, case)]])
        chance = numpy.exp(logits - logits.max())
        chance /= chance.sum()
        good = numpy.concatenate([case.right, [not case.recipeable]])
        if not good.any():
            continue
        among = chance * good
        total -= numpy.log(among.sum() + 1e-300)
        error = chance - among / among.sum()
        gradient[:-2] += (error[:-1] @ case.shares) * SIGN
        gradient[-2] += error[-1]
        gradient[-1] += error[-1] * case.typed
    n, k = len(cases), len(NAMES)
    gradient /= n
    gradient[:-2] += 2 * RIDGE * size / k
    return total / n + RIDGE * (size**2).sum() / k, gradient


def fit(cases):
    start = numpy.concatenate([numpy.full(len(NAMES), 0.6), [3.0, 0.0]])
    bounds = [(0, 9)] * len(NAMES) + [(-5, 15), (-6, 6)]
    return minimize(loss, start, args=(cases,), jac=True, method="L-BFGS-B", bounds=bounds).x


def judge(parameters, case):
    """Confidence of the best endpoint, and whether it and any of the best eight are right."""
    logits = case.shares @ (parameters[:-2] * SIGN) + case.fixed
    best = {}
    for i, endpoint in enumerate(case.endpoints):
        if endpoint not in best or logits[i] >= logits[best[endpoint]]:
            best[endpoint] = i
    order = sorted(best.values(), key=lambda i: -logits[i])
    if not order:
        return 0.0, False, False
    all_logits = numpy.concatenate([logits[order], [nothing(parameters, case)]])
    chance = numpy.exp(all_logits - all_logits.max())
    sure = 0.0 if case.stopped[order[0]] else chance[0] / chance.sum()
    return sure, bool(case.right[order[0]]), bool(case.right[order[:8]].any())


def show(name, results, cases):
    for group in sorted({it.group for it in cases}):
        rows = [(results[it.id, group], it.recipeable) for it in cases if it.group == group]
        some = [row for row, recipeable in rows if recipeable]
        first = numpy.mean([it[1] for it in some])
        eight = numpy.mean([it[2] for it in some])
        print(f"{name} {group:17} rank@1 {first:6.1%} rank@8 {eight:6.1%}", end=" ")
        for bar in (0.4, 0.5, 0.6, 0.65, 0.6825, 0.75, 0.8, 0.9):
            right = numpy.mean([it[0] >= bar and it[1] for it in some])
            wrong, on_nothing = (sum(row[0] >= bar and not row[1] for row, has in rows if has == it) for it in (True, False))
            print(f"| {bar:.4g}: {right:5.1%} right, {wrong} wrong, {on_nothing} on nothing", end=" ")
        print()


def main():
    cases = read(sys.argv[1:])
    parameters = fit(cases)
    for name, it in zip(NAMES, parameters[:-2] * SIGN):
        print(f'    ("{name}", {round(float(it) * 1000)}),')
    print(f"    NOTHING = {round(float(parameters[-2]) * 1000)}, NOTHING_TYPED = {round(float(parameters[-1]) * 1000)}")
    show("fitted", {(it.id, it.group): judge(parameters, it) for it in cases}, cases)
    sites = sorted({it.site for it in cases})
    random.Random(1).shuffle(sites)
    results = {}
    for fold in range(FOLDS):
        held = set(sites[fold::FOLDS])
        parameters = fit([it for it in cases if it.site not in held])
        for it in (it for it in cases if it.site in held):
            results[it.id, it.group] = judge(parameters, it)
    show("unseen", results, cases)
    for it in cases:
        sure, right, _ = results[it.id, it.group]
        if sure >= 0.5 and not right:
            print(f"  sure and wrong: {it.id} {sure:.2f}")


if __name__ == "__main__":
    main()
