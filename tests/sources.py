"""One log in every format, and what tests of readers share."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = [("hear bell", "walk", "open door"), ("hear bell", "öffnen 😀"), ("open door",)]
CSV = """case,activity,time
1,walk,2024-01-01T00:01
1,hear bell,2024-01-01T00:00
2,hear bell,2024-01-02
1,open door,2024-01-01T00:02
2,öffnen 😀,2024-01-03
3,open door,2024-01-04
"""
XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <global scope="event"><string key="concept:name" value="__INVALID__"/></global>
  <classifier name="Activity" keys="concept:name lifecycle:transition"/>
  <string key="concept:name" value="the log"/>
  <trace>
    <string key="concept:name" value="T1"><string key="concept:name" value="nested"/></string>
    <event>
      <string key="concept:name" value="walk"/>
      <date key="time:timestamp" value="2024-01-01T00:01:00+01:00"/>
    </event>
    <event>
      <string key="concept:name" value="hear bell"/>
      <date key="time:timestamp" value="2024-01-01T00:00:30.5+01:00"/>
    </event>
    <event>
      <date key="time:timestamp" value="2024-01-01T00:00:00Z"/>
      <string key="concept:name" value="open door"/>
      <list key="things"><values><string key="concept:name" value="deep"/></values></list>
    </event>
  </trace>
  <trace>
    <event><string key="concept:name" value="hear bell"/></event>
    <event><string key="concept:name" value="öffnen 😀"/></event>
  </trace>
  <trace>
    <string key="concept:name" value="T3"/>
    <event><string key="concept:name" value="open door"/></event>
  </trace>
</log>
"""


def jsonl(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame), buffer)
    return buffer.getvalue()


TABLE = pd.read_csv(io.StringIO(CSV))
FILES: dict[str, bytes] = {
    "stories.jsonl": jsonl(*({"events": events} for events in EVENTS)).encode(),
    "stories.json": json.dumps([{"events": events} for events in EVENTS], indent=2).encode(),
    "lists.json": json.dumps(EVENTS).encode(),
    "log.csv": CSV.encode(),
    "log.tsv": CSV.replace(",", "\t").encode(),
    "log.parquet": parquet(TABLE),
    "log.xes": XES.encode(),
    "stories.txt": "\n\n".join(map("\n".join, EVENTS)).encode(),
}
