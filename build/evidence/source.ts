import { spawnSync } from "node:child_process";

/** What is built: the commit of the tree, and when that was made. */
export type Source = {
  /** 40 hexadecimal digits; null where neither git nor EBB_COMMIT tells. */
  readonly commit: string | null;
  /** Whether what the build reads differs from the commit. */
  readonly dirty: boolean;
  /** Seconds since 1970: SOURCE_DATE_EPOCH, else when the commit was made; null where nothing tells. */
  readonly epoch: number | null;
};

/** All that the build reads; .dockerignore has the same list. */
export const inputs: readonly string[] = [
  "build",
  "src",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "LICENSE",
];

/** EBB_COMMIT (`COMMIT` or `COMMIT-dirty`) is for where the tree comes without git's folder, as into an image's build. */
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
  return { commit, dirty: commit !== null && git("status", "--porcelain", "--", ...inputs) !== "" };
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
