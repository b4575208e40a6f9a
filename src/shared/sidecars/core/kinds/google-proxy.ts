import { portOf, type Shown, type ShownContainer } from "./kind.ts";

/** A proxy of Google's databases: all of them have the same flags and variables. */
interface GoogleProxy {
  /** As users know it. */
  readonly name: string;
  /** The prefix of the variables that stand for its flags. */
  readonly prefix: string;
}

/**
 * Returns what a container's flags or variables set: the admin port; whether its quit is off, as it is unless
 * `--quitquitquit` is set; and `--min-sigterm-delay` (cloud-sql-proxy v2.27.0 cmd/root.go; alloydb-auth-proxy v1.17.1
 * cmd/root.go: flags win over variables, and both over a file).
 */
export function shownOfGoogleProxy(container: ShownContainer, { name, prefix }: GoogleProxy): Shown {
  const port = portOf(settingOf(container, "admin-port", `${prefix}ADMIN_PORT`));
  const delay = settingOf(container, "min-sigterm-delay", `${prefix}MIN_SIGTERM_DELAY`) ?? "0";
  const set = {
    ...(port !== undefined && { port }),
    ...(!/^0[a-z]*$/.test(delay) && { hasOwnDelay: true as const }),
  };
  const quits = settingOf(container, "quitquitquit", `${prefix}QUITQUITQUIT`);
  const hasFile = settingOf(container, "config-file", `${prefix}CONFIG_FILE`) !== undefined;
  const isOff = quits === undefined ? !hasFile : /^(0|f|false)$/i.test(quits);
  return isOff
    ? {
        ...set,
        problem: `the ${name} has a shutdown endpoint only with --quitquitquit; or ebb.dev/native: "true" makes it a native sidecar`,
      }
    : set;
}

/**
 * Returns the value of a flag, `true` if it has none; else that of the variable. Returns undefined if neither is set, and
 * an empty text if the value is elsewhere.
 */
function settingOf({ words, env }: ShownContainer, flag: string, variable: string): string | undefined {
  const at = words.findLastIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`));
  const word = words[at];
  if (word === undefined) return env.has(variable) ? (env.get(variable) ?? "") : undefined;
  if (word.includes("=")) return word.slice(word.indexOf("=") + 1);
  const next = words[at + 1];
  return next === undefined || next.startsWith("-") || flag === "quitquitquit" ? "true" : next;
}
