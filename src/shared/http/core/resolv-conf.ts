import { isIp } from "../../core/address.ts";

/** What /etc/resolv.conf says of how names are looked up (resolv.conf(5)), but for the servers. */
interface ResolvConf {
  /** The domains in which names are searched; "" is the root. */
  readonly search: readonly string[];
  /** A name with so many dots is first asked for as it is. */
  readonly ndots: number;
  /** The time for each attempt to ask one server. */
  readonly timeoutMs: number;
  readonly attempts: number;
}

/** Parses /etc/resolv.conf as glibc does (resolv/res_init.c): the last `search` or `domain` wins, of any length. */
export function parseResolvConf(text: string): ResolvConf {
  let search: readonly string[] = [];
  const options = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, keyword, rest = ""] = /^(search|domain|options)[ \t]+(\S.*)$/.exec(line) ?? [];
    const words = rest.split(/\s+/).filter((word) => word !== "");
    if (keyword === "search") search = words.map(withoutDots);
    if (keyword === "domain") search = words.slice(0, 1).map(withoutDots);
    if (keyword !== "options") continue;
    for (const [option = "", value = ""] of words.map((word) => word.split(":")))
      options.set(option, Number.parseInt(value, 10) || 0);
  }
  const option = (name: string, initially: number, most: number) => Math.min(options.get(name) ?? initially, most);
  return {
    search,
    ndots: option("ndots", 1, 15),
    timeoutMs: 1000 * Math.max(1, option("timeout", 5, 30)),
    attempts: Math.max(1, option("attempts", 2, 5)),
  };
}

function withoutDots(domain: string): string {
  return domain.replace(/^\.|\.$/g, "");
}

/**
 * Returns the whole names to ask for, without the dot at their end, in the order in which glibc asks for them
 * (resolv/res_query.c, __res_context_search).
 */
export function namesToAsk(name: string, { search, ndots }: Pick<ResolvConf, "search" | "ndots">): readonly string[] {
  if (name.endsWith(".")) return [name.slice(0, -1)];
  const searched = search.map((domain) => (domain === "" ? name : `${name}.${domain}`));
  const hasDots = name.split(".").length > ndots;
  return [...new Set(hasDots ? [name, ...searched] : [...searched, name])];
}

/** Returns the IP addresses that an /etc/hosts (hosts(5)) has for a name, which is in lower case. */
export function addressesInHosts(text: string, name: string): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const [ip = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return isIp(ip) && names.some((each) => each.toLowerCase() === name) ? [ip] : [];
  });
}
