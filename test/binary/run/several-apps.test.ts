import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, statSync } from "node:fs";
import { canUnshare, type Ended, ebb, inParallel, lineOf, until } from "../../harness/ebb.ts";
import { randomOf } from "../../harness/random.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { keptBecause, podOf } from "./app-containers.ts";

setDefaultTimeout(60_000);

const UNKNOWN = "cannot tell which app container is the last: keeping the sidecars";
const quit = ["POST /quitquitquit"];
const names = ["a", "b", "c"];
const orders = names.flatMap((one) => names.filter((two) => two !== one).map((two) => [one, two] as const));

describe.skipIf(!canUnshare("--mount", "--pid", "--fork"))("several app containers (which needs namespaces)", () => {
  test.each(orders)(
    "the last of three quits the sidecar, in whichever order they end: %s, %s, then the third",
    async (first, second) => {
      await using sidecar = await fakeSidecar();
      using pod = podOf(sidecar, names);
      await using a = await pod.start("a");
      await using b = await pod.start("b");
      await using c = await pod.start("c");
      const all = { a, b, c };
      const third = names.find((name) => name !== first && name !== second) as "a";
      const one = await all[first as "a"].end(0);
      expect([one.code, keptBecause(one)]).toEqual([
        0,
        `--last-of: ${names
          .filter((name) => name !== first)
          .map((name) => `${name} runs`)
          .join(", ")}`,
      ]);
      const two = await all[second as "a"].end(3);
      expect([two.code, keptBecause(two)]).toEqual([3, `--last-of: ${third} runs`]);
      expect(sidecar.requests).toEqual([]);
      const three = await all[third].end(0);
      expect([three.code, keptBecause(three), sidecar.requests]).toEqual([0, undefined, quit]);
    },
  );

  test("one that has not started is waited for, and its record is readable to other users whatever the umask is", async () => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, ["a", "b"]);
    await using a = await pod.start("a", { before: "umask 077" });
    expect(statSync(pod.recordOf("a")).mode & 0o777).toBe(0o644);
    expect(keptBecause(await a.end(0))).toBe("--last-of: b has not started");
    await using b = await pod.start("b");
    expect([(await b.end(0)).code, sidecar.requests]).toEqual([0, quit]);
  });

  test.each(names)("a crash of %s for good, under restartPolicy Never, keeps nothing", async (victim) => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, names);
    const flags = ["--restart-policy", "Never"];
    await using a = await pod.start("a", { flags });
    await using b = await pod.start("b", { flags });
    await using c = await pod.start("c", { flags });
    const all = { a, b, c };
    await all[victim as "a"].crash();
    const [one = "a", two = "a"] = names.filter((name) => name !== victim) as "a"[];
    expect(keptBecause(await all[one].end(1))).toBe(`--last-of: ${two} runs`);
    expect(keptBecause(await all[two].end(1))).toBeUndefined();
    expect(sidecar.requests).toEqual(quit);
  });

  test.each(names)("a crash of %s under OnFailure keeps the sidecar until it has run again", async (victim) => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, names);
    const flags = ["--restart-policy", "OnFailure"];
    await using a = await pod.start("a", { flags });
    await using b = await pod.start("b", { flags });
    await using c = await pod.start("c", { flags });
    const all = { a, b, c };
    await all[victim as "a"].crash();
    const rest = names.filter((name) => name !== victim) as "a"[];
    await all[rest[0] as "a"].end(0);
    expect(keptBecause(await all[rest[1] as "a"].end(0))).toBe(`--last-of: the kubelet restarts ${victim}`);
    await using again = await pod.start(victim, { flags });
    expect(keptBecause(await again.end(0))).toBeUndefined();
    expect(sidecar.requests).toEqual(quit);
  });

  test("the restart rules of a container count: after such an exit code it comes back", async () => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, ["a", "b"]);
    await using a = await pod.start("a", { flags: ["--restart-policy", "Never", "--restart-codes", "42"] });
    await using b = await pod.start("b");
    expect(keptBecause(await a.end(42))).toStartWith("--restart-codes, exit code 42: the kubelet restarts");
    expect(keptBecause(await b.end(0))).toBe("--last-of: the kubelet restarts a");
    expect(sidecar.requests).toEqual([]);
  });

  test("--quit-on of the last one decides", async () => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, ["a", "b"]);
    await using a = await pod.start("a", { flags: ["--quit-on", "never"] });
    await using b = await pod.start("b", { flags: ["--quit-on", "success"] });
    expect(keptBecause(await a.end(0))).toBe("--quit-on never");
    expect([keptBecause(await b.end(0)), sidecar.requests]).toEqual([undefined, quit]);
  });

  test("when the last two end at once, one of them quits the sidecar, 20 times", async () => {
    const random = randomOf(1);
    const rounds = Array.from({ length: 20 }, () => random.int(0, 2));
    const quits = await inParallel(rounds, async (early) => {
      await using sidecar = await fakeSidecar();
      using pod = podOf(sidecar, names);
      const ends = `${pod.volume}/end`;
      await using a = await pod.start("a", { ends });
      await using b = await pod.start("b", { ends });
      await using c = await pod.start("c", early === 0 ? { ends } : {});
      if (early === 1) await c.end(0);
      if (early === 2) await c.crash();
      const all = await Promise.all([a, b, ...(early === 0 ? [c] : [])].map((each) => each.end(0)));
      expect(all.filter((ended) => keptBecause(ended) === undefined).length).toBeGreaterThan(0);
      expect(all.flatMap(({ log }) => log.filter(({ level }) => level === "warn"))).toEqual([]);
      return sidecar.requests.length;
    });
    expect(quits).toEqual(rounds.map(() => 1));
  });

  test("one that starts while the sidecar is told to quit waits until it is gone, and then until it is ready", async () => {
    await using sidecar = await fakeSidecar({ onQuit: () => undefined });
    using pod = podOf(sidecar, ["a", "b"]);
    await using a = await pod.start("a", { flags: ["--quit-timeout", "60s"] });
    await using b = await pod.start("b");
    expect((await b.end(0)).code).toBe(0);
    const last = a.end(0);
    await until("the sidecar is told to quit", () => sidecar.requests.length > 0);
    await using again = pod.begin("b", { flags: ["--quit-timeout", "60s"], ends: `${pod.volume}/again` });
    await until("it waits", () => again.ebb.stderr().includes("asked the sidecars to exit"));
    process.kill(a.pid(), "SIGSTOP"); // it holds the lock of the folder
    expect(again.ebb.stdout()).toBe("");
    sidecar.isReady = false;
    await until("it waits until ready", () => again.ebb.stderr().includes("waiting until ready"));
    sidecar.isReady = true;
    await until("the app runs", () => again.ebb.stdout() === "runs\n");
    const ended = await again.end(0);
    expect(keptBecause(ended)).toBe("--last-of: a shuts down the sidecars");
    expect(ended.log.filter(({ level }) => level === "warn")).toEqual([]);
    await a.crash();
    await last.catch(() => undefined);
  });
});

describe.skipIf(!canUnshare("--mount", "--pid", "--fork"))("a hostile container", () => {
  /** Runs `a` to its end beside a `b` that has done `spoil` in its own folder; resolves with why the sidecar was kept. */
  async function beside(spoil: string): Promise<Ended> {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, ["a", "b"]);
    const { exitCode } = Bun.spawnSync(["sh", "-c", spoil], { cwd: `${pod.volume}/b` });
    expect(exitCode).toBe(0);
    await using a = await pod.start("a");
    const ended = await a.end(0);
    expect(sidecar.requests).toEqual([]);
    return ended;
  }

  test.each([
    ["garbage", "head -c 64 /dev/urandom > state"],
    ["a huge file", "truncate -s 1T state"],
    ["an empty file", ": > state"],
    ["a pipe", "mkfifo state"],
    ["a folder", "mkdir state"],
    ["a link to another record", "ln -s ../a/state state"],
    ["a link to a device", "ln -s /dev/zero state"],
    ["a file that others may not read", ": > state; chmod 600 state"],
  ])("whose record is %s counts as running", async (_, spoil) => {
    expect(keptBecause(await beside(spoil))).toBe("--last-of: b has no readable record");
  });

  test("cannot write the record of another one, nor remove it", async () => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, ["a", "b"]);
    await using a = await pod.start("a");
    const before = readFileSync(pod.recordOf("a"), "utf8");
    const spoil =
      "rm -f /mnt/ebb.dev-apps/a/state; echo > /mnt/ebb.dev-apps/a/state; mv /mnt/ebb.dev-apps/a /mnt/ebb.dev-apps/c";
    await using b = await pod.start("b", { flags: [], user: 0, lastOf: "b,a" });
    const inside = ["nsenter", "--target", `${b.ebb.pid}`, "--mount", "sh", "-c", spoil];
    expect(Bun.spawnSync(inside).stderr.toString()).toContain("Read-only file system");
    expect(readFileSync(pod.recordOf("a"), "utf8")).toBe(before);
    await b.end(0);
    expect([keptBecause(await a.end(0)), sidecar.requests]).toEqual([undefined, quit]);
  });

  test("that holds the lock of the folder keeps the sidecar, and holds up each of the others", async () => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, ["a", "b"]);
    await using holder = lock(pod.volume);
    await holder.isHeld;
    const began = performance.now();
    await using a = await pod.start("a");
    const ended = await a.end(0);
    expect(keptBecause(ended)).toBe("--last-of: /ebb.dev-apps: another process holds the lock");
    expect(lineOf(ended, UNKNOWN).reason).toBe("/ebb.dev-apps: another process holds the lock");
    expect(performance.now() - began).toBeGreaterThan(12_000);
    expect(ended.code).toBe(0);
  });

  test("that holds the lock of another record keeps the sidecar, and the app runs", async () => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, ["a", "b"]);
    await Bun.write(pod.recordOf("a"), "");
    await using holder = lock(pod.recordOf("a"));
    await holder.isHeld;
    await using a = await pod.start("a", { user: 0 });
    const ended = await a.end(4);
    expect(lineOf(ended, UNKNOWN).reason).toBe("/ebb.dev-own/state: another process holds the lock");
    expect([ended.code, keptBecause(ended)]).toEqual([
      4,
      "--last-of: /ebb.dev-own/state: another process holds the lock",
    ]);
  });
});

/** Holds the lock of a file or folder, as any process of the pod can: it opens it to read. */
function lock(path: string): AsyncDisposable & { readonly isHeld: Promise<unknown> } {
  const script = 'exec 9<"$0"; flock --exclusive 9; echo held; exec sleep 600';
  const holder = Bun.spawn(["sh", "-c", script, path], { stdout: "pipe" });
  return {
    isHeld: holder.stdout.getReader().read(),
    async [Symbol.asyncDispose]() {
      holder.kill("SIGKILL");
      await holder.exited;
    },
  };
}

describe.skipIf(!canUnshare("--mount", "--pid", "--fork"))(
  "a volume that is of no use: the app runs, and the sidecar is kept",
  () => {
    const full = `mount -t tmpfs -o size=8k,mode=777 full "$0"; mkdir -m 777 "$0/$NAME"; head -c 9999 /dev/zero > "$0/fill"`;
    test.each([
      ["missing", { mounts: false }, "/ebb.dev-own/state: no such file or directory"],
      ["full", { before: full }, "/ebb.dev-own/state: no space left on device"],
      [
        "without files left",
        { before: 'mount -t tmpfs -o nr_inodes=2,mode=777 full "$0"; mkdir -m 777 "$0/$NAME"' },
        "/ebb.dev-own/state: no space left on device",
      ],
      [
        "read-only",
        { before: 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"' },
        "/ebb.dev-own/state: read-only file system",
      ],
      ["another user's", { before: 'chmod 700 "$0/$NAME"' }, "/ebb.dev-own/state: permission denied"],
      [
        "another one",
        { before: "mkdir -p /mnt/other; mount -t tmpfs other /mnt/other", lastOf: "b,a" },
        "/ebb.dev-apps/b/state is not /ebb.dev-own/state: is b this container?",
      ],
    ])("%s", async (_, options, reason) => {
      await using sidecar = await fakeSidecar();
      using pod = podOf(sidecar, ["a", "b"]);
      await using a = await pod.start("a", options);
      const ended = await a.end(5);
      expect([ended.code, lineOf(ended, UNKNOWN).reason, keptBecause(ended)]).toEqual([
        5,
        reason,
        `--last-of: ${reason}`,
      ]);
      expect(ended.log.filter(({ level }) => level === "warn")).toHaveLength(1);
      expect(sidecar.requests).toEqual([]);
    });

    test("a volume that is full at the end changes nothing: a record is written in place", async () => {
      await using sidecar = await fakeSidecar();
      using pod = podOf(sidecar, ["a"]);
      const before = `mount -t tmpfs -o size=8k,mode=777 full "$0"; mkdir -m 777 "$0/$NAME"`;
      await using a = await pod.start("a", { before, lastOf: "a,b" });
      const fill = [
        "nsenter",
        "--target",
        `${a.ebb.pid}`,
        "--mount",
        "sh",
        "-c",
        "head -c 99999 /dev/zero > /mnt/ebb.dev-own/fill",
      ];
      expect(Bun.spawnSync(fill).stderr.toString()).toContain("No space left on device");
      expect(keptBecause(await a.end(0))).toBe("--last-of: b has not started"); // and not that it cannot write its own
    });
  },
);

test.each(["a", "a,../b", "a,b/c", "..", "/"])("--last-of %s is refused", async (names) => {
  const { code, stderr } = await ebb(["run", "--last-of", names, "--", "true"]);
  expect(stderr).toContain(
    "--last-of: expected the names of two or more containers, this one first, such as app,worker",
  );
  expect(code).toBe(64);
});

test.skipIf(!canUnshare("--mount", "--pid", "--fork"))(
  "the app does not get the record's descriptor: it would hold the lock after ebb",
  async () => {
    await using sidecar = await fakeSidecar();
    using pod = podOf(sidecar, ["a", "b"]);
    await using a = await pod.start("a");
    const links = Bun.spawnSync([
      "nsenter",
      "--target",
      `${a.ebb.pid}`,
      "--pid",
      "--mount",
      "sh",
      "-c",
      "ls -l /mnt/proc/*/fd",
    ]).stdout.toString();
    const holders = links.split("\n\n").filter((process) => process.includes("state"));
    rmSync(pod.recordOf("a"), { force: true });
    expect(holders).toHaveLength(1);
  },
);
