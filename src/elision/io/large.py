"""Files that are larger than memory: columns read by polars' streaming engine, variants counted.

Each narrative becomes a text with a letter for each kind of event, so that polars' own engine
finds those that are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.errors import InputError, relocated, shown
from elision.io.cases import FINISHED, Reading
from elision.io.formats import checked_domain, guessed
from elision.io.reading import check_options, read
from elision.io.records import narratives_of_lines
from elision.io.source import GZIP, opened
from elision.io.tables import failures, is_of_lists, label, no_label, parquet_table, text_of
from elision.io.times import AMBIGUOUS_HINT, ambiguous, find, forms_of, no_time, shape
from elision.values.narrative import Narrative
from elision.values.variants import Variants

if TYPE_CHECKING:
    import os

    import polars as pl
    from numpy.typing import NDArray

    from elision.io.cases import Known, Lifecycle
    from elision.io.columns import Columns, Roles
    from elision.io.formats import Format
    from elision.io.source import Source
    from elision.io.tables import Text
    from elision.io.times import Form

ROLES = ("case", "activity", "time", "domain", "phase")

LINES = 100_000
"""Narratives of a file of lines that are in memory at a time."""


def read_variants(
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,  # noqa: A002 - as `read` has it
    domain: str | None = None,
    case: str | None = None,
    activity: str | None = None,
    time: str | None = None,
    time_format: str | None = None,
    lifecycle: Lifecycle = "complete",
    encoding: str = "utf-8",
) -> Variants:
    """Read the narratives of a file of any size, each different one once.

    Parquet, CSV, TSV and JSONL need not fit in memory; other formats, files packed with gzip, and
    text that is not in UTF-8 are read whole. What is learned from them is what is learned from the
    narratives that `read` gives.

    Parameters
    ----------
    path
        The file, of events and not of sentences.
    format, domain, case, activity, time, time_format, lifecycle, encoding
        As `read` takes them.

    Raises
    ------
    InputError
        Where it cannot be read or is not what it should be; says where and why.

    Examples
    --------
    >>> import elision as el
    >>> el.ScriptLearner().fit(el.read_variants("big.parquet"))  # doctest: +SKIP
    """
    options: dict[str, Any] = {
        "format": format,
        "domain": domain,
        "case": case,
        "activity": activity,
        "time": time,
        "time_format": time_format,
        "lifecycle": lifecycle,
        "encoding": encoding,
    }
    found = variants_of(path, **options)
    if found is None:
        corpus = read(path, **options)
        found = Variants.of(corpus.events, [one.domain for one in corpus])
    if not len(found):
        raise InputError("there are no narratives in it", where=str(path))
    return found


def variants_of(
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,  # noqa: A002 - as `read` has it
    time_format: str | None = None,
    lifecycle: Lifecycle = "complete",
    encoding: str = "utf-8",
    **roles: str | None,
) -> Variants | None:
    """Read the same; None of a file that has to be read whole, or tells sentences."""
    check_options(format, lifecycle, time_format)
    with opened(path, encoding) as file:
        kind = format or guessed(file, roles)
        if kind == "jsonl":
            return _of_lines(file, checked_domain(roles, "the format 'jsonl'"))
    table = large_table(path, kind, roles, Reading(lifecycle, time_format), encoding)
    if table is None:
        return None
    with failures(str(path)):
        return table.listed() if table.columns is None else table.logged()


def large_table(
    path: str | os.PathLike[str], kind: str, roles: Roles, reading: Reading, encoding: str
) -> LargeTable | None:
    """Return a table that can be read in parts; None where a file cannot."""
    if kind not in ("parquet", "csv", "tsv") or not Path(path).is_file():
        return None
    with opened(path, encoding) as file, Path(path).open("rb") as plain:
        if plain.read(len(GZIP)) == GZIP:
            return None
        if kind == "parquet":
            table, text = parquet_table(file, beginning=True), None
            if is_of_lists(table, roles):
                return LargeTable(Path(path), table.names, None, None, reading, roles)
        elif file.encoding != "utf-8-sig":
            return None
        else:
            text = text_of(file, "\t" if kind == "tsv" else None, beginning=True)
            table, text = text.table(), replace(text, content=Path(path))
        columns = table.columns(roles)
    return LargeTable(Path(path), table.names, columns, text, reading, roles)


@dataclass(frozen=True, slots=True)
class LargeTable:
    """A table in a file, of which only the columns that are needed are read, a part at a time.

    Attributes
    ----------
    path, names, columns
        The file, its columns, and which of them is what; None where a row is a narrative.
    text
        As a table in text; None for Parquet.
    reading, roles
        How it is read, and which columns were named.
    """

    path: Path
    names: list[Any]
    columns: Columns | None
    text: Text | None
    reading: Reading
    roles: Roles

    def rows(self) -> pl.LazyFrame:
        """Return the columns that are needed, with the number of each row."""
        import polars as pl  # noqa: PLC0415 - slow to import

        columns = self._chosen
        if self.text is None:
            found = pl.scan_parquet(self.path)
            names = self.names
        else:
            names = [str(number) for number in range(len(self.names))]
            found = pl.scan_csv(
                self.path,
                separator=self.text.delimiter,
                infer_schema=False,
                new_columns=names,
            ).filter(~pl.all_horizontal(pl.all().is_null()))
        chosen = dict(zip(ROLES, columns.roles, strict=True))
        made = {
            role: pl.lit(None, pl.String) if name is None else pl.col(names[self.names.index(name)])
            for role, name in chosen.items()
        }
        domain = made["domain"].cast(pl.String).fill_null("")
        return found.with_row_index("row").select("row", **(made | {"domain": domain}))

    @property
    def _chosen(self) -> Columns:
        if self.columns is None:
            raise InputError("a row is a narrative, expected one an event", where=str(self.path))
        return self.columns

    def known(self) -> Known:
        """Return how times are written, and whether any event is said to be complete."""
        import polars as pl  # noqa: PLC0415 - slow to import

        rows, form = self.rows(), None
        ends = (pl.col("phase").cast(pl.String).str.to_lowercase() == "complete").any()
        with failures(str(self.path)):
            schema = rows.collect_schema()
            marks_ends = bool(collected(rows.select(ends)).item())
        if self._chosen.time is not None and not schema["time"].is_temporal():
            form = self._form(rows, pl.col("time").cast(pl.String))
        return form, marks_ends

    def _form(self, rows: pl.LazyFrame, time: pl.Expr) -> Form:
        where = f"{self.path}, column {shown(self._chosen.time)}"
        shapes = collected(rows.select(shape(time.drop_nulls()).unique())).to_series().to_list()
        forms = forms_of(shapes, self.reading.time_format)
        nulls = [
            one.moments(time).null_count().alias(str(number)) for number, one in enumerate(forms)
        ]
        counts = collected(rows.select(nulls)).row(0) if forms else ()
        left = [form for form, count in zip(forms, counts, strict=True) if not count]
        if len(left) > 1 and left[0].order == "number":
            left = left[1:]
        if not left:
            odd = [one for one in shapes if not forms_of([one], self.reading.time_format)]
            if forms:
                bad = forms[0].moments(time).is_null()
            elif odd:
                bad = shape(time).is_in(odd)
            else:
                raise InputError(
                    "times are written in several ways", where=where, hint=AMBIGUOUS_HINT
                )
            row, value = collected(rows.filter(bad).select("row", time).head(1)).row(0)
            raise no_time(value, f"{self._place(row)}, column {shown(self._chosen.time)}")
        for other in left[1:]:
            differing = rows.filter(left[0].moments(time) != other.moments(time)).select(time)
            found = collected(differing.head(1))
            if len(found):
                raise ambiguous(found.item(), left, where)
        return left[0]

    def logged(self) -> Variants:
        """Return the narratives of a log: rows by case, in order of time and then of rows."""
        import polars as pl  # noqa: PLC0415 - slow to import

        rows, columns = self.rows(), self._chosen
        schema = rows.collect_schema()
        case, activity = (label(pl.col(name), schema[name]) for name in ROLES[:2])
        phase = pl.col("phase").cast(pl.String).str.to_lowercase()
        kept = pl.lit(True)
        if columns.lifecycle is not None and self.reading.lifecycle != "all":
            ends = collected(rows.select((phase == "complete").any())).item()
            kept = phase.is_null() | phase.is_in(FINISHED) if ends else kept
        named = rows.group_by(name=activity, kept=kept).agg(blank=case.is_null().any())
        found = collected(named)
        if found["name"].null_count() or found["blank"].any():
            raise self._unlabelled(rows, case, activity)
        names = found.filter("kept")["name"].unique().sort().to_list()
        domain = pl.col("domain")
        keys = {
            # Of n cases two have the same 64 bits with a probability of n^2 / 2^65.
            "case": pl.struct("case", domain).hash() if columns.domain else pl.col("case").hash(),
            "code": pl.when(kept).then(activity).cast(pl.Enum(names)),
        }
        if columns.domain is not None:
            domains = collected(rows.select(domain.unique())).to_series()
            keys["domain"] = domain.cast(pl.Enum(domains))
        frame = self._timed(rows, keys, schema["time"])
        order = [name for name in ("moment", "row") if name in frame.columns]
        first = [pl.col("row").min(), *([pl.col("domain").first()] if "domain" in keys else [])]
        told = frame.lazy().group_by("case").agg(pl.col("code").sort_by(order).drop_nulls(), *first)
        del frame
        cases = collected(told.drop("case")).sort("row").drop("row")
        texts = _texts(cases.lazy(), names)
        del cases
        return _of_texts(texts, names)

    def _unlabelled(self, rows: pl.LazyFrame, case: pl.Expr, activity: pl.Expr) -> InputError:
        """Return the complaint about the first row that names no case or no activity."""
        lacking = rows.filter(case.is_null() | activity.is_null())
        bad = collected(lacking.select("row", "case", "activity", blank=case.is_null()).head(1))
        row, *cells, blank = bad.row(0)
        name = self._chosen.case if blank else self._chosen.activity
        return no_label(cells[not blank], f"{self._place(row)}, column {shown(name)}")

    def _timed(self, rows: pl.LazyFrame, keys: dict[str, pl.Expr], dtype: Any) -> pl.DataFrame:
        """Return columns with the moment of each row, if times are said, and its number."""
        import polars as pl  # noqa: PLC0415 - slow to import

        if self._chosen.time is None:
            return collected(rows.select(**keys)).with_row_index("row")
        if dtype.is_temporal():
            moment = pl.col("time").to_physical().cast(pl.Int64)
            return collected(rows.select(**keys, moment=moment)).with_row_index("row")
        time = pl.col("time").cast(pl.String)
        # Mostly the first rows show how times are written; if not, all are looked at.
        some = collected(rows.head(LINES).select(time)).to_series()
        column = shown(self._chosen.time)
        forms = find(
            some, lambda row: f"{self._place(row)}, column {column}", self.reading.time_format
        )
        if len(forms) == 1:
            moment = forms[0][0].moments(time)
            frame = collected(rows.select(**keys, moment=moment)).with_row_index("row")
            if not frame["moment"].null_count():
                return frame
        moment = self._form(rows, time).moments(time)
        return collected(rows.select(**keys, moment=moment)).with_row_index("row")

    def listed(self) -> Variants:
        """Return the narratives of a table with one a row."""
        import polars as pl  # noqa: PLC0415 - slow to import

        name = self.roles["activity"] or "events"
        domain = self.roles["domain"]
        if domain is None and "domain" in self.names:
            domain = "domain"
        if domain and domain not in self.names:
            problem = f"no column {shown(domain)} for the domain"
            hint = "give one of the columns as domain="
            raise InputError(problem, where=str(self.path), hint=hint)
        columns = {"code": pl.col(name).cast(pl.List(pl.String))}
        if domain:
            columns["domain"] = pl.col(domain).cast(pl.String).fill_null("")
        rows = pl.scan_parquet(self.path).select(**columns)
        # Mostly the first rows have all kinds of events; if not, all are looked at.
        for some in (rows.head(LINES), rows):
            told = collected(some.select(pl.col("code").explode().unique())).to_series()
            names = told.drop_nulls().sort().to_list()
            texts = _texts(rows, names)
            if not texts["code"].null_count() and all(map(str.strip, names)):
                return _of_texts(texts, names)
            del texts
        empty = pl.element().is_null() | (pl.element().str.strip_chars() == "")
        wrong = pl.col("code").is_null() | pl.col("code").list.eval(empty).list.any()
        bad = collected(rows.with_row_index("row").filter(wrong).select("row", "code").head(1))
        row, events = bad.row(0)
        where = f"{self.path} narratives[{row}]"
        if events is None:
            raise InputError("there are no events", where=where, hint="write an empty list")
        try:
            Narrative(tuple(events))
        except InputError as error:
            raise relocated(error, f"{where}, {error.where}") from None
        raise InputError("an event is no text", where=where)

    def _place(self, row: int) -> str:
        return f"{self.path} row {row}" if self.text is None else self.text.place(row)


def _texts(rows: pl.LazyFrame, names: list[str]) -> pl.DataFrame:
    """Write lists, ``code``, as texts with a letter for each name; null where one has none."""
    import polars as pl  # noqa: PLC0415 - slow to import

    letter = pl.element().cast(pl.String)
    if names:
        letters = [_letter(number) for number in range(len(names))]
        letter = letter.replace_strict(names, letters, default=None, return_dtype=pl.String)
    joined = pl.col("code").list.eval(letter).list.join("", ignore_nulls=False)
    return collected(rows.with_columns(joined))


def _of_texts(frame: pl.DataFrame, names: list[str]) -> Variants:
    """Return narratives that are texts, ``code``, with a letter for each name in this order."""
    different, place = _numbered(frame["code"])
    if "domain" in frame.columns:
        domains, domain_of = _numbered(frame["domain"])
    else:
        domains, domain_of = [""], np.zeros(len(frame), np.uint8)
    del frame
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.min_scalar_type(len(names)))
    rank[order] = np.arange(len(names))
    symbols = [rank[:0]]
    for begin in range(0, len(different), LINES):
        text = different[begin : begin + LINES].str.join("").item()
        written = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        beyond = written >= _SURROGATES[1]
        symbols.append(rank[written - _FIRST - beyond * (_SURROGATES[1] - _SURROGATES[0])])
    return Variants(
        tuple(names[k] for k in order),
        np.concatenate(symbols),
        np.concatenate([[0], np.cumsum(different.str.len_chars().to_numpy())]).astype(np.int64),
        place,
        tuple(domains),
        domain_of,
    )


def _numbered(texts: pl.Series) -> tuple[pl.Series, NDArray[np.uint32]]:
    """Return the different texts in order of first appearance, and which of them each text is."""
    import polars as pl  # noqa: PLC0415 - slow to import

    texts = texts.cast(pl.String)
    different = texts.unique(maintain_order=True)
    return different, texts.cast(pl.Enum(different)).to_physical().cast(pl.UInt32).to_numpy()


_FIRST = 33
_SURROGATES = 0xD800, 0xE000
"""Numbers that stand for no character."""


def _letter(number: int) -> str:
    code = _FIRST + number
    return chr(code if code < _SURROGATES[0] else code + _SURROGATES[1] - _SURROGATES[0])


def _of_lines(file: Source, domain: str) -> Variants | None:
    """Read the narratives of a file of lines; None where sentences are told."""
    import polars as pl  # noqa: PLC0415 - slow to import

    letters: dict[str, str] = {}
    texts: list[str] = []
    parts = [pl.Series("code", texts, pl.String)]
    domains = [pl.Series("domain", texts, pl.String)]
    lines = narratives_of_lines(file, domain)
    while some := list(islice(lines, LINES)):
        if any(one.events is None or one.steps is not None for one in some):
            return None
        for one in some:
            for event in one.events or ():
                if event not in letters:
                    letters[event] = _letter(len(letters))
        texts = ["".join([letters[event] for event in one.events or ()]) for one in some]
        parts.append(pl.Series("code", texts, pl.String))
        domains.append(pl.Series("domain", [one.domain for one in some], pl.String))
    return _of_texts(pl.DataFrame([pl.concat(parts), pl.concat(domains)]), [*letters])


def collected(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return rows that fit in memory, made a part at a time."""
    return rows.collect(engine="streaming")
