"""Copies of modules of tests in which one class takes the place of another."""

import ast
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Substitution(ast.NodeTransformer):
    """Put the class `ours` in the place of ``module.theirs``, with one pass wherever it is called.

    With one pass, our boosters are the libraries' own models.
    """

    module: str
    theirs: str
    ours: str

    def write(self, source: Path, target: Path) -> None:
        """Write a copy of a Python file."""
        tree = self.visit(ast.parse(source.read_text(encoding="utf-8")))
        is_future = [isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body]
        first = is_future.index(True) + 1 if any(is_future) else 0
        tree.body[first:first] = ast.parse(f"from boostnoise import {self.ours}").body
        target.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")

    def _is_theirs(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and ast.unparse(node) == f"{self.module}.{self.theirs}"

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if self._is_theirs(node):
            return ast.Name(self.ours, ast.Load())
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if self._is_theirs(node.func):
            node.keywords.insert(0, ast.keyword("passes", ast.Constant(1)))
        return self.generic_visit(node)
