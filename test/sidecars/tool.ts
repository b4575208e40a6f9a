/** Runs a program to its end, and resolves with its stdout. Rejects with all that it said if it fails. */
export async function runTool(...words: readonly string[]): Promise<string> {
  const tool = Bun.spawn([...words], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([new Response(tool.stdout).text(), new Response(tool.stderr).text()]);
  if ((await tool.exited) !== 0) throw new Error(`${words.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}
