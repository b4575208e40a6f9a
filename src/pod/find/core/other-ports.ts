/** The ports that listen in the pod's own network where no sidecar was found, and what to do about them. */
interface OtherPorts {
  /** In ascending order. Without the app's and those that `auto` knows. */
  readonly ports: readonly number[];
  /** Those of `ports` that no other pod reaches: they listen on loopback addresses alone. */
  readonly onLoopback: readonly number[];
  /** What to set. */
  readonly how: string;
  /** Whether one may well be a sidecar's: it is on loopback, and the app's ports, which may be so too, are not known. */
  readonly isSuspicious: boolean;
}

/** Loopback addresses as /proc/net/tcp and tcp6 write them: 127.0.0.0/8, ::1, and 127.0.0.0/8 mapped into IPv6. */
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F)$/;

/**
 * Returns which ports listen besides those of `isKnown` and `appPorts`, according to the lines of /proc/net/tcp and
 * tcp6; undefined if there are none.
 */
export function otherPorts(
  table: string,
  isKnown: (port: number) => boolean,
  appPorts: readonly number[],
): OtherPorts | undefined {
  const reachable = new Map<number, boolean>();
  for (const [, address = "", digits = ""] of table.matchAll(/^ *\d+: +([0-9A-F]+):([0-9A-F]{4}) +\S+ +0A /gm)) {
    const port = Number.parseInt(digits, 16);
    if (isKnown(port) || appPorts.includes(port)) continue;
    reachable.set(port, reachable.get(port) === true || !LOOPBACK.test(address));
  }
  const ports = [...reachable.keys()].toSorted((a, b) => a - b);
  if (ports.length === 0) return undefined;
  const onLoopback = ports.filter((port) => reachable.get(port) !== true);
  const [port, ...more] = onLoopback.length > 0 ? onLoopback : ports;
  const how = howTo(more.length === 0 ? `${port}` : "PORT");
  return { ports, onLoopback, how, isSuspicious: onLoopback.length > 0 && appPorts.length === 0 };
}

function howTo(port: string): string {
  return `if one of them is an Envoy's admin interface, set --admin http://localhost:${port}; if it is the app's, set --app-port ${port}; if there is no sidecar, set --sidecar none`;
}
