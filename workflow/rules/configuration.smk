# Refusals of one line each, and those of files that Snakemake would read with frames of Python or without a bound.
import os
import sys

import yaml

MOST_CHARACTERS = 400
MOST_LINES = 20
MOST_BYTES = 1 << 20
MOST_DEPTH = 20
MOST_VALUES = 1000


def refuse(*lines):
    """End the workflow with lines on standard error: Snakemake would print frames of Python with an error."""
    more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    for line in [*lines[:MOST_LINES], *more]:
        sys.stderr.write(shortened(line) + "\n")
    sys.exit(1)


def shortened(line):
    """Return a line without control characters, its middle left out if it is too long."""
    text = "".join(letter if letter.isprintable() else " " for letter in line)
    if len(text) <= MOST_CHARACTERS:
        return text
    half = (MOST_CHARACTERS - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def problem_of_configuration(path):
    """Return what keeps a file from being a configuration, or None."""
    with open(path, "rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        return "more than 1 MB"
    depth = 0
    try:
        for event in yaml.parse(text.decode(), Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH or isinstance(event, yaml.AliasEvent):
                return "nested values" if depth > MOST_DEPTH else "an alias"
            if len(getattr(event, "value", None) or "") > MOST_CHARACTERS:
                return f"a value of more than {MOST_CHARACTERS} characters"
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        return f"another file ({error})"
    return None


def problem_of_values(values):
    """Return what keeps values from being a configuration, or None; names for the same values make few bytes many."""
    waiting, n = [(values, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        n += 1
        if depth > MOST_DEPTH or n > MOST_VALUES:
            return "nested values" if depth > MOST_DEPTH else "too many values"
        parts = value.values() if isinstance(value, dict) else value
        if isinstance(value, (dict, list)):
            waiting += [(part, depth + 1) for part in list(parts)[: MOST_VALUES + 1]]
    return None


def check_configuration(path):
    """Refuse a configuration that is no YAML of plain values; a missing one is left to Snakemake.

    The same holds for values of the command line, which Snakemake has read before.
    """
    if problem := problem_of_values(config):
        refuse(
            f"--config or --configfile: expected names and values in YAML, found {problem}; correct it"
        )
    problem = problem_of_configuration(path) if os.path.isfile(path) else None
    if problem:
        refuse(
            f"{path}: expected names and values in YAML, found {problem}; correct it"
        )
