"""Write ``src/elision/data/wordnet.bin`` and ``WORDNET-LICENSE`` from Debian's ``wordnet-base``.

Run it as ``python tools/build_wordnet.py`` after ``apt-get install wordnet-base``. The same
database files give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from elision.text._wordnet_files import pack, read_folder

DATA = Path(__file__).resolve().parent.parent / "src" / "elision" / "data"
PREFACE = "wordnet.bin is a compact form of WordNet 3.0, which is under the following licence.\n\n"
LICENCE_BEGINS = "This software and database is being provided"


def licence(copyright_file: Path) -> str:
    """Return Princeton's notice from a Debian copyright file, its indentation taken off."""
    text = copyright_file.read_text(encoding="utf-8")
    paragraph = next(p for p in text.split("\n\n") if LICENCE_BEGINS in p)
    begin = paragraph.index(LICENCE_BEGINS)
    lines = (line.strip() for line in paragraph[begin:].splitlines())
    return PREFACE + "\n".join("" if line == "." else line for line in lines) + "\n"


def main() -> None:
    """Build both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument(
        "--copyright", type=Path, default=Path("/usr/share/doc/wordnet-base/copyright")
    )
    parser.add_argument("--out", type=Path, default=DATA)
    options = parser.parse_args()
    packed = pack(read_folder(options.folder))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "wordnet.bin").write_bytes(packed)
    (options.out / "WORDNET-LICENSE").write_text(licence(options.copyright), encoding="utf-8")
    print(f"wordnet.bin: {len(packed)} bytes, sha256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
