"""Sizes of functions and classes in C++ that clang-format has formatted."""

import re

# What may contain braces that are not braces of the program, and macros without a semicolon.
NOT_PROGRAM = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/'
    r"|^[ \t]*#(?:\\\n|[^\n])*|^[ \t]*[A-Z]\w*_ROWS\([^)]*\)$", re.M | re.S)


def strip_comment(line):
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]


def without_attributes(text):
    """The text without attributes and without arguments of templates."""
    text = re.sub(r"\[\[[^]]*\]\]|alignas\([^)]*\)", "", text)
    while re.search(r"<[^<>()]*>", text):
        text = re.sub(r"<[^<>()]*>", "", text)
    return text


def kind_of_block(head):
    """What the text before a brace begins: a scope, a function, or a list of values."""
    text = without_attributes(head)
    words = re.sub(r"^\s*(template\s*)?", "", text)
    if re.match(r"(inline )?namespace\b|extern\s*$|(class|struct|union|enum)\b[^()]*$", words):
        return "scope"
    # clang-format writes a space before the brace of a body, and none before the brace of a value.
    return "function" if "(" in text and re.search(r"[^\s=,({] $", head) else "values"


def function_sizes(lines):
    """(line, lines) of each function, from the start of its signature to its closing brace. What a
    function contains (blocks, lambdas, local classes) is a part of it."""
    text = NOT_PROGRAM.sub(lambda match: "\n" * match.group().count("\n"), "\n".join(lines))
    blocks = []  # the kinds of the open blocks
    head, begin, number = "", 0, 1
    for char in text:
        if char == "{":
            outside = all(kind == "scope" for kind in blocks)
            blocks.append(kind_of_block(head) if outside else "values")
            if blocks[-1] == "scope":
                head = ""
        elif char == "}" and blocks:
            kind = blocks.pop()
            if kind == "function":
                yield begin, number - begin + 1
            if kind != "values":
                head = ""
        elif all(kind == "scope" for kind in blocks):
            if not head.strip() and not char.isspace():
                head, begin = "", number
            head += " " if char == "\n" else char
            if char == ";" or re.fullmatch(r"\s*(public|private|protected):", head):
                head = ""
        number += char == "\n"


def class_sizes(lines):
    """(line, name, methods, data members) of each class and struct. The members of a struct do not count,
    because a struct is a row of values. Relies on clang-format's columns."""
    for number, line in enumerate(lines):
        head = re.match(r"( *)(class|struct)\b(?: \[\[[^]]*\]\]| alignas\([^)]*\))* (\w+)[^;()]*\{$", line)
        if not head:
            continue
        indent = " " * (len(head.group(1)) + 4)
        methods = members = 0
        for text in lines[number + 1:]:
            if text.startswith(head.group(1) + "}"):
                break
            text = strip_comment(text)
            if not re.match(indent + r"[A-Za-z_~\[:]", text) or re.match(
                    r" *(using|template|friend|static_assert|enum|struct|class|requires|:)\b", text):
                continue
            text = without_attributes(text)
            if "(" in re.split(r"(?<!operator)[={]", text)[0]:
                methods += 1
            elif re.search(r"[;{=]", text) and "static constexpr" not in text:
                members += 1
        yield number + 1, head.group(3), methods, members if head.group(2) == "class" else 0
