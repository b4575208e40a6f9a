import { expect, test } from "bun:test";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { watchCertificates } from "../../../../src/cluster/certificates/certificates.ts";
import type { KeyPair } from "../../../../src/cluster/certificates/held.ts";
import { issueAuthority, issueServing } from "../../../../src/cluster/certificates/issue.ts";
import { temporaryFolder, until } from "../../../harness/ebb.ts";
import { collectLog } from "../collect-log.ts";

const life = { fromMs: Date.now() - 60_000, untilMs: Math.floor(Date.now() / 1000) * 1000 + 3_600_000 };
const authority = issueAuthority(life);
const [first, second] = [issueServing(["a"], life, authority), issueServing(["a"], life, authority)];

/** What the files hold over time, as `ebb webhook` sees it. */
function watch(folder: string) {
  const stop = new AbortController();
  const log = collectLog();
  const seen: string[] = [];
  const problems: (string | undefined)[] = [];
  const paths = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  const watching = (async () => {
    for await (const news of watchCertificates({ kind: "files", ...paths }, { log, signal: stop.signal })) {
      if ("problem" in news) {
        problems.push(news.problem);
        continue;
      }
      expect(news.expiresAt).toBe(life.untilMs);
      seen.push(news.cert);
    }
  })();
  const end = async () => {
    stop.abort();
    await watching;
  };
  return { seen, problems, log, [Symbol.asyncDispose]: end };
}

/** A Secret's volume as the kubelet makes it: files are links into ..data, which is a link to a folder of this version. */
function publish(folder: string, version: string, { cert, key }: KeyPair): void {
  mkdirSync(join(folder, version));
  writeFileSync(join(folder, version, "tls.crt"), cert);
  writeFileSync(join(folder, version, "tls.key"), key);
  symlinkSync(version, join(folder, "..data_tmp"));
  renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
}

test("a mounted Secret: the pair that is there, and each that takes its place", async () => {
  using folder = temporaryFolder();
  publish(folder.path, "..1", first);
  for (const name of ["tls.crt", "tls.key"]) symlinkSync(join("..data", name), join(folder.path, name));
  await using watched = watch(folder.path);
  await until("the first", () => watched.seen.length === 1, 30_000);
  publish(folder.path, "..2", second);
  await until("the second", () => watched.seen.length === 2, 30_000);
  expect(watched.seen).toEqual([first.cert, second.cert]);
  expect(watched.log.lines).toEqual([]);
});

test("files that are not there, are no pair, or no certificate are waited out; each trouble is told once", async () => {
  using folder = temporaryFolder();
  await using watched = watch(folder.path);
  const write = (cert: string, key: string): void => {
    writeFileSync(join(folder.path, "tls.crt"), cert);
    writeFileSync(join(folder.path, "tls.key"), key);
  };
  const { lines } = watched.log;
  await until("nothing there", () => lines.length === 1, 30_000);
  write(first.cert, second.key);
  await until("no pair", () => lines.length === 2, 30_000);
  expect(watched.seen).toEqual([]);
  write(first.cert + authority.cert, first.key);
  await until("the pair", () => watched.seen.length === 1, 30_000);
  write("nonsense", "nonsense");
  await until("nonsense", () => lines.length === 3, 30_000);
  write(second.cert, second.key);
  await until("another pair", () => watched.seen.length === 2, 30_000);
  expect(watched.seen).toEqual([first.cert + authority.cert, second.cert]);
  const reasons = lines.map(({ fields }) => String(fields.reason).replaceAll(folder.path, ""));
  expect(watched.problems).toEqual(lines.map(({ fields }) => String(fields.reason)));
  expect(reasons).toEqual([
    "/tls.crt: no such file or directory",
    "/tls.crt is not a PEM certificate, or does not belong to the key in /tls.key",
    "/tls.crt is not a PEM certificate, or does not belong to the key in /tls.key",
  ]);
});
