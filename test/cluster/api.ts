import { environment } from "./environment.ts";

// Asks the API server over HTTP, through a `kubectl proxy`: ten times a second, without a process each time.

const { proxy } = environment();

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a request to the API server, `request("GET", "/api/v1/pods")`, with the body as JSON. Resolves with any answer.
 */
export async function request(method: string, path: string, body?: object): Promise<Answer> {
  const content = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`http://localhost${path}`, { unix: proxy, method, ...(body && content) });
  return { status: answer.status, text: await answer.text() };
}

/** Reads the object, or the list, at a path; undefined if it is not there (404). Rejects with any other refusal. */
export async function read<T>(path: string): Promise<T | undefined> {
  const { status, text } = await request("GET", path);
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
}
