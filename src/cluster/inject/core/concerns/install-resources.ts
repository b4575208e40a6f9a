import { parseQuantity } from "../../../core/quantity.ts";
import type { Amounts, Container, Pod } from "../pod.ts";

const MiB = 2 ** 20;

/** What the copying needs of a resource, in thousandths of a core or in bytes. */
interface Need {
  readonly name: "cpu" | "memory" | "ephemeral-storage";
  readonly request: number;
  /** How much is enough. */
  readonly limit: number;
  /** How much it cannot do without. */
  readonly least: number;
}

/**
 * Measured (bench install): a copy takes 100 MB on the disk, less than 16 MiB of memory, and with a whole processor a
 * fraction of a second. With 128 MiB it stays in the page cache, from where the app is started next; with less that has
 * to read it from the disk.
 */
const needs: readonly Need[] = [
  { name: "cpu", request: 100, limit: 1000, least: 1 },
  { name: "memory", request: 16 * MiB, limit: 128 * MiB, least: 16 * MiB },
  { name: "ephemeral-storage", request: 128 * MiB, limit: 128 * MiB, least: 128 * MiB },
];

/**
 * Returns the requests and limits of the init container: those that all containers of the pod set, as quotas demand;
 * undefined if there are none. It requests at most their sum: init containers run before them, so the scheduler counts
 * the larger. The pod's QoS class stays.
 */
export function resourcesFor(spec: Pod["spec"]): Container["resources"] | undefined {
  if (spec.resources?.requests != null || spec.resources?.limits != null) return undefined; // the pod's own count then
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  for (const need of needs) {
    const { request, limit } = amountsFor(need, spec);
    if (request !== undefined) requests[need.name] = formatAmount(need, request);
    if (limit !== undefined) limits[need.name] = formatAmount(need, limit);
  }
  const set = Object.entries({ requests, limits }).filter(([, amounts]) => Object.keys(amounts).length > 0);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

function amountsFor(need: Need, spec: Pod["spec"]): { readonly request?: number; readonly limit?: number } {
  const { name, least } = need;
  const limits = amountsOf(need, spec, ({ limits }) => limits?.[name]);
  const requests = amountsOf(need, spec, ({ requests, limits }) => requests?.[name] ?? limits?.[name]);
  if (requests === undefined) return {};
  const sum = sumOf(requests);
  if (limits === undefined) return { request: Math.min(need.request, sum) };
  // as long as the copy is there it is the pod's, beside what the containers may take
  if (name === "ephemeral-storage") return { request: Math.min(need.request, sum), limit: sumOf(limits) + need.limit };
  // a LimitRange whose `max` admits the largest admits as much again
  const most = Math.max(least, Math.min(need.limit, Math.max(...limits)));
  const ratio = ratioOf(limits, requests);
  const wanted = Math.min(Math.max(need.request, atLeast(most / ratio)), sum, most);
  const limit = Math.max(least, Math.min(most, Math.floor(Math.max(1, wanted) * ratio + ROUNDING)));
  return { request: Math.max(wanted, atLeast(limit / ratio)), limit };
}

/** Returns the least ratio of limit to request in a container: what admits all of them admits it. */
function ratioOf(limits: readonly number[], requests: readonly number[]): number {
  const ratios = limits.map((limit, at) => limit / (requests[at] as number)).filter((one) => one >= 1);
  return Math.min(Number.MAX_SAFE_INTEGER, ...ratios);
}

type Resources = { readonly requests?: Amounts; readonly limits?: Amounts };

/** Returns an amount of each container; undefined if one of them does not set it. */
function amountsOf(
  { name }: Need,
  { containers }: Pod["spec"],
  amountOf: (of: Resources) => unknown,
): readonly number[] | undefined {
  const amounts = containers.flatMap(({ resources }) => parseQuantity(amountOf(resources ?? {})) ?? []);
  // Kubernetes rounds up to thousandths, too
  return amounts.length < containers.length
    ? undefined
    : amounts.map((amount) => atLeast(name === "cpu" ? amount * 1000 : amount));
}

/** More than what floating point makes of a whole number. */
const ROUNDING = 1e-6;

function atLeast(amount: number): number {
  return Math.ceil(amount - ROUNDING);
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

function formatAmount({ name }: Need, amount: number): string {
  if (name === "cpu") return amount % 1000 === 0 ? String(amount / 1000) : `${amount}m`;
  return amount % MiB === 0 ? `${amount / MiB}Mi` : String(amount);
}
