/** The parts that are used here of Node's binding of llhttp, on which node:http is built: there are no types for it. */
interface Binding {
  readonly RESPONSE: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
  new (): Parser;
}

interface Parser {
  [event: number]: (...told: never[]) => unknown;
  initialize(kind: number, resource: object): void;
  execute(bytes: Buffer, from: number, length: number): number | Error;
  finish(): Error | undefined;
  close(): void;
}

const { HTTPParser }: { readonly HTTPParser: Binding } = require("node:_http_common");

/**
 * Parses all bytes of a connection, given as Latin-1, with llhttp. Returns the first answer that is not an interim one
 * (1xx), or undefined if there is none.
 */
export function readByLlhttp(text: string): { readonly status: number; readonly body: string } | undefined {
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.RESPONSE, {});
  let [status, body] = [0, ""];
  let read: ReturnType<typeof readByLlhttp>;
  parser[HTTPParser.kOnHeadersComplete] = (...told: readonly [...unknown[]]) => {
    [status, body] = [Number(told[5]), ""];
    return 0;
  };
  parser[HTTPParser.kOnBody] = (piece: Buffer) => {
    body += piece.toString("latin1");
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    if (status >= 200) read ??= { status, body };
  };
  const bytes = Buffer.from(text, "latin1");
  if (!(parser.execute(bytes, 0, bytes.length) instanceof Error)) parser.finish();
  parser.close();
  return read;
}
