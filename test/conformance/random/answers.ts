import {
  type Answer,
  closes,
  garbage,
  hangs,
  initializing,
  live,
  notReady,
  quits,
  raw,
  ready,
  resets,
  state,
  status,
} from "../answers.ts";

/** Delays an answer. */
function later(answer: Answer, ms: number): Answer {
  return { ...answer, give: (socket) => void setTimeout(() => answer.give(socket), ms) };
}

const chunked: Answer = {
  isReady: true,
  give: (socket) =>
    void socket.write(
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\n{"state": "LIVE"\r\n1\r\n}\r\n0\r\n\r\n',
    ),
};
const half: Answer = raw('HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n{"state": "LIVE"}');
const endsByClose: Answer = { ...raw('HTTP/1.1 200 OK\r\n\r\n{"state":"LIVE"}'), isReady: true };

/** The answers to a request, by name. `takes`: the server answers 200, and stays. */
export const answers = {
  live,
  initializing,
  ready,
  "not ready": notReady,
  draining: state("DRAINING"),
  "live, but 500": state("LIVE", 500),
  "live, in small letters": state("live"),
  "live, late": later(live, 800),
  "live, chunked": chunked,
  "live, ends by closing": endsByClose,
  "live, large": { ...status(200, JSON.stringify({ x: "y".repeat(300_000), state: "LIVE" })), isReady: true },
  "ready, late": later(ready, 800),
  "ready, 204": { ...status(204), isReady: true },
  empty: status(200),
  "not JSON": status(200, "<html>LIVE</html>"),
  half,
  hangs,
  resets,
  closes,
  garbage,
  quits,
  "quits, late": later(quits, 2500),
  takes: status(200, "OK\n"),
  "takes, 202": status(202, "soon"),
  json: status(200, '{"a":1}'),
  "no newline": status(200, "text"),
  binary: status(200, "\u0001\u0000x"),
  "400": status(400, "bad"),
  "403": status(403, "no"),
  "404": status(404, "nothing here"),
  "405": status(405, "POST"),
  "500": status(500, "oh"),
  "503": status(503, "not yet"),
  "301": status(301, "", ["location: /elsewhere"]),
  "302 away": status(302, "", ["location: http://127.0.0.1:8099/elsewhere"]),
} as const satisfies Readonly<Record<string, Answer>>;

export type AnswerName = keyof typeof answers;
