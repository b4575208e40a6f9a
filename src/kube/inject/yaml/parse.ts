import { type Document, parseDocument, type YAMLParseError } from "yaml";
import { isFirstOnLine } from "./places.ts";

/** The error for a text that is no YAML that Kubernetes could read. `offset` says where in the text. */
export class NotYaml extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/**
 * Parses the text of one YAML document into nodes. Keys may be given twice, as for go-yaml, and so Kubernetes. `isEdited`:
 * whether nodes keep their tokens, which say where they stand in the text.
 * @throws NotYaml if there is a syntax error, or a second document
 */
export function parseNodes(text: string, isEdited: boolean): Document.Parsed {
  const document = parseDocument(text, {
    schema: "failsafe",
    uniqueKeys: false,
    strict: false,
    prettyErrors: false,
    keepSourceTokens: isEdited,
    logLevel: "error",
  });
  const [error] = document.errors;
  if (error !== undefined) throw notYaml(text, error);
  return document;
}

function notYaml(text: string, { code, message, pos: [offset] }: YAMLParseError): NotYaml {
  if (code === "MULTIPLE_DOCS") return new NotYaml(offset, "another document begins here without --- before it");
  const [, close] = /^(?:Flow .* end with a|Missing closing) ([\]}"'])/.exec(message) ?? [];
  if (close === undefined) return new NotYaml(offset, message);
  // quotes end before the line break
  const at = offset + text.slice(offset).search(/\S|$/);
  if (at === text.length || !isFirstOnLine(text, at)) return new NotYaml(offset, `a closing ${close} is missing`);
  const where = close === "]" ? "brackets" : close === "}" ? "braces" : "quotes";
  return new NotYaml(
    at,
    `a line inside ${where} is not indented more than their key or dash: indent it more, with blanks, or add the ${close} that is missing before it`,
  );
}
