"""Data frames and Parquet under bad input: tables that a JSON document describes.

``{"library": ..., "columns": {name: [kind, values]}, "options": {...}}``, which is spoiled like any
other JSON; values that the kind does not take are made missing, as libraries themselves do.
"""

from __future__ import annotations

import io
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import elision as el
from elision.errors import InputError
from elision.logs.frames import with_rows
from elision.logs.log import read_log
from elision.logs.writing import write
from fuzzing.spoiling import spoiled
from fuzzing.targets import TARGETS, TOLD, Target, folder, put_in, target, used

LIBRARIES = ("pandas", "polars", "lazy", "arrow")
OPTIONS = ("case", "activity", "time", "domain", "time_format", "lifecycle")
KINDS = {
    "text": pa.string(),
    "large": pa.large_string(),
    "whole": pa.int64(),
    "byte": pa.uint8(),
    "number": pa.float64(),
    "half": pa.float32(),
    "flag": pa.bool_(),
    "second": pa.timestamp("s"),
    "nano": pa.timestamp("ns", "Europe/Berlin"),
    "day": pa.date32(),
    "clock": pa.time64("us"),
    "span": pa.duration("ms"),
    "exact": pa.decimal128(20, 2),
    "bytes": pa.binary(),
    "lists": pa.list_(pa.string()),
    "deep": pa.list_(pa.list_(pa.int32())),
    "fields": pa.struct([("a", pa.int64())]),
    "none": pa.null(),
    "kind": pa.dictionary(pa.int8(), pa.string()),
}


def _described():
    rows = [(k, event) for k, told in enumerate(TOLD[:3]) for event in told]
    case, told = [k for k, _ in rows], [event for _, event in rows]
    times = list(range(len(rows)))
    tables = [
        {"case": ["whole", case], "activity": ["text", told], "time": ["second", times]},
        {
            "case": ["text", [str(k) for k in case]],
            "activity": ["kind", told],
            "time": ["nano", times],
        },
        {
            "id": ["byte", case],
            "event": ["large", told],
            "date": ["day", times],
            "domain": ["text", told],
        },
        {"case": ["number", [float(k) for k in case]], "activity": ["whole", times]},
        {"events": ["lists", TOLD[:3]], "domain": ["text", ["a", "a", "b"]]},
    ]
    tables += [tables[0] | {"extra": [kind, [None] * len(rows)]} for kind in KINDS]
    return [
        json.dumps(
            {"library": LIBRARIES[k % len(LIBRARIES)], "columns": one, "options": {}}
        ).encode()
        for k, one in enumerate(tables)
    ]


def _table(content):
    """The table that a document describes, or None if it describes none."""
    try:
        document = json.loads(content)
        columns = {
            str(name): pa.array([_cell(value, kind) for value in values], KINDS[kind])
            for name, (kind, values) in document["columns"].items()
        }
        options = {k: v for k, v in document["options"].items() if k in OPTIONS}
        return document["library"], pa.table(columns), options
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
        return None
    except pa.ArrowException:
        return None


def _cell(value, kind):
    try:
        pa.array([value], KINDS[kind])
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None
    return value


def _frame(library, table):
    """The same in a library, or None if it cannot have such a table."""
    try:
        if library == "pandas":
            return table.to_pandas()
        if library in ("polars", "lazy"):
            made = pl.from_arrow(table)
            return made.lazy() if library == "lazy" else made
    except Exception:  # noqa: BLE001 - their failures are not ours
        return None
    return table


class _FrameTarget(Target):
    """Also kinds of columns are exchanged, which leaves values that do not fit them out."""

    def spoiled(self, rng):
        content = rng.choice(self.seeds())
        if rng.random() < 0.7:
            document = json.loads(content)
            name = rng.choice(sorted(document["columns"]))
            document["columns"][name][0] = rng.choice(sorted(KINDS))
            document["library"] = rng.choice(LIBRARIES)
            if rng.random() < 0.3:
                document["options"][rng.choice(OPTIONS)] = rng.choice(
                    (name, "", "complete", 3, None)
                )
            content = json.dumps(document).encode()
        return spoiled(rng, content, "json") if rng.random() < 0.8 else content


def _take_frame(content):
    made = _table(content)
    frame = None if made is None else _frame(made[0], made[1])
    if frame is None:
        raise InputError("no table", where="document")
    corpus = used(el.read(frame, **made[2]))
    log = read_log(frame, **made[2])
    assert len(log.cases) == len(corpus)
    with_rows(log.frame(), log.columns, put_in(log), log.form)
    return corpus


TARGETS["frames"] = _FrameTarget("frames", "json", _described, _take_frame)


def _parquet():
    found = []
    for content in _described():
        out = io.BytesIO()
        pq.write_table(_table(content)[1], out, compression="none")
        found.append(out.getvalue())
    out = io.BytesIO()
    pq.write_table(pd_table(), out, compression="snappy", row_group_size=2)
    return [*found, out.getvalue()]


def pd_table():
    """A table with what pandas notes in the file."""
    return pa.Table.from_pandas(pd.DataFrame({"case": [1, 1, 2], "activity": ["a", "b", "a"]}))


@target("parquet", "bytes", _parquet)
def _take_parquet(content):
    corpus = used(el.read(io.BytesIO(content), format="parquet"))
    log = read_log(io.BytesIO(content), format="parquet")
    write(log, (), folder() / "log.parquet")
    return corpus
