import type { Random } from "../../../random.ts";
import type { AnswerName } from "../answers.ts";
import type { PlannedServer } from "./planned.ts";

interface Words {
  readonly yes: AnswerName;
  readonly no: AnswerName;
  /** Other answers that mean yes. */
  readonly likeYes: readonly AnswerName[];
  /** Other answers that do not mean yes. */
  readonly likeNo: readonly AnswerName[];
}

/** The answers to readiness polls of /server_info. */
export const envoyWords: Words = {
  yes: "live",
  no: "initializing",
  likeYes: ["live, late", "live, chunked", "live, ends by closing", "live, large"],
  likeNo: [
    ...(["503", "404", "garbage", "closes", "resets", "empty", "not JSON", "draining"] as const),
    ...(["live, in small letters", "live, but 500", "half", "301", "302 away"] as const),
  ],
};

/** The answers to readiness polls of /ready. */
export const readyWords: Words = {
  yes: "ready",
  no: "not ready",
  likeYes: ["ready, late", "ready, 204", "live", "empty"],
  likeNo: ["404", "garbage", "closes", "resets", "half", "500", "301", "302 away"],
};

/** The answers for `pilot-agent wait`, which accepts 200 only. */
export const only200Words: Words = {
  ...readyWords,
  likeYes: ["ready, late", "live", "empty", "initializing"],
  likeNo: [...readyWords.likeNo, "ready, 204"],
};

export interface Readiness {
  /** The server's answers to polls, and when it listens; undefined if there is no server. */
  readonly server: Pick<PlannedServer, "polls" | "afterMs"> | undefined;
  /** Whether it becomes ready at all. */
  readonly isEver: boolean;
}

/** Plans how a server answers polls. */
export function planReadiness(random: Random, words: Words): Readiness {
  const { yes, no, likeYes, likeNo } = words;
  const ever = (polls: readonly AnswerName[], afterMs?: number): Readiness => ({
    server: afterMs === undefined ? { polls } : { polls, afterMs },
    isEver: true,
  });
  const never = (polls: readonly AnswerName[]): Readiness => ({ server: { polls }, isEver: false });
  const kind = random.weigh(
    [50, "at once"],
    [8, "late port"],
    [12, "not yet"],
    [8, "other yes"],
    [8, "trouble first"],
    [5, "never"],
    [5, "trouble"],
    [2, "hangs"],
    [2, "nobody"],
  );
  switch (kind) {
    case "late port":
      return ever([yes], random.int(100, 900));
    case "not yet":
      return ever([no, yes]);
    case "other yes":
      return ever([random.pick(likeYes)]);
    case "trouble first":
      return ever([random.pick(likeNo), yes]);
    case "never":
      return never([no]);
    case "trouble":
      return never([random.pick(likeNo)]);
    case "hangs":
      return random.chance(0.5) ? never(["hangs"]) : ever(["hangs", yes]);
    case "nobody":
      return { server: undefined, isEver: false };
    default:
      return ever([yes]);
  }
}

/** Plans how a server answers a quit; undefined if there is no server. */
export function planQuit(random: Random): readonly AnswerName[] | undefined {
  const kind = random.weigh(
    [52, "quits"],
    [24, "refuses"],
    [6, "later"],
    [5, "takes"],
    [3, "slow"],
    [3, "hangs"],
    [7, "nobody"],
  );
  switch (kind) {
    case "refuses":
      return [
        random.pick(["400", "403", "404", "405", "500", "301", "302 away", "garbage", "closes", "resets"] as const),
      ];
    case "later":
      return [random.pick(["503", "500", "closes", "resets"] as const), "quits"];
    case "takes":
      return [random.pick(["takes", "takes, 202"] as const)];
    case "slow":
      return ["quits, late"];
    case "hangs":
      return ["hangs"];
    case "nobody":
      return undefined;
    default:
      return ["quits"];
  }
}

/** Returns how a wait ends. */
export function waitOf({ isEver }: Readiness, hasLimit: boolean): "itself" | "stuck" | "limited" {
  if (isEver) return "itself";
  return hasLimit ? "limited" : "stuck";
}

/** Removes the variables whose value is undefined. */
export function setAll(entries: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}
