"""Watch a stream of events, one a line of standard input, and speak up only on alarms.

tail -f events.txt | python watch.py doorbell.json
"""

from __future__ import annotations

import sys

import elision as el
from elision.ask.follow import OutOfOrder, Skipped


def worded(alarm: Skipped | OutOfOrder) -> str:
    """Say what is wrong, in one line."""
    if isinstance(alarm, Skipped):
        return f"skipped: {alarm.step}"
    return f"out of order: {alarm.event}, which usually comes before {alarm.before}"


def main(path: str) -> None:
    """Follow the telling on standard input by the script of a file."""
    follow = el.load(path).follow(false_alarms=0.05)
    if not follow.knows_alarms:
        print("too few tellings to know how rare an alarm is", file=sys.stderr)
    said: set[str] = set()
    for line in sys.stdin:
        if event := line.strip():
            for alarm in follow.tell(event).alarms:
                if worded(alarm) not in said:
                    print(f"after {event}: {worded(alarm)}", flush=True)
                said.add(worded(alarm))


if __name__ == "__main__":
    main(sys.argv[1])
