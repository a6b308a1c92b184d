"""The texts of our errors, read off the source: every error that is built, with the texts that go into it.

A text is a template: literal parts with named gaps. ``f"got {n:,} row{'s' if n > 1 else ''}"`` gives a template for
each branch; what a local variable, a function of the package or a list of problems holds gives templates of its own,
which fill a gap of the whole. ``python -m tests.languages.raised_texts`` prints what no catalog has yet.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from tests.languages.error_sites import ANSWERS, FORMS, FRAMES, IDENTIFIER, NAMES, PARTS, WORDS
from tests.languages.error_templates import Part, gap_name, name_of, shape, template_of

import isonomia

SOURCE = Path(str(files(isonomia)))


@dataclass(frozen=True)
class Text:
    """A template, where it stands, and the room whose catalog has it."""

    template: str
    where: str
    room: str
    word: bool = False


@cache
def texts() -> list[Text]:
    """Every text of an error, each shape once."""
    found: dict[tuple[str, ...], Text] = {}
    seen: set[ast.AST] = set()
    for module in modules():
        module.seen = seen
    for module in modules():
        module.collect()
    for module in modules():
        for text in module.found:
            if _is_sentence(text):
                found.setdefault(shape(text.template), text)
    return sorted(found.values(), key=lambda text: (text.room, text.where.split(":")[0], int(text.where.split(":")[1])))


def _is_sentence(text: Text) -> bool:
    """Whether a text has a word of a language in it: a word of a program alone is written in every language."""
    if shape(text.template) in {shape(frame) for frame in FRAMES}:
        return True
    literal = " ".join(part for part in shape(text.template) if not part.startswith("\0"))
    if re.search("[A-Za-z]{2}", literal) is None or IDENTIFIER.fullmatch(text.template) or text.template in NAMES:
        return False
    return text.word or not text.template.replace("-", "").isalnum()


@cache
def modules() -> list[Module]:
    """All modules of the package."""
    return [Module(path) for path in sorted(SOURCE.rglob("*.py"))]


@cache
def error_names() -> frozenset[str]:
    """The names of our errors, and of those of Python that become part of ours."""
    bases = {
        node.name: {name_of(base) for base in node.bases}
        for module in modules()
        for node in module.within
        if isinstance(node, ast.ClassDef)
    }
    names = {"IsonomiaError", "ValueError", "YAMLError"}
    while more := {name for name, above in bases.items() if above & names} - names:
        names |= more
    return frozenset(names)


@cache
def functions() -> dict[str, list[tuple[Module, ast.FunctionDef]]]:
    """The functions and methods of the package by name."""
    found: dict[str, list[tuple[Module, ast.FunctionDef]]] = defaultdict(list)
    for module in modules():
        for node in module.within:
            if isinstance(node, ast.FunctionDef):
                found[node.name].append((module, node))
    return found


class Module:
    """One file, with the function around each expression."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.within: dict[ast.AST, ast.AST] = {}
        nodes: list[ast.AST] = [self.tree]
        for node in nodes:
            children = list(ast.iter_child_nodes(node))
            self.within.update(dict.fromkeys(children, node))
            nodes += children
        self.calls: dict[str, list[ast.Call]] = defaultdict(list)
        for node in self.within:
            if isinstance(node, ast.Call):
                self.calls[name_of(node.func)].append(node)
        self.found: list[Text] = []
        self.seen: set[ast.AST] = set()

    def collect(self) -> None:
        """Find the texts of errors that this file builds."""
        for node in self.within:
            if isinstance(node, ast.Call):
                name = name_of(node.func)
                owner = f"{name_of(node.func.value)}.{name}" if isinstance(node.func, ast.Attribute) else name
                for part in PARTS.get(owner) or PARTS.get(name) or ((0,) if name in error_names() else ()):
                    given = _argument(node, part)
                    if given is not None and (part == "hint" or (name == "Choice" and part == 1)):
                        for hint in self.read(given):
                            self.keep(given, [("value", ""), *hint], word=True)
                    elif given is not None:
                        self.add(given, word=name in WORDS)
            elif isinstance(node, ast.FunctionDef) and node.name in ANSWERS:
                for answer in ast.walk(node):
                    if isinstance(answer, ast.Return) and answer.value is not None:
                        self.add(answer.value)
            elif isinstance(node, ast.AugAssign) and name_of(node.target) == "problems":
                self.add(node.value)

    def add(self, node: ast.expr, *, word: bool = False) -> None:
        """Add the templates of an expression, and of what goes into it."""
        if node in self.seen:
            return
        self.seen.add(node)
        for variant in self.read(node):
            self.keep(node, variant, word=word)

    def keep(self, node: ast.expr, parts: list[Part], *, word: bool) -> None:
        where = self.path.relative_to(SOURCE)
        self.found.append(Text(template_of(parts), f"{where}:{node.lineno}", where.parts[0].removesuffix(".py"), word))

    def read(self, node: ast.expr) -> list[list[Part]]:
        """The variants of an expression; none where its text is not ours."""
        match node:
            case ast.Constant(value=str(text)):
                return [[(text, None)]]
            case ast.JoinedStr(values=values):
                before = [None, *values]
                return _product(
                    [self.piece(value, _quoted(last)) for last, value in zip(before, values, strict=False)], node
                )
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _product([self.piece(left), self.piece(right)], node)
            case ast.IfExp(body=body, orelse=orelse):
                return [*self.read(body), *self.read(orelse)]
            case ast.BoolOp(values=values):
                return [variant for value in values for variant in self.read(value)]
            case ast.NamedExpr(value=value):
                return self.read(value)
            case ast.Name(id=name):
                return self.variable(node, name)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                for element in elements:
                    self.add(element.value if isinstance(element, ast.Starred) else element)
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                self.add(element)
            case ast.Dict(values=values):
                for value in values:
                    self.add(value, word=True)
            case ast.Subscript(value=ast.Name() as table):
                self.table(table)
            case ast.Call(func=ast.Attribute(value=ast.Name() as table, attr="get"), args=[_, *default]):
                self.table(table)
                for value in default:
                    self.add(value, word=True)
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"), args=[listed]):
                self.keep(node, [("first", ""), (between, None), ("rest", "")], word=False)
                self.add(listed)
            case ast.Call(func=ast.Attribute(value=value, attr="rstrip" | "strip" | "lstrip" | "hide"), args=args):
                self.add(args[0] if args and not isinstance(args[0], ast.Constant) else value)
            case ast.Call():
                self.returned(node)
        return []

    def piece(self, node: ast.expr, quoted: bool = False) -> list[list[Part]]:
        """The variants of a part of a text: a literal, or a gap whose own texts are added; data in quotes."""
        if not isinstance(node, ast.FormattedValue):
            gap: list[Part] = [(gap_name(node), "")]
        else:
            form = ast.unparse(node.format_spec)[2:-1] if node.format_spec is not None else ""
            gap = [(gap_name(node.value), "first" if _is_first(node.value) else FORMS.get(form, ""))]
            if node.conversion != -1 or form or quoted or gap[0][1]:
                return [gap]
            node = node.value
        match node:
            case ast.Constant() | ast.JoinedStr():
                return self.read(node)
            case ast.BinOp(left=ast.Constant(value=str(ending)), op=ast.Mult()):
                return [[("", None)], [(ending, None)]]
            case ast.IfExp() | ast.Name() if self.is_whole(node) and 0 < len(variants := self.read(node)) <= 3:
                return variants
            case ast.IfExp() | ast.BoolOp():
                for variant in self.read(node):
                    self.keep(node, variant, word=True)
                return [gap]
        self.add(node, word=isinstance(node, ast.Name))
        return [gap]

    def is_whole(self, node: ast.expr) -> bool:
        """Whether every branch of a condition, or every value of a variable, is a text of ours."""
        match node:
            case ast.Constant(value=str(text)):
                return not IDENTIFIER.fullmatch(text)
            case ast.JoinedStr():
                return True
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_whole(body) and self.is_whole(orelse)
            case ast.Name(id=name):
                values = self.values(node, name)
                return bool(values) and all(
                    not isinstance(value, ast.Name) and self.is_whole(value) for value in values
                )
        return False

    def table(self, name: ast.Name) -> None:
        """Add the texts of a mapping that this file writes out."""
        for value in self.values(name, name.id):
            if isinstance(value, ast.Dict):
                self.read(value)

    def variable(self, node: ast.AST, name: str) -> list[list[Part]]:
        """The texts a variable may have: what its function, or the file, assigns to it."""
        values = self.values(node, name)
        if all(self.is_whole(value) for value in values if not isinstance(value, ast.Name)):
            return [variant for value in values if not isinstance(value, ast.Name) for variant in self.read(value)]
        for value in values:
            if not isinstance(value, ast.Name):
                self.add(value, word=True)
        return []

    def values(self, node: ast.AST, name: str) -> list[ast.expr]:
        scope = self.scope(node)
        values = [*_assigned(scope, name), *self.looped(scope, name)]
        if isinstance(scope, ast.FunctionDef) and not values:
            arguments = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
            index = next((i for i, one in enumerate(arguments) if one.arg == name), None)
            if index is not None:
                return list(self.passed(scope, name, index - (arguments[0].arg in ("self", "cls"))))
        return values or list(_assigned(self.tree, name, nested=False))

    def looped(self, scope: ast.AST, name: str) -> Iterator[ast.expr]:
        """What a loop over a literal of this file gives a variable."""
        for loop in ast.walk(scope):
            if not isinstance(loop, ast.For | ast.comprehension):
                continue
            targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
            index = next((i for i, one in enumerate(targets) if name_of(one) == name), None)
            if index is None:
                continue
            listed = [loop.iter]
            if isinstance(loop.iter, ast.Name):
                listed = [*_assigned(scope, loop.iter.id), *_assigned(self.tree, loop.iter.id, nested=False)]
            rows = [row for each in listed if isinstance(each, ast.Tuple | ast.List) for row in each.elts]
            for row in [*rows, *(each.elt for each in listed if isinstance(each, ast.ListComp))]:
                yield row.elts[index] if isinstance(row, ast.Tuple) and len(targets) > 1 else row

    def passed(self, function: ast.FunctionDef, name: str, index: int) -> Iterator[ast.expr]:
        """What is passed to a function as an argument; of another file only literals are read."""
        for module in [self] if function.name.startswith("_") else modules():
            for call in module.calls.get(function.name, ()):
                given = _argument(call, name) or _argument(call, index)
                if given is not None and (module is self or isinstance(given, ast.Constant)):
                    yield given
                elif given is not None:
                    yield ast.Name("unknown")

    def returned(self, call: ast.Call) -> None:
        """Add what a function of this package returns: of this file, or the only one of its name."""
        known = functions().get(name_of(call.func), [])
        own = [entry for entry in known if entry[0] is self]
        follow = own or (known if len(known) == 1 and isinstance(call.func, ast.Name) else [])
        for module, function in follow:
            if function in self.seen or "str" not in ast.unparse(function.returns or ast.Constant("")):
                continue
            self.seen.add(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
                    module.add(node.value)

    def scope(self, node: ast.AST) -> ast.AST:
        while node in self.within and not isinstance(node, ast.FunctionDef):
            node = self.within[node]
        return node


def _assigned(scope: ast.AST, name: str, *, nested: bool = True) -> Iterator[ast.expr]:
    for node in ast.walk(scope) if nested else ast.iter_child_nodes(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value
            case ast.NamedExpr(target=ast.Name(id=target), value=value) if target == name:
                yield value
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                yield value
            case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                yield value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                yield from (v for t, v in zip(targets, values, strict=False) if name_of(t) == name)


def _argument(call: ast.Call, part: int | str) -> ast.expr | None:
    if isinstance(part, int):
        return call.args[part] if 0 <= part < len(call.args) else None
    return next((keyword.value for keyword in call.keywords if keyword.arg == part), None)


def _product(pieces: Sequence[list[list[Part]]], node: ast.expr) -> list[list[Part]]:
    variants = [list(itertools.chain.from_iterable(choice)) for choice in itertools.product(*pieces)]
    assert len(variants) <= 16, f"line {node.lineno}: {len(variants)} variants of one text; name its parts"
    return variants


def _quoted(before: ast.expr | None) -> bool:
    """Whether what follows a literal stands in quotes."""
    return isinstance(before, ast.Constant) and str(before.value).endswith(("'", "`", '"'))


def _is_first(node: ast.expr) -> bool:
    """Whether this is ``text[0].upper()``, before the rest of the text."""
    return isinstance(node, ast.Call) and name_of(node.func) == "upper" and isinstance(node.func.value, ast.Subscript)  # type: ignore[attr-defined]


if __name__ == "__main__":
    from isonomia.languages.locales import error_catalog

    known = {shape(template) for template in error_catalog("pt-BR")}
    for text in texts():
        if shape(text.template) not in known:
            print(f'{text.where}\nmsgid {json.dumps(text.template, ensure_ascii=False)}\nmsgstr ""\n')
