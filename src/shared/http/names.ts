import { readIfThere } from "../io/file.ts";
import { addressesInHosts, namesToAsk, parseResolvConf } from "./core/resolv-conf.ts";
import { NO_HOST, RequestFailed, UNRESOLVED } from "./request-failed.ts";

// The app mostly has glibc, and the system's look-up is musl's here, which finds less (1.2.3, network/lookup_name.c,
// res_msend.c, resolvconf.c). An AAAA that fails or does not exist hides the A. A search domain that fails, or in which the
// name has no address, hides those after it; so does `.`. It ignores more than 255 characters of domains, and all of them
// for a name with `ndots` dots. Of a truncated answer it takes what is there.

/** For so long, in ms, only the system is asked. If a server says that it fails, the system takes 5 s. */
const HEAD_START_MS = 250;

/**
 * Creates a function that looks a name up each time that it is called, and resolves with its IP addresses. It asks the
 * system as long as this finds any at once, and from then on does as glibc. Rejects with RequestFailed if there are none.
 */
export function createLookUp(name: string): () => Promise<readonly string[]> {
  let isBySystem = true;
  return async () => {
    if (!isBySystem) return await lookUpAsGlibc(name);
    const system = lookUpBySystem(name);
    const first = await Promise.race([system.catch(() => undefined), Bun.sleep(HEAD_START_MS)]);
    if (first !== undefined) return first;
    isBySystem = false;
    const other = lookUpAsGlibc(name);
    return await Promise.race([other, system.catch(() => other)]);
  };
}

async function lookUpBySystem(name: string): Promise<readonly string[]> {
  const found = await Bun.dns.lookup(name, { backend: "libc" });
  return found.map(({ address }) => address);
}

/** Codes of an answer after which glibc asks for the name in the next domain. */
const goesOn = ["ENOTFOUND", "ENODATA", "ESERVFAIL"];
/** Codes of an answer that there is no such name, or that it cannot be one. */
const isNone = ["ENOTFOUND", "ENODATA", "EBADNAME"];

/**
 * Looks a name up in /etc/hosts, and then asks the servers of /etc/resolv.conf by c-ares, which asks by TCP if an answer
 * is truncated. c-ares would search the domains itself, but stops at one that fails.
 */
async function lookUpAsGlibc(name: string): Promise<readonly string[]> {
  const local = addressesInHosts(readIfThere("/etc/hosts") ?? "", name);
  if (local.length > 0) return local;
  const conf = parseResolvConf(readIfThere("/etc/resolv.conf") ?? "");
  const { Resolver } = await import("node:dns/promises"); // 2 ms and 2 MB
  // for as long as glibc, but a lost packet is sent again as early as by musl
  const resolver = new Resolver({ timeout: conf.timeoutMs / 2, tries: 2 * conf.attempts });
  const asItIs = name.replace(/\.$/, "");
  let isSearchOver = false;
  let reason: string = NO_HOST;
  for (const candidate of namesToAsk(name, conf)) {
    if (isSearchOver && candidate !== asItIs) continue;
    const answers = await Promise.allSettled([resolver.resolve4(`${candidate}.`), resolver.resolve6(`${candidate}.`)]);
    const ips = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (ips.length > 0) return ips;
    const codes = answers.map((answer) => (answer.status === "rejected" ? answer.reason.code : undefined));
    if (!codes.some((code) => isNone.includes(code))) reason = UNRESOLVED;
    if (candidate !== asItIs && !codes.some((code) => goesOn.includes(code))) isSearchOver = true;
  }
  throw new RequestFailed("unreachable", reason);
}
