import type { HttpTarget } from "./address.ts";
import type { Environment } from "./option.ts";
import {
  type Annotations,
  type FoundSidecar,
  type SidecarKind,
  type SidecarName,
  sidecarKinds,
  sidecarNames,
} from "./sidecar.ts";

export interface Evidence {
  /** Variables of scuttle and envoy-preflight name a sidecar. */
  readonly env: Environment;
  /** Where the user says that an admin interface is: Envoy's, then. */
  readonly admin: HttpTarget | undefined;
  readonly annotations: Annotations;
  /** TCP ports that listen in this pod. */
  readonly listening: ReadonlySet<number>;
}

export interface Detection {
  readonly found: readonly FoundSidecar[];
  /** What told, for the log; undefined when nothing was found. */
  readonly by: string | undefined;
}

/** Which sidecars are in this pod: by variables that name one, else by the injectors' annotations, else by listening ports. */
export function detect({ env, admin, annotations, listening }: Evidence): Detection {
  const named = byUser(env, admin);
  if (named !== undefined) return { found: withNative([named.name], annotations), by: named.by };
  const annotated = sidecarNames.filter((name) => annotations.has(kindOf(name).annotation ?? ""));
  if (annotated.length > 0) {
    const by = `annotation ${annotated.map((name) => kindOf(name).annotation).join(", ")}`;
    return { found: withNative(annotated, annotations), by };
  }
  const heard = sidecarNames.flatMap((name) => {
    const port = kindOf(name).ports.find((port) => listening.has(port));
    return port === undefined ? [] : [{ name, port }];
  });
  if (heard.length === 0) return { found: [], by: undefined };
  const found = withNative(
    heard.map(({ name }) => name),
    annotations,
  );
  return { found, by: `port ${heard.map(({ port }) => port).join(", ")}` };
}

/** Whether each is a native sidecar, which only the annotations tell. */
export function withNative(names: readonly SidecarName[], annotations: Annotations): readonly FoundSidecar[] {
  const found: FoundSidecar[] = [];
  for (const name of names) found.push({ name, isNative: kindOf(name).isNative(annotations) });
  return found;
}

/** pilot-agent's quit port, or Istio's admin port, mean Istio; another admin interface means a plain Envoy. */
function byUser(
  env: Environment,
  admin: HttpTarget | undefined,
): { readonly name: SidecarName; readonly by: string } | undefined {
  const isSet = (name: string) => (env[name] ?? "") !== "";
  if (isSet("ISTIO_QUIT_API")) return { name: "istio", by: "ISTIO_QUIT_API" };
  if (admin !== undefined) {
    const isIstio = admin.address.kind === "tcp" && admin.address.port === ISTIO_ADMIN_PORT;
    return {
      name: isIstio ? "istio" : "envoy",
      by: isSet("ENVOY_ADMIN_API") ? "ENVOY_ADMIN_API" : "--admin",
    };
  }
  return isSet("ENVOY_KILL_API") ? { name: "envoy", by: "ENVOY_KILL_API" } : undefined;
}

const ISTIO_ADMIN_PORT = 15000;

function kindOf(name: SidecarName): SidecarKind {
  return sidecarKinds[name];
}

/** Reads a downward-API annotations file: one `key="value"` a line, the value quoted as Go's %q does. */
export function parseAnnotations(text: string): Annotations {
  const lines = text.split("\n").map((line) => /^([^=]+)="(.*)"$/.exec(line));
  return new Map(lines.flatMap((match) => (match === null ? [] : [[match[1] as string, unquote(match[2] as string)]])));
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
};

function unquote(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/g, (_, hex, short, long, plain) => {
    const code = hex ?? short ?? long;
    if (code === undefined) return escapes[plain] ?? plain;
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? "\ufffd" : String.fromCodePoint(point);
  });
}

/** The ports in LISTEN state of a /proc/net/tcp or tcp6 table (kernel: Documentation/networking/proc_net_tcp.rst). */
export function listeningPorts(table: string): readonly number[] {
  return [...table.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A /gm)].map((row) =>
    Number.parseInt(row[1] as string, 16),
  );
}
