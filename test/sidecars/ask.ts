// bun ask.ts "[METHOD ]PORT/PATH" sends a request to a port of this network's loopback, or to `unix:SOCKET/PATH`, where
// the name of SOCKET ends with .sock. It prints {status, body}; {status: "cut"} if the answer was cut; nothing if it
// was refused.

const [, method = "GET", where = ""] = /^(?:([A-Z]+) )?(.*)$/.exec(process.argv[2] ?? "") ?? [];
const [, unix, path] = /^unix:(.*?\.sock)(.*)$/.exec(where) ?? [];
const url = unix === undefined ? `http://localhost:${where}` : `http://localhost${path}`;
try {
  const answer = await fetch(url, { method, redirect: "manual", ...(unix === undefined ? {} : { unix }) });
  process.stdout.write(JSON.stringify({ status: answer.status, body: await answer.text() }));
} catch (error) {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (code === "ECONNRESET") process.stdout.write(JSON.stringify({ status: "cut", body: "" }));
  else if (!/refused|ENOENT/i.test(code)) throw error;
}

export {};
