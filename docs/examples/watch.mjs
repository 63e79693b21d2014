// Watch a stream of events, one a line of standard input, and speak up only on alarms.
//
// elision serve doorbell.json --no-open
// tail -f events.txt | node watch.mjs "ws://127.0.0.1:8350/api/follow?script=doorbell"
//
// Node 22 has WebSocket; node 20.10 has it with --experimental-websocket.
import { createInterface } from "node:readline";

const socket = new WebSocket(process.argv[2]);
const said = new Set();
let finished = false;

socket.onerror = () => fail("cannot connect, or no such script");
socket.onclose = ({ code, reason }) => finished || fail(`the server left: ${code} ${reason}`);

await new Promise((opened) => { socket.onopen = opened; });
for await (const line of createInterface({ input: process.stdin })) {
  const event = line.trim();
  if (event) speakUp(event, await ask({ tell: event }));
}
finished = true;
socket.close();

function ask(message) {
  return new Promise((answered) => {
    socket.onmessage = ({ data }) => answered(JSON.parse(data));
    socket.send(JSON.stringify(message));
  });
}

function speakUp(event, answer) {
  if (answer.error) return console.error(answer.error.problem);
  const now = "activities" in answer ? answer.now : answer;
  for (const alarm of [...(now?.skipped ?? []), ...(now?.out_of_order ?? [])]) {
    if (alarm.alarm && !said.has(worded(alarm))) {
      said.add(worded(alarm));
      console.log(`after ${event}: ${worded(alarm)}`);
    }
  }
}

function worded(alarm) {
  if ("step" in alarm) return `skipped: ${alarm.step}`;
  return `out of order: ${alarm.event}, which usually comes before ${alarm.before}`;
}

function fail(problem) {
  console.error(problem);
  process.exit(2);
}
