import { closes, garbage, hangs, initializing as notLive, notReady, quits, ready, status } from "../answers.ts";
import type { Case, Seen, Server } from "../case.ts";
import type { Rival } from "../rivals.ts";

const rivals: readonly Rival[] = ["pilot-agent"];
const admin = (answer = status(200, '{"a":1}')): readonly Server[] => [{ port: 15000, others: [answer], ends: [] }];
const probe = (...polls: readonly (typeof ready)[]): readonly Server[] => [{ port: 15021, polls, ends: [] }];
const poll = "15021 GET /healthz/ready";

type Changed = Partial<Omit<Case, "expect">> & { readonly sees?: Partial<Seen> };

function one(name: string, flags: readonly string[], { sees = {}, ...changed }: Changed = {}): Case {
  const plain = { code: 0, started: "no", polls: [], requests: [], signals: [], agent: [], stdout: "" } as const;
  return {
    as: "pilot-agent",
    flags,
    command: [],
    ...changed,
    name: `pilot-agent: ${flags[0]}: ${name}`,
    expect: { ...plain, ...sees },
  };
}

/** The cases for which hooks and reapers call pilot-agent. */
export const pilotCases: readonly Case[] = [...requests(), ...failures(), ...usage(), ...waits(), ...waitFlags()];

/** Returns what is seen of a `request`. Unlike ebb, pilot-agent adds a newline. */
function written(code: 0 | 1, request: string, body: string): Pick<Changed, "sees" | "differs"> {
  const requests = [request];
  return {
    sees: { code, requests, stdout: body },
    differs:
      code === 0
        ? [{ rivals, by: "newline", sees: { stdout: `${body}\n` } }]
        : [{ rivals, by: "request-code", sees: { code: 255, stdout: "(error)\n" } }],
  };
}

function requests(): readonly Case[] {
  const json = '{"a":1}';
  const asked = (name: string, flags: readonly string[], line: string) =>
    one(name, ["request", ...flags], { servers: admin(), ...written(0, `15000 ${line}`, json) });
  const quit = {
    servers: [{ port: 15020, others: [quits], ends: [15020] }],
    ...written(0, "15020 POST /quitquitquit", "OK\n"),
  };
  return [
    asked("GET /stats", ["GET", "/stats"], "GET /stats"),
    asked("a path without a slash", ["GET", "config_dump?mask=a"], "GET /config_dump?mask=a"),
    asked("--log_output_level", ["--log_output_level=default:debug", "GET", "/x"], "GET /x"),
    asked("--log_as_json, --log_target", ["--log_as_json", "GET", "/x", "--log_target", "stderr"], "GET /x"),
    {
      ...asked("flags", ["GET", "/x"], "GET /x"),
      name: "pilot-agent: flags before the command word",
      flags: ["--log_output_level", "default:info", "request", "GET", "/x"],
    },
    one("--help", ["request", "--help"], { hasOwnStdout: true, sees: { stdout: "(some)" } }),
    asked("POST", ["POST", "/quitquitquit"], "POST /quitquitquit"),
    asked("POST with a body", ["POST", "/logging", "level=debug"], "POST /logging level=debug"),
    asked("GET with a body", ["GET", "/x", "y"], "GET /x y"),
    asked("POST with the body -", ["POST", "/x", "-"], "POST /x -"),
    asked("POST with an empty body", ["POST", "/x", ""], "POST /x"),
    asked("an empty path", ["GET", ""], "GET /"),
    asked("a path as it is written", ["GET", "/a//b/../c"], "GET /a//b/../c"),
    asked("a path that is not ASCII", ["GET", "/ü"], "GET /%C3%BC"),
    asked("any method", ["PURGE", "/x"], "PURGE /x"),
    asked("a method in small letters", ["get", "/x"], "get /x"),
    asked("PUT", ["PUT", "/x", "y"], "PUT /x y"),
    asked("DELETE", ["DELETE", "/x"], "DELETE /x"),
    one("--debug-port", ["request", "--debug-port", "15020", "POST", "/quitquitquit"], quit),
    one("--debug-port= after the path", ["request", "POST", "/quitquitquit", "--debug-port=15020"], quit),
    one("--debug-port may be any", ["request", "--debug-port=8080", "GET", "/x"], {
      servers: [{ port: 8080, others: [status(200, "a")], ends: [] }],
      sees: { requests: ["8080 GET /x"], stdout: "a" },
      differs: [{ rivals, by: "debug-port", sees: { code: 255, requests: [], stdout: "(error)\n" } }],
    }),
    one("status 202", ["request", "POST", "/x"], {
      servers: admin(status(202, "soon")),
      ...written(0, "15000 POST /x", "soon"),
    }),
    one("an empty answer", ["request", "POST", "/x"], {
      servers: admin(status(200)),
      ...written(0, "15000 POST /x", ""),
    }),
    one("a redirect is not followed", ["request", "GET", "/a"], {
      servers: admin(status(302, "there", ["location: /b"])),
      sees: { requests: ["15000 GET /a"], stdout: "there" },
      differs: [
        {
          rivals,
          by: "redirect",
          sees: { code: 255, requests: ["15000 GET /a", "15000 GET /b", "15000 GET /b again"], stdout: "(error)\n" },
        },
      ],
    }),
  ];
}

function failures(): readonly Case[] {
  const failing = (code: number) =>
    one(`status ${code} fails`, ["request", "GET", "/x"], {
      servers: admin(status(code, "why")),
      ...written(1, "15000 GET /x", "why"),
    });
  return [
    ...[400, 403, 405, 500, 503].map(failing),
    one("status 404 fails", ["request", "GET", "/x"], {
      servers: admin(status(404, "invalid path")),
      sees: { code: 1, requests: ["15000 GET /x"], stdout: "invalid path" },
      differs: [{ rivals, by: ["not-found-passes", "newline"], sees: { code: 0, stdout: "invalid path\n" } }],
    }),
    one("nobody listens", ["request", "GET", "/x"], {
      sees: { code: 69 },
      says: ["15000"],
      differs: [{ rivals, by: "request-code", sees: { code: 255, stdout: "(error)\n" } }],
    }),
    one("an answer that is no HTTP", ["request", "GET", "/x"], {
      servers: admin(garbage),
      sees: { code: 69, requests: ["15000 GET /x"] },
      differs: [{ rivals, by: "request-code", sees: { code: 255, stdout: "(error)\n" } }],
    }),
    one("a connection that is closed without an answer", ["request", "POST", "/x"], {
      servers: admin(closes),
      sees: { code: 69, requests: ["15000 POST /x"] },
      differs: [{ rivals, by: "request-code", sees: { code: 255, stdout: "(error)\n" } }],
    }),
  ];
}

function usage(): readonly Case[] {
  const refused = (name: string, flags: readonly string[]) =>
    one(name, flags, {
      servers: admin(),
      sees: { code: 64 },
      differs: [{ rivals, by: "request-code", sees: { code: 255, stdout: "(error)\n" } }],
    });
  return [
    refused("without a path", ["request", "GET"]),
    refused("without anything", ["request"]),
    refused("an unknown flag", ["request", "GET", "/x", "--unknown"]),
    refused("a port that is no port", ["request", "--debug-port=x", "GET", "/x"]),
    // isOwn: pilot-agent's own other commands change the machine that they run on
    one("is not what ebb stands in for", ["proxy", "sidecar"], {
      isOwn: true,
      sees: { code: 64 },
      says: ["request or wait", '"proxy"'],
    }),
  ];
}

function waits(): readonly Case[] {
  const out = [{ rivals, by: "stdout", sees: { stdout: "(log)\n" } }] as const;
  const fine = { sees: { polls: [poll] }, differs: out };
  const late: Changed = {
    atLeastMs: 1000,
    sees: { code: 69, polls: [poll] },
    differs: [{ rivals, by: ["stdout", "wait-code"], sees: { code: 255, stdout: "(log)\n(error)\n" } }],
  };
  return [
    one("ready at once", ["wait"], { servers: probe(ready), ...fine }),
    one("ready after three polls", ["wait", "--periodMillis", "20"], {
      servers: probe(notReady, notReady, notReady, ready),
      ...fine,
    }),
    one("listens late", ["wait", "--periodMillis=20"], {
      servers: probe(ready).map((server) => ({ ...server, afterMs: 300 })),
      ...fine,
    }),
    one("the first poll hangs", ["wait", "--requestTimeoutMillis", "100", "--periodMillis", "20"], {
      servers: probe(hangs, ready),
      ...fine,
    }),
    one("never ready", ["wait", "--timeoutSeconds", "1"], {
      servers: probe(notReady),
      ...late,
    }),
    one("not there", ["wait", "--timeoutSeconds=1"], {
      atLeastMs: 1000,
      sees: { code: 69 },
      differs: [{ rivals, by: ["stdout", "wait-code"], sees: { code: 255, stdout: "(log)\n(error)\n" } }],
    }),
    one("--help", ["wait", "--help"], { hasOwnStdout: true, sees: { stdout: "(some)" } }),
    one("--log_output_level", ["wait", "--log_output_level", "all:debug"], { servers: probe(ready), ...fine }),
    one("--url", ["wait", "--url", "http://127.0.0.1:9000/ready", "--periodMillis=20"], {
      servers: [{ port: 9000, polls: [notReady, ready], ends: [] }],
      sees: { polls: ["9000 GET /ready"] },
      differs: out,
    }),
    one("status 204 is not ready", ["wait", "--timeoutSeconds=1"], {
      servers: probe(status(204)),
      says: ["HTTP 204, expected 200"],
      ...late,
    }),
    one("status 204, then 200", ["wait", "--periodMillis=20"], { servers: probe(status(204), ready), ...fine }),
    one("a state in the body says nothing", ["wait", "--url=http://127.0.0.1:9000/server_info", "--periodMillis=20"], {
      servers: [{ port: 9000, polls: [notLive], ends: [] }],
      sees: { polls: ["9000 GET /server_info"] },
      differs: out,
    }),
  ];
}

function waitFlags(): readonly Case[] {
  const bad = (flag: string) =>
    one(`${flag} is refused`, ["wait", flag], {
      servers: probe(ready),
      sees: { code: 64 },
      differs: [{ rivals, by: "request-code", sees: { code: 255, stdout: "(error)\n" } }],
    });
  return [
    ...["--timeoutSeconds=x", "--periodMillis=1s", "--requestTimeoutMillis=", "--unknown=1"].map(bad),
    one("--url=nonsense is refused", ["wait", "--url=nonsense", "--timeoutSeconds=1"], {
      sees: { code: 64 },
      differs: [{ rivals, by: ["stdout", "wait-code"], sees: { code: 255, stdout: "(log)\n(error)\n" } }],
    }),
  ];
}
