import { environment } from "./environment.ts";

// Asks the API server over HTTP, through a `kubectl proxy`: ten times a second, without a process each time.

const { proxy } = environment();

interface Answer {
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

/** The `36` of Kubernetes 1.36; a provider may write `36+`. */
export async function minorVersion(): Promise<number> {
  const version = await read<{ readonly minor: string }>("/version");
  return Number.parseInt(version?.minor ?? "", 10);
}

/**
 * Calls `see` with each piece of text that a path sends, such as a watch, or a log that is followed. Resolves at its end.
 * Rejects if it is refused or cut, or aborted.
 */
export async function follow(path: string, see: (piece: string) => void, signal?: AbortSignal): Promise<void> {
  const answer = await fetch(`http://localhost${path}`, { unix: proxy, ...(signal && { signal }) });
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
  const decoder = new TextDecoder();
  for await (const bytes of answer.body as ReadableStream<Uint8Array>) see(decoder.decode(bytes, { stream: true }));
}

/** A change that a watch tells of: ADDED, MODIFIED or DELETED, and the object as it is then. */
export interface Change<T> {
  readonly type: string;
  readonly object: T;
}

interface Versioned {
  readonly metadata: { readonly resourceVersion: string };
}

/**
 * Calls `see` with each change of a list, whose path has a query, from now on, until `over`: then `ended` rejects. Where
 * the API server ends the watch, as in a burst of 100 pods, the next one goes on from the last change.
 */
export async function changes<T>(list: string, over: AbortSignal, see: (change: Change<T>) => void) {
  let version = (await read<Versioned>(list))?.metadata.resourceVersion;
  const watchOnce = async (): Promise<void> => {
    let rest = "";
    const seePiece = (piece: string): void => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const change: Change<T & Versioned> = JSON.parse(line);
        if (change.type === "ERROR") throw new Error(`${list}: ${line}`);
        version = change.object.metadata.resourceVersion;
        see(change);
      }
    };
    await follow(`${list}&watch=1&resourceVersion=${version}`, seePiece, over);
  };
  const watch = async (): Promise<never> => {
    for (;;) await watchOnce();
  };
  return { ended: watch() };
}
