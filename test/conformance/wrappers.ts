import { type Answer, live, initializing as notLive, notReady, quits, ready } from "./answers.ts";
import type { Case, Seen, Server } from "./case.ts";
import type { Rival, ToolName } from "./rivals.ts";

/** A tool that waits for a sidecar and runs a command, by what makes its cases different from those of the others. */
export interface Wrapper {
  readonly as: ToolName;
  /** The beginning of its cases' names, which tells them from those of the same tool in another mode. */
  readonly title: string;
  readonly rivals: readonly Rival[];
  /** The variables that it usually has. */
  readonly env: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  /** `PORT METHOD PATH` of its polls. */
  readonly poll: string;
  /** The answer that means ready. */
  readonly yes: Answer;
  /** The answer that means not ready. */
  readonly notYet: Answer;
  /** `PORT METHOD PATH` of its quit; undefined if it becomes the command. */
  readonly quit: string | undefined;
  /** Reports whether it quits after a command with that exit code. */
  readonly quitsAt: (code: number) => boolean;
  /** Returns the servers of its sidecar, with these answers in the place of the good ones. */
  readonly servers: (pod: {
    readonly polls?: readonly Answer[];
    readonly quit?: readonly Answer[];
  }) => readonly Server[];
}

const istioPorts = [15000, 15020, 15021];

/** Returns the servers of Istio's sidecar: Envoy's admin interface and pilot-agent. */
export const istio: Wrapper["servers"] = ({ polls = [live], quit = [quits] }) => [
  { port: 15000, polls, others: [], ends: istioPorts },
  ...(quit.length === 0 ? [] : [{ port: 15020, others: quit, ends: istioPorts }]),
];

/** Returns the servers of an Envoy, or a linkerd-proxy, which has one port for all. */
export function proxy(port: number, yes: Answer): Wrapper["servers"] {
  return ({ polls = [yes], quit = [quits] }) => [{ port, polls, others: quit }];
}

export const scuttle: Wrapper = {
  as: "scuttle",
  title: "scuttle",
  rivals: ["scuttle", "scuttle-redbox"],
  env: {
    ENVOY_ADMIN_API: "http://127.0.0.1:15000",
    ISTIO_QUIT_API: "http://127.0.0.1:15020",
    SCUTTLE_LOGGING: "false",
  },
  flags: [],
  poll: "15000 GET /server_info",
  yes: live,
  notYet: notLive,
  quit: "15020 POST /quitquitquit",
  quitsAt: () => true,
  servers: istio,
};

export const preflight: Wrapper = {
  as: "envoy-preflight",
  title: "envoy-preflight",
  rivals: ["envoy-preflight"],
  env: { ENVOY_ADMIN_API: "http://127.0.0.1:9901" },
  flags: [],
  poll: "9901 GET /server_info",
  yes: live,
  notYet: notLive,
  quit: "9901 POST /quitquitquit",
  quitsAt: (code) => code === 0,
  servers: proxy(9901, live),
};

const linkerd = {
  as: "linkerd-await",
  rivals: ["linkerd-await"],
  env: {},
  poll: "4191 GET /ready",
  yes: ready,
  notYet: notReady,
  servers: proxy(4191, ready),
} as const satisfies Partial<Wrapper>;

export const shutdown: Wrapper = {
  ...linkerd,
  title: "linkerd-await --shutdown",
  flags: ["--shutdown", "--"],
  quit: "4191 POST /shutdown",
  quitsAt: () => true,
};

export const await_: Wrapper = {
  ...linkerd,
  title: "linkerd-await",
  flags: ["--"],
  quit: undefined,
  quitsAt: () => false,
};

export const valet: Wrapper = {
  as: "valet",
  title: "valet",
  rivals: [],
  env: {},
  flags: [],
  poll: "15021 GET /healthz/ready",
  yes: ready,
  notYet: notReady,
  quit: undefined,
  quitsAt: () => false,
  servers: ({ polls = [ready] }) => [
    { port: 15021, polls, ends: istioPorts },
    { port: 15020, others: [quits], ends: istioPorts },
  ],
};

/** Returns what is seen if nothing special happens (ready, started, exit 0, quit), changed by `other`. */
function seenOf({ poll, quit, quitsAt }: Wrapper, other: Partial<Seen> = {}): Seen {
  const code = other.code ?? 0;
  const requests = quit !== undefined && typeof code === "number" && quitsAt(code) ? [quit] : [];
  return { code, started: "when ready", polls: [poll], requests, signals: [], agent: [], stdout: "", ...other };
}

type Changed = Omit<Partial<Case>, "expect" | "as" | "env"> & {
  readonly name: string;
  /** Variables besides the wrapper's own; one with undefined is not set. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What is seen that differs from `seenOf`. */
  readonly sees?: Partial<Seen>;
};

/** Returns a case of a wrapper. */
export function caseOf(wrapper: Wrapper, { name, sees = {}, env, ...changed }: Changed): Case {
  const variables = Object.entries({ ...wrapper.env, ...env }).filter(([, value]) => value !== undefined);
  return {
    as: wrapper.as,
    flags: wrapper.flags,
    servers: wrapper.servers({}),
    ...changed,
    name: `${wrapper.title}: ${name}`,
    env: Object.fromEntries(variables) as Record<string, string>,
    expect: seenOf(wrapper, sees),
  };
}
