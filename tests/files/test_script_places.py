"""Where script files are read from and written to, whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading

import pytest

import elision as el
from elision.files.script import dumps
from script_files import (
    assert_clear,
    assert_identical,
    refused_file,
    small,
)

# What the file system has to say


def test_what_is_no_file_is_refused(tmp_path):
    refused_file(tmp_path, "no script file in this folder")
    refused_file(tmp_path / "missing.json", "cannot be read: No such file or directory")
    refused_file(tmp_path / "no" / "folder.json", "cannot be read: No such file or directory")
    (tmp_path / "file").write_bytes(b"")
    refused_file(tmp_path / "file" / "a.json", "cannot be read: Not a directory")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused_file(tmp_path / "loop", "cannot be read: Too many levels of symbolic links")
    refused_file("", "cannot be read")


def test_a_file_without_permission(tmp_path):
    path = tmp_path / "secret.json"
    small().save(path)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything
        assert_identical(el.load(path), small())
    else:
        refused_file(path, "cannot be read: Permission denied")


@pytest.mark.parametrize(
    "name", ["a\nb.json", "\x1b[31m.json", "\u202ea.json", "x" * 250, "\udcff"]
)
def test_strange_file_names_make_one_line(name, tmp_path):
    path = tmp_path / name
    for _ in range(2):
        with pytest.raises(el.FileFormatError) as caught:
            el.load(path)
        assert_clear(caught.value, "..." if len(name) == 250 else str(tmp_path))
        if not path.exists():
            path.write_bytes(b"")
    small().save(path)
    assert el.load(path) == small()


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "y/" * 3000 + "z"])
def test_impossible_file_names_are_refused(name, tmp_path):
    with pytest.raises(el.FileFormatError, match="cannot be read") as caught:
        el.load(tmp_path / name)
    assert_clear(caught.value, "")
    with pytest.raises(el.InputError, match="cannot be written") as caught:
        small().save(tmp_path / name)
    assert_clear(caught.value, "")
    assert list(tmp_path.iterdir()) == []


def test_a_script_is_read_from_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[dumps(small())])
    writer.start()
    assert_identical(el.load(path), small())
    writer.join()


# Whole or not at all


def fails_with(error):
    def fail(*arguments, **options):
        raise error

    return fail


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt(), MemoryError()], ids=repr)
def test_a_failing_write_leaves_everything_as_it_was(error, step, existing, tmp_path, monkeypatch):
    if step == "chmod" and not existing:
        return  # nothing to fail: only the mode of an old file is set
    path = tmp_path / "a.json"
    if existing:
        path.write_bytes(b"old")
    monkeypatch.setattr(os, step, fails_with(error))
    expected = el.InputError if error is FULL else type(error)
    with pytest.raises(expected) as caught:
        small().save(path)
    if error is FULL:
        assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    assert [(file, file.read_bytes()) for file in tmp_path.iterdir()] == [(path, b"old")] * existing


def test_a_new_file_replaces_the_old_one_and_nothing_is_left(tmp_path):
    path = tmp_path / "a.json"
    el.examples.doorbell().save(path)
    small().save(path)
    assert_identical(el.load(path), small())
    assert list(tmp_path.iterdir()) == [path]


def test_writing_where_no_file_can_be(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, problem in {
        "missing/a.json": "No such file or directory",
        "file/a.json": "Not a directory",
        "folder": "there is something other than a file",
        "pipe": "there is something other than a file",
    }.items():
        with pytest.raises(el.InputError) as caught:
            small().save(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: cannot be written: {problem}"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder", "pipe"]
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(el.InputError, match="cannot be written"):
        small().save("")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.json", tmp_path / "link.json"
    link.symlink_to(target)
    for script in (small(), el.examples.doorbell()):
        script.save(link)
        assert link.is_symlink()
        assert el.load(target) == script
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.json", "link.json", "real"]


def test_permissions_are_those_of_the_old_file_or_the_usual_ones(tmp_path):
    path = tmp_path / "a.json"
    before = os.umask(0o027)
    try:
        small().save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    small().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.parametrize("name", ["😀" * 63, "x" * 255, "-", ".hidden", " "])
def test_names_as_long_as_the_file_system_allows_are_written(name, tmp_path):
    small().save(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_readers_never_see_half_a_file(tmp_path):
    path = tmp_path / "a.json"
    both = [small(), el.examples.doorbell()]
    both[0].save(path)

    def write(script):
        for _ in range(20):
            script.save(path)

    writers = [threading.Thread(target=write, args=[script]) for script in both]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert el.load(path) in both
    for writer in writers:
        writer.join()
    assert list(tmp_path.iterdir()) == [path]
