"""Starting and stopping: ports, warnings, Ctrl-C."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import elision as el
from elision.errors import InputError
from elision.serve.command import bound, loaded, serve
from elision.values.library import Library
from serving import SERVE, Running


def test_ctrl_c_stops_it_cleanly_while_somebody_watches(
    scripts: dict[str, Path], tmp_path: Path
) -> None:
    """Learning is under way and a stream is open: both end, and the temporary folder is gone."""
    environment = {"TMPDIR": str(tmp_path)}
    with Running([scripts["doorbell"]], environment=environment) as server:
        many = ("\n".join(f"step {n % 7}" for n in range(30)) + "\n\n") * 5000
        job = server.learn("many.txt", many).json
        assert list(tmp_path.iterdir())
        with socket.create_connection((server.host, server.port)) as stream:
            head = f"GET /api/learning/{job['id']}/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
            stream.sendall(head.encode())
            assert b"200 OK" in stream.recv(4096)
            began = time.monotonic()
            status, errors = server.stop()
        assert status == 0
        assert time.monotonic() - began < 30
        assert errors.strip() == "Stopped."
        assert not list(tmp_path.iterdir())


def test_a_used_port_gives_one_line_and_offers_the_next(scripts: dict[str, Path]) -> None:
    with Running([scripts["doorbell"]]) as server:
        command = [*SERVE, str(scripts["doorbell"])]
        found = subprocess.run(
            [*command, "--no-open", "--port", str(server.port)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 2
        (line,) = found.stderr.strip().splitlines()
        assert f"port {server.port} is in use" in line
        offered = re.search(r"--port (\d+)", line)
        assert offered
        bound("127.0.0.1", int(offered[1])).close()


def test_others_can_reach_it_only_with_a_warning(scripts: dict[str, Path]) -> None:
    options = ["--port", "0", "--host", "0.0.0.0"]  # noqa: S104 - what is tested
    with Running([scripts["doorbell"]], options=options) as server:
        server.host = "127.0.0.1"
        assert server.ask("GET", "/api/scripts", None, {"Host": "10.1.2.3:80"}).status == 200
        assert server.ask("GET", "/api/scripts", None, {"Host": "evil.example"}).status == 403
        _, errors = server.stop(signal.SIGINT)
        assert "warning: 0.0.0.0 can be reached by others" in errors


def test_a_library_is_served_script_by_script(tmp_path: Path) -> None:
    library = Library({"door": el.examples.doorbell(), "other": el.examples.doorbell()})
    library.save(tmp_path / "library")
    assert [held.id for held in loaded([tmp_path / "library"])] == ["door", "other"]


def test_a_folder_of_script_files_is_served(tmp_path: Path) -> None:
    el.examples.doorbell().annotated(domain="a bell rings").save(tmp_path / "1.json")
    el.examples.doorbell().save(tmp_path / "second.json")
    assert [held.name for held in loaded([tmp_path])] == ["a bell rings", "second"]


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_is_a_port(port: int) -> None:
    with pytest.raises(InputError, match=f"port {port}, expected one from 0 to 65535"):
        bound("127.0.0.1", port)


def test_a_host_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"cannot listen at no\.such\.host\.invalid"):
        bound("no.such.host.invalid", 0)


def test_a_file_that_is_no_script_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("{}")
    with pytest.raises(InputError, match=r"none\.json"):
        serve([tmp_path / "none.json"], port=0, open_browser=False)


def test_without_the_extra_it_says_what_to_install(scripts: dict[str, Path]) -> None:
    program = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from pathlib import Path; from elision.serve.command import serve\n"
        f"serve([Path({str(scripts['doorbell'])!r})], port=0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert 'pip install "elision[page]"' in found.stderr.splitlines()[-1]


def test_the_page_asks_nobody_else() -> None:
    """No address but the own one stands in the page's files."""
    static = Path(el.__file__).parent / "serve" / "static"
    paths = [*static.iterdir()]
    assert len(paths) > 10
    for path in paths:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*//.*|\s// .*", "", text, flags=re.MULTILINE), path.name
        assert "innerHTML" not in text, path.name
