"""The checks themselves: a right writer passes them, each wrong one fails the one that is meant for it."""

import sys

import wrong
from kills import Sweep

# nofsync differs from a right one only when power fails: see power.py.
MEANT = {"right": set(), "inplace": {"torn"}, "lax": {"wrong_mode"}, "forgetful": {"temps_after_resume"}}


class Wrong(Sweep):
    how = "right"
    # Where each of them is wrong, if it is.
    calls = ("write", "rename")

    def command(self, home):
        if self.how is None:
            return super().command(home)
        return [sys.executable, wrong.__file__, self.how, self.home, home]


def main(binary, scratch, long):
    bad = []
    for how, meant in MEANT.items():
        sweep = Wrong(binary, scratch, 100 if long else 6)
        sweep.how = None
        sweep.reference()
        sweep.how = how
        sweep.sweep(how, lambda home: None)
        found = {it for it in ("torn", "wrong_mode", "temps_after_resume", "lost_stages") if sweep.count[it]}
        # A writer in place is torn, and then everything else may be wrong as well.
        if not meant <= found or (not meant and any(sweep.notes)):
            bad.append(f"{how}: {sorted(found)} was found, {sorted(meant)} is wrong with it: {sweep.notes[:3]}")
    return bad
