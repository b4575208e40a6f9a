// node build/suites.mjs [TASK...] runs tasks that test, one after the other, goes on after one that fails, and ends with
// one line: `12345 passed, 0 failed`. Without TASK it runs all that can run here, and says which cannot.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
/** All tasks that test: those that need no root, and those that do. */
const anybodys = ["test", "test:builds", "test:faults", "fuzz --for 20s", "test:syscalls"];
const roots = ["test:sidecars", "test:release", "test:orchestrators", "test:cluster"];

const [, , ...given] = process.argv;
const left = given.length > 0 || process.getuid?.() === 0 ? [] : roots;
const chosen = given.length > 0 ? given : [...anybodys, ...roots].filter((task) => !left.includes(task));

const results = [];
for (const task of chosen) results.push(await runTask(task));
for (const line of new Set(results.flatMap(({ failures }) => failures))) console.log(line);
for (const { task, passed, failed, skipped, minutes } of results)
  console.log(`${task}: ${passed} passed, ${failed} failed, ${skipped} skipped, ${minutes} min`);
for (const task of left) console.log(`${task}: not run: it needs root`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exitCode = Math.max(...results.map(({ code }) => code));

/** Runs a task with its output shown, and reads there the lines `N pass`, `N fail` and `N skip`. */
async function runTask(task) {
  const start = performance.now();
  const command = [join(root, "build", "task.mjs"), ...task.split(" ")];
  const child = spawn(process.execPath, command, { cwd: root, stdio: ["inherit", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.on("exit", (status) => resolve(status ?? 1)));
  const outputs = await Promise.all([show(child.stdout, process.stdout), show(child.stderr, process.stderr)]);
  const code = await ended;
  const output = outputs.join("\n");
  const count = (what) => {
    const counts = [...output.matchAll(new RegExp(`^ *(\\d+) ${what}$`, "gm"))].map(([, number]) => Number(number));
    return counts.reduce((total, each) => total + each, 0);
  };
  return {
    task,
    code,
    passed: count("pass"),
    failed: Math.max(count("fail"), code === 0 ? 0 : 1), // it may fail before any test runs
    skipped: count("skip"),
    minutes: ((performance.now() - start) / 60_000).toFixed(1),
    failures: output.match(/^(\(fail\)|see it again:).*$/gm) ?? [],
  };
}

/** Copies a stream to this process's, and resolves with its text. */
async function show(stream, to) {
  const parts = [];
  for await (const part of stream) {
    to.write(part);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function sum(what) {
  return results.reduce((total, each) => total + each[what], 0);
}
