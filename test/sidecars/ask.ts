// bun ask.ts "[METHOD ]PORT/PATH": one request to a port of this network's loopback. Writes {status, body}; nothing: refused.

const [, method = "GET", where = ""] = /^(?:([A-Z]+) )?(.*)$/.exec(process.argv[2] ?? "") ?? [];
try {
  const answer = await fetch(`http://localhost:${where}`, { method, redirect: "manual" });
  process.stdout.write(JSON.stringify({ status: answer.status, body: await answer.text() }));
} catch (error) {
  if (!/refused/i.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
}

export {};
