import { environment } from "./environment.ts";

// The API server's own HTTP interface, to ask ten times a second without a process each time.

const { proxy } = environment();

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** `request("GET", "/api/v1/pods")`; the body is sent as JSON. */
export async function request(method: string, path: string, body?: object): Promise<Answer> {
  const content = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`http://localhost${path}`, { unix: proxy, method, ...(body && content) });
  return { status: answer.status, text: await answer.text() };
}

/** The object, or the list, at this path; undefined where there is none. @throws Error with what the API server said */
export async function read<T>(path: string): Promise<T | undefined> {
  const { status, text } = await request("GET", path);
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
}
