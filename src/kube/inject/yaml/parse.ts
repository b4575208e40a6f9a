import { Composer, type CST, type Document, Lexer, Parser } from "yaml";

/** The error for a text that is no YAML that Kubernetes could read. `offset` says where in the text. */
export class NotYaml extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/**
 * Parses the text of one YAML document into nodes as `parseDocument` of the package yaml does, and accepts what
 * go-yaml, and so Kubernetes, accepts beyond YAML's rules: any indentation inside quotes, brackets and braces, and keys
 * given twice. `isEdited`: whether nodes keep their tokens, which say where they stand in the text.
 * @throws NotYaml if there is a syntax error, or a second document
 */
export function parseNodes(text: string, isEdited: boolean): Document.Parsed {
  const composer = new Composer({
    schema: "failsafe",
    uniqueKeys: false,
    strict: false,
    prettyErrors: false,
    keepSourceTokens: isEdited,
    logLevel: "error",
  });
  const [document, other] = [...composer.compose(tokensOf(text), true, text.length)];
  const [error] = document?.errors ?? [];
  if (error !== undefined) throw new NotYaml(error.pos[0], error.message);
  if (other !== undefined) throw new NotYaml(other.range[0], "another document begins here without --- before it");
  return document as Document.Parsed;
}

function* tokensOf(text: string): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of lenientLexer().lex(text)) yield* parser.next(lexeme);
  yield* parser.end();
}

/** The parts of a lexer that its types keep to themselves (yaml 2.9.1; no option of it gives this leniency). */
interface Insides {
  /** The blanks that a line must start with to go on with what was begun. */
  indentNext: number;
  parseQuotedScalar: () => Generator<string, string>;
  parseFlowCollection: () => Generator<string, string>;
}

/** Makes a lexer that accepts any indentation inside quotes, brackets and braces. */
function lenientLexer(): Lexer {
  const lexer = new Lexer();
  const insides = lexer as unknown as Insides;
  for (const name of ["parseQuotedScalar", "parseFlowCollection"] as const) {
    const parse = insides[name].bind(lexer);
    insides[name] = function* () {
      const { indentNext } = insides;
      insides.indentNext = 0;
      const next = yield* parse();
      insides.indentNext = indentNext;
      return next;
    };
  }
  return lexer;
}
