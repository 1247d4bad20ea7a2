"""The table of tasks: a name, the set it is counted in, and the function that solves it from the page and the utterance."""

import importlib
import re
from dataclasses import dataclass
from typing import Callable

TASKS = {}


@dataclass
class Task:
    name: str
    set: str
    solve: Callable
    needs: str


def task(of, *names, needs=""):
    """`needs`: something that the command line does not promise; such a task is run with --all only."""

    def put(solve):
        for name in names:
            TASKS[name] = Task(name, of, solve, needs)
        return solve

    return put


def quoted(goal):
    return re.findall(r'"([^"]*)"', goal)


def every():
    for name in ("buttons", "choices", "fields", "panels", "dates", "ranges", "mail", "posts", "drawings", "drags", "forms", "editing"):
        importlib.import_module(f"solve_{name}")
    return TASKS
