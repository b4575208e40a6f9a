import { spawnSync } from "node:child_process";

/** The commit that is built, and when it was made. */
export type Source = {
  /** 40 hexadecimal digits; null if neither EBB_COMMIT nor git tells it. */
  readonly commit: string | null;
  /** Whether a file that the build reads differs from the commit. */
  readonly dirty: boolean;
  /** Seconds since 1970: SOURCE_DATE_EPOCH or else the commit's time; null if neither is known. */
  readonly epoch: number | null;
};

/** All that the build reads, as paths relative to the repository; .dockerignore has the same list. */
export const sourcePaths: readonly string[] = [
  "build",
  "src",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "LICENSE",
];

/**
 * Returns the commit of the tree at `project`: EBB_COMMIT (`COMMIT` or `COMMIT-dirty`) if it is set, as in an image's
 * build, which has no .git folder; otherwise what git says. @throws Error if EBB_COMMIT or SOURCE_DATE_EPOCH is
 * malformed
 */
export function sourceOf(project: string, env: Readonly<Record<string, string | undefined>> = process.env): Source {
  const told = env.EBB_COMMIT ?? "";
  const git = (...words: string[]): string => {
    const { status, stdout } = spawnSync("git", ["-C", project, ...words], { encoding: "utf8" });
    return status === 0 ? stdout.trim() : "";
  };
  const epoch = env.SOURCE_DATE_EPOCH || git("log", "-1", "--format=%ct");
  return { ...(told === "" ? commitIn(git) : readCommit(told)), epoch: readEpoch(epoch) };
}

function commitIn(git: (...words: string[]) => string): Pick<Source, "commit" | "dirty"> {
  const isRoot = git("rev-parse", "--git-dir") !== "" && git("rev-parse", "--show-prefix") === "";
  const commit = (isRoot && git("rev-parse", "--verify", "HEAD")) || null;
  return { commit, dirty: commit !== null && git("status", "--porcelain", "--", ...sourcePaths) !== "" };
}

function readCommit(told: string): Pick<Source, "commit" | "dirty"> {
  const [, commit, dirty] = /^([0-9a-f]{40})(-dirty)?$/.exec(told) ?? [];
  if (commit === undefined)
    throw new Error(`EBB_COMMIT: expected 40 hexadecimal digits, or those and -dirty, got "${told}"`);
  return { commit, dirty: dirty !== undefined };
}

function readEpoch(epoch: string): number | null {
  if (epoch === "") return null;
  if (/^\d{1,11}$/.test(epoch)) return Number(epoch);
  throw new Error(`SOURCE_DATE_EPOCH: expected seconds since 1970, got "${epoch}"`);
}
