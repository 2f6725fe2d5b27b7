"""Change one operator or constant of a page's implementation at a time, and run the page.

python tests/mutants.py NOTEBOOK [--jobs 2] [--only TEXT] [--list]

The code cells run in order in one namespace. Before a cell that has mutants, a child is
forked for each of them: it runs the changed cell and what follows until a cell fails.
A mutant that no cell notices survives. Figures, cells tagged `volatile` or `slow`,
and checks that draw are left out, so that only lessons and enumerations judge.
"""

import argparse
import ast
import copy
import json
import os
import re
import resource
import select
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root))

SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
PAIRS = [
    ("min", "max"),
    ("minimum", "maximum"),
    ("nanmin", "nanmax"),
    ("argmin", "argmax"),
    ("floor", "ceil"),
    ("any", "all"),
    ("greater", "less"),
    ("greater_equal", "less_equal"),
    ("positive", "negative"),
    ("zeros", "ones"),
]
NAMES = dict(PAIRS) | {b: a for a, b in PAIRS}
MEMORY = 3 * 2**30  # bytes that a mutant may take


@dataclass(frozen=True)
class Mutant:
    """One change of one exported statement."""

    function: str  # the top-level definition that holds it
    line: str  # the line of code, without indentation
    mutation: str  # "Lt -> LtE"
    nth: int  # which of the equal changes of this line in this definition, from 1
    path: tuple  # fields and positions that lead to the changed node

    @property
    def name(self):
        return (self.function, self.line, self.mutation, self.nth)


def changes(node):
    """(what it is called, new node) for each way to change this node alone."""
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            ops = list(node.ops)
            ops[i] = SWAPS[type(op)]()
            yield arrow(op, ops[i]), ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        if type(node.op) in SWAPS:
            new = copy.copy(node)
            new.op = SWAPS[type(node.op)]()
            yield arrow(node.op, new.op), new
    elif isinstance(node, ast.UnaryOp):
        yield f"{type(node.op).__name__} left out", node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        value = node.value
        new = (not value) if isinstance(value, bool) else value + 1
        if isinstance(value, bool) or 0 <= value <= 10:
            yield f"{value} -> {new}", ast.Constant(new)
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        new = ast.Attribute(node.value, NAMES[node.attr], node.ctx)
        yield f"{node.attr} -> {new.attr}", new
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in NAMES:
        new = copy.copy(node)
        new.func = ast.copy_location(ast.Name(NAMES[node.func.id], ast.Load()), node)
        yield f"{node.func.id} -> {new.func.id}", new


def arrow(old, new):
    return f"{type(old).__name__} -> {type(new).__name__}"


def walk(node, path=()):
    """Nodes that may be changed; not annotations, decorators or what is raised."""
    yield path, node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "exc", "cause"):
            continue
        if getattr(node, "arg", None) == "strict":  # guards what is equal by then
            continue
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST):
                yield from walk(child, (*path, (field, i)))


def is_check(node):
    calls = getattr(node, "decorator_list", [])
    return any(getattr(getattr(c, "func", None), "id", "") == "check" for c in calls)


def mutants_of(source):
    """All mutants of a cell."""
    tree, lines, seen = ast.parse(source), source.splitlines(), {}
    for i, top in enumerate(tree.body):
        if is_check(top) or isinstance(top, ast.Import | ast.ImportFrom):
            continue
        name = getattr(top, "name", None) or lines[top.lineno - 1].split()[0]
        for path, node in walk(top, (("body", i),)):
            for what, _ in changes(node):
                line = lines[node.lineno - 1].split("  # ")[0].strip()
                key = (name, line, what)
                seen[key] = seen.get(key, 0) + 1
                yield Mutant(name, line, what, seen[key], (*path, what))


def mutated(source, mutant):
    """The tree of a cell with one change."""
    tree = ast.parse(source)
    *path, what = mutant.path
    parent, node = None, tree
    for field, i in path:
        parent, value = node, getattr(node, field)
        node = value[i] if isinstance(value, list) else value
    same = [new for name, new in changes(node) if name == what]
    nth = 0
    if len(same) > 1:  # a < b < c: the same change twice in one node
        nth = (mutant.nth - 1) % len(same)
    new, (field, i) = ast.copy_location(same[nth], node), path[-1]
    if isinstance(getattr(parent, field), list):
        getattr(parent, field)[i] = new
    else:
        setattr(parent, field, new)
    return ast.fix_missing_locations(tree)


# --- a page


def code_cells(path):
    """(source, whether its mutants are wanted) of every cell that is to be run."""
    from tools.notebooks import read, source

    cells, heading, found = read(path)["cells"], "", []
    headings = [source(c).strip() for c in cells if c["cell_type"] == "markdown"]
    plain = "## Implementation" not in headings
    for cell in cells:
        text = source(cell)
        if cell["cell_type"] == "markdown" and text.startswith("## "):
            heading = text.strip()
        if cell["cell_type"] == "code" and not left_out(cell, text):
            under = heading != "## Checks" if plain else heading == "## Implementation"
            exported = re.search(r"^#\|\s*exports?\b", text, re.M)
            found.append((text, bool(exported and under)))
    needed = {
        name
        for text, _ in found
        if not figure(text)
        for name in names(ast.parse(text).body, ast.Load)
    }
    needed -= {
        name
        for text, _ in found
        if not figure(text)
        for name in names(ast.parse(text).body, ast.Store)
    }
    return [
        (text, wanted)
        for text, wanted in found
        if not figure(text) or needed & names(ast.parse(text).body, ast.Store)
    ]


def names(statements, context):
    """Names that statements use, or those that they make."""
    found = set()
    for node in (node for top in statements for node in ast.walk(top)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            found.add(node.id)
        if context is ast.Store and isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


def figure(text):
    return bool(re.search(r"^#\|\s*label:\s*fig", text, re.M))


def left_out(cell, text):
    tags = set(cell["metadata"].get("tags", []))
    hidden = re.search(r"^#\|\s*hide\b", text, re.M)
    return bool(
        tags & {"volatile", "slow"} or hidden or re.search(r"^\s*[%!]", text, re.M)
    )


class Page:
    """A notebook that is run with one change at a time."""

    def __init__(self, path, only=""):
        self.cells = code_cells(path)
        self.names = {"__name__": "__main__", "display": lambda *_, **__: None}
        self.mutants = [
            [m for m in mutants_of(text) if only in m.line] if wanted else []
            for text, wanted in self.cells
        ]

    def run(self, i, tree=None):
        """Run a cell; the exception that it raised, or None."""
        code = tree if tree is not None else self.cells[i][0]
        try:
            exec(compile(code, f"cell {i}", "exec"), self.names)
        except BaseException as error:
            return error
        return None

    def rest(self, i, mutant):
        """Whether the changed cell i fails, or a cell after it that the change reaches."""
        text = self.cells[i][0]
        if self.run(i, mutated(text, mutant)):
            return True
        position = mutant.path[0][1]
        return any(self.run(j) for j in self.reached(i, position))

    def reached(self, i, position):
        """Cells after cell i, without calls that use nothing made with the changed statement."""
        below = [ast.parse(text).body for text, _ in self.cells]
        changed = names([below[i][position]], ast.Store)
        for statement in below[i][position + 1 :]:
            if changed & names([statement], ast.Load):
                changed |= names([statement], ast.Store)
        for j in range(i + 1, len(below)):
            for statement in below[j]:
                if changed & names([statement], ast.Load):
                    changed |= names([statement], ast.Store)
            calls = all(isinstance(statement, ast.Expr) for statement in below[j])
            if not calls or changed & names(below[j], ast.Load):
                yield j

    def seconds_after(self):
        """Run the page as it is in a child; the processor's seconds from each cell on."""
        read, write = os.pipe()
        if os.fork() == 0:
            silence()
            took = []
            for i in range(len(self.cells)):
                start = time.process_time()
                error = self.run(i)
                if error:
                    took = f"cell {i} fails without a change: {error!r}"
                    break
                took.append(time.process_time() - start)
            os.write(write, json.dumps(took).encode())
            os._exit(0)
        os.close(write)
        took = json.loads(os.fdopen(read).read())
        if isinstance(took, str):
            sys.exit(took)
        return [sum(took[i:]) for i in range(len(took))]

    def survivors(self, jobs, report):
        """Mutants that no cell notices."""
        left, out = self.seconds_after(), []
        for i in range(len(self.cells)):
            tasks = [(m, lambda m=m, i=i: self.rest(i, m)) for m in self.mutants[i]]
            for mutant, noticed in forked(tasks, jobs, 5 + 3 * left[i]):
                report(mutant, noticed)
                out += [] if noticed else [mutant]
            error = self.run(i)
            if error:
                sys.exit(f"cell {i} fails without a change: {error!r}")
        return out


def forked(tasks, jobs, limit):
    """Run tasks in children, some at a time: "noticed", "timeout", "crash" or "".

    The limit is in seconds of the processor, so that a busy machine changes nothing.
    """
    waiting, running = list(tasks), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant, task = waiting.pop(0)
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                silence()
                seconds = int(limit) + 1
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
                signal.alarm(20 * seconds)  # one that waits for ever uses no time
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                os.write(write, b"n" if task() else b"s")
                os._exit(0)
            os.close(write)
            running[read] = pid, mutant
        for read in select.select(list(running), [], [])[0]:
            pid, mutant = running.pop(read)
            answer = os.read(read, 1)
            os.close(read)
            signalled = os.waitpid(pid, 0)[1] & 0x7F
            ends = (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL)
            late = "timeout" if signalled in ends else "crash"
            yield mutant, {b"s": "", b"n": "noticed"}.get(answer, late)


def silence():
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def quiet_checks():
    """Checks that draw return nothing where they are called; enumerations run."""
    from sigtext.harness import CheckFunction

    call = CheckFunction.__call__
    CheckFunction.__call__ = lambda self, *a, **k: (
        None if self.draws else call(self, *a, **k)
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    page = Page(options.page, options.only)
    if options.list:
        for m in (m for cell in page.mutants for m in cell):
            print(*m.name, sep=" | ")
        return
    quiet_checks()
    os.chdir(Path(options.page).parent)
    import sacrebleu  # noqa: F401
    import scipy.stats  # noqa: F401

    start, counts = time.perf_counter(), Counter()

    def report(mutant, noticed):
        counts[noticed or "survived"] += 1
        if noticed != "noticed":
            print(noticed or "survived", mutant.name, file=sys.stderr, flush=True)

    survivors = page.survivors(options.jobs, report)
    answer = {
        "mutants": sum(map(len, page.mutants)),
        "counts": counts,
        "seconds": round(time.perf_counter() - start, 1),
        "survivors": [m.name for m in survivors],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}  # before NumPy
    main()
