#!/usr/bin/env python3
"""The lengths of functions that sizes.py finds in text as clang-format writes it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import sizes  # noqa: E402

BODY = "    if (a) {\n        b();\n    }\n" * 23  # 69 lines

CASES = {
    "a nested block does not end a function": ("void f() {\n" + BODY + "}\n", [(1, 71)]),
    "a wrapped signature": (
        "namespace n {\n\n[[nodiscard]] int f(int a,\n                    int b) {\n" + BODY + "}\n\n}\n",
        [(3, 72)]),
    "a template's method in a class": (
        "template <class T>\nclass C : public B<T> {\n  public:\n    template <bool b>\n    void f(T a,\n"
        "           T b) const noexcept {\n" + BODY + "    }\n\n    int member_ = 0;\n};\n", [(4, 73)]),
    "a constructor with values in braces": (
        "C::C(int a)\n    : a_{a},\n      b_{a, {1, 2}} {\n" + BODY + "}\n", [(1, 73)]),
    "a struct in a class": (
        "class C {\n    struct S {\n        void f() {\n" + BODY + "        }\n    };\n};\n", [(3, 71)]),
    "a lambda is a part of its function": (
        "void f() {\n    call([] {\n" + BODY + "    });\n}\n\nint g() { return 1; }\n", [(1, 73), (75, 1)]),
    "values, enumerators and members are no function": (
        "enum class E : char { a, b };\nconstexpr R rows[] = {\n    {1, f(2)},\n};\nstruct S {\n    int a{};\n};\n",
        []),
    "a table of rows before a class": (
        "E_ROWS(E, ALL_ROWS)\n\nclass C {\n    void f() { g(); }\n};\n", [(4, 1)]),
    "braces in texts and comments": (
        "// {\nvoid f() {\n    g('{', \"{\", R\"({)\", 1'000);  // {\n}\n\nvoid h() {\n}\n", [(2, 3), (6, 2)]),
}


def main():
    failed = False
    for name, (text, expected) in CASES.items():
        actual = list(sizes.function_sizes(text.splitlines()))
        if actual != expected:
            print(f"{name}: expected (line, lines) {expected}, actual {actual}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
