import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ExecPlugin, identityByPlugin, pluginEnvironment } from "../../../../src/cluster/api/exec-plugin.ts";
import { allPids } from "../../../../src/pod/process/processes.ts";
import { Failure } from "../../../../src/shared/core/exit.ts";
import { readIfThere } from "../../../../src/shared/io/file.ts";
import { temporaryFolder } from "../../../harness/ebb.ts";
import { stopClock } from "../../../harness/fake-clock.ts";

/** A plugin of /bin/sh. */
function pluginOf(script: string): ExecPlugin {
  return identityByPlugin({ command: "/bin/sh", args: ["-c", script], interactiveMode: "Never" }, {});
}

async function failureOf(plugin: ExecPlugin): Promise<string> {
  const error = await plugin().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Failure);
  return (error as Failure).message.replace(/^kubeconfig: exec plugin \/bin\/sh failed: /, "");
}

const printed = (status: object) => `printf '%s' '${JSON.stringify({ status })}'`;

test("the plugin inherits what ebb was started with, but ebb's own settings; the kubeconfig has the last word", () => {
  const starting = { PATH: "/bin", HTTPS_PROXY: "http://proxy", EBB_QUIT_HEADER: "authorization: secret", A: "a" };
  const named = [
    { name: "A", value: "b" },
    { name: "EBB_LOG_LEVEL", value: "debug" },
  ];
  expect(pluginEnvironment(starting, named, "{}")).toEqual({
    PATH: "/bin",
    HTTPS_PROXY: "http://proxy",
    A: "b",
    EBB_LOG_LEVEL: "debug",
    KUBERNETES_EXEC_INFO: "{}",
  });
});

test("a plugin that does not end is killed at the limit, with what it has started", async () => {
  using folder = temporaryFolder();
  const mark = join(folder.path, "mark");
  writeFileSync(mark, "");
  using clock = stopClock();
  const failure = failureOf(pluginOf(`trap '' TERM; tail -f ${mark} & echo started >> ${mark}; wait`));
  await clock.until("it has started another program", () => readFileSync(mark, "utf8") !== "");
  clock.pass(60_000);
  expect(await failure).toBe("did not end within 60 s, and was killed");
  await clock.until("nothing of it is left", () =>
    allPids().every((pid) => !(readIfThere(`/proc/${pid}/cmdline`) ?? "").includes(mark)),
  );
});

test("a plugin that leaves a process behind that holds its output open does not hold ebb up", async () => {
  using folder = temporaryFolder();
  const mark = join(folder.path, "mark");
  writeFileSync(mark, "");
  using clock = stopClock();
  const failure = failureOf(pluginOf(`${printed({ token: "t" })}; echo $$ > ${mark}; tail -f ${mark} &`));
  const pid = () => readFileSync(mark, "utf8").trim();
  await clock.until("it has ended", () => pid() !== "" && !existsSync(`/proc/${pid()}`));
  clock.pass(60_000);
  expect(await failure).toMatch(/^did not end/);
});

test("output without an end is not read on", async () => {
  expect(await failureOf(pluginOf("exec yes 2>/dev/null"))).toBe(
    "its output has more than 1 MiB, the most that ebb reads here",
  );
});

test.each([
  ["neither token nor certificate", {}, "expected a token or a certificate, got neither"],
  ["an empty token", { token: "" }, "expected a token or a certificate, got neither"],
  [
    "a certificate without its key",
    { clientCertificateData: "c" },
    "expected a certificate and its key, got one of them",
  ],
  [
    "a key without its certificate",
    { token: "t", clientKeyData: "k" },
    "expected a certificate and its key, got one of them",
  ],
])("%s: nobody goes on without credentials", async (_, status, expected) => {
  expect(await failureOf(pluginOf(printed(status)))).toBe(expected);
});

test("requests that need it at once start it once, after a refusal too", async () => {
  using folder = temporaryFolder();
  const calls = join(folder.path, "calls");
  const plugin = pluginOf(`echo x >> ${calls}; ${printed({ token: "t" })}`);
  const several = (isRefused: boolean) => Promise.all(Array.from({ length: 5 }, () => plugin(isRefused)));
  const [first] = await several(false);
  expect(first?.headers).toEqual({ authorization: "Bearer t" });
  await several(false);
  expect(readFileSync(calls, "utf8")).toBe("x\n");
  await several(true);
  expect(readFileSync(calls, "utf8")).toBe("x\nx\n");
});
