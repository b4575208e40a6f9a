import { formatChoice, foundByName, type SidecarChoice } from "./choice.ts";
import { shownSidecars } from "./detect.ts";
import type { OwnPod } from "./kinds/kind.ts";
import type { SidecarUrls } from "./own-probes.ts";
import { foundIn, planSidecars } from "./plan.ts";
import { isAt } from "./probe.ts";
import { isProxy, type SidecarName } from "./registry.ts";

/** Sidecars that will outlive the app, because `--sidecar` leaves them out. */
interface LeftOut {
  readonly names: readonly SidecarName[];
  /** What shows them, in words for the log. */
  readonly by: string;
  /** What to set. */
  readonly how: string;
}

/**
 * Returns the ordinary sidecars that an injector's variables or annotations show in this pod, that `--sidecar` does not
 * name, and that no other quit ends. A mesh's proxy beside another one that is named may be the same. Returns undefined if
 * there is none, or if `--sidecar` is `none`, or has `auto`.
 */
export function leftOut(choice: SidecarChoice, pod: OwnPod, urls: SidecarUrls): LeftOut | undefined {
  const { isAuto, named } = choice;
  if (isAuto || named.length === 0 || urls.quit.includes("none")) return undefined;
  const all = shownSidecars(pod);
  if (all.length === 0) return undefined; // as in most pods, of which each start asks
  const hasProxy = urls.admin !== undefined || named.some(({ name }) => isProxy(name));
  const isMeant = (name: SidecarName) => !(hasProxy && isProxy(name)) && !named.some((one) => one.name === name);
  const shown = all.filter(({ name }) => isMeant(name));
  const quits = planSidecars(foundByName(pod, named), urls).flatMap((one) => one.quits);
  const left = shown.filter(({ name }) => {
    const [own] = planSidecars(foundIn(pod, [name]), { admin: undefined, ready: [], quit: [] });
    const isEnded = ({ target: { address } }: (typeof quits)[number]) =>
      quits.some((quit) => isAt({ kind: "connect", address }, quit.target.address));
    return own?.isNative === false && !own.quits.every(isEnded);
  });
  if (left.length === 0) return undefined;
  const names = left.map(({ name }) => name);
  const together = formatChoice({ isAuto, named: [...named, ...left] });
  const others = formatChoice({ isAuto: true, named });
  return { names, by: left.map(({ by }) => by).join(", "), how: `set --sidecar ${together}, or --sidecar ${others}` };
}
