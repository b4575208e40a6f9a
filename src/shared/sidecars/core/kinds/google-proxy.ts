import { listenersOf } from "./google-listeners.ts";
import { settingOf } from "./google-settings.ts";
import { portOf, type Shown, type ShownContainer } from "./kind.ts";

/** A proxy of Google's databases: all of them have the same flags and variables. */
interface GoogleProxy {
  /** As users know it. */
  readonly name: string;
  /** The prefix of the variables that stand for its flags. */
  readonly prefix: string;
}

/**
 * Returns what a container's flags or variables set: where it listens; the admin port; whether its quit is off, as it is unless
 * `--quitquitquit` is set; and `--min-sigterm-delay` (cloud-sql-proxy v2.27.0 cmd/root.go; alloydb-auth-proxy v1.17.1
 * cmd/root.go: flags win over variables, and both over a file).
 */
export function shownOfGoogleProxy(container: ShownContainer, { name, prefix }: GoogleProxy): Shown {
  const set = (flag: string, variable: string) => settingOf(container, { flag, variable: `${prefix}${variable}` });
  const port = portOf(set("admin-port", "ADMIN_PORT"));
  const delay = set("min-sigterm-delay", "MIN_SIGTERM_DELAY") ?? "0";
  const listeners = listenersOf(container, prefix);
  const shown = {
    ...(listeners !== undefined && { listeners }),
    ...(port !== undefined && { port }),
    ...(!/^0[a-z]*$/.test(delay) && { hasOwnDelay: true as const }),
  };
  const quits = set("quitquitquit", "QUITQUITQUIT");
  const hasFile = set("config-file", "CONFIG_FILE") !== undefined;
  const isOff = quits === undefined ? !hasFile : /^(0|f|false)$/i.test(quits);
  return isOff
    ? {
        ...shown,
        problem: `the ${name} has a shutdown endpoint only with --quitquitquit; or ebb.dev/native: "true" makes it a native sidecar`,
      }
    : shown;
}
