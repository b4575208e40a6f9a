import fc from "fast-check";
import { Document, isMap, isScalar, isSeq, visit } from "yaml";

/** A way in which somebody may write a value as YAML or JSON. */
interface Hand {
  /** The number of blanks of an indentation. */
  readonly indent: number;
  /** Whether lists are indented below their key. */
  readonly indentSeq: boolean;
  /** The indentation of JSON; undefined for YAML. */
  readonly json: number | undefined;
  readonly newline: string;
  /** Whether the last line ends without a newline. */
  readonly isCut: boolean;
  /** Numbers from 0 to 99 that decide on the style and the comments of one node after the other. */
  readonly dice: readonly number[];
}

/** Generates hands. */
export const anyHand: fc.Arbitrary<Hand> = fc.record({
  indent: fc.constantFrom(2, 2, 4, 3),
  indentSeq: fc.boolean(),
  json: fc.constantFrom(undefined, undefined, undefined, undefined, 0, 2, 4),
  newline: fc.constantFrom("\n", "\n", "\r\n"),
  isCut: fc.boolean(),
  dice: fc.array(fc.nat(99), { minLength: 7, maxLength: 40 }),
});

/** Writes a value as that hand does; comments in the text, `# mark N`, have different numbers. */
export function written(value: unknown, { indent, indentSeq, json, newline, isCut, dice }: Hand): string {
  if (json !== undefined) return JSON.stringify(value, null, json) + (isCut ? "" : "\n");
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  let at = 0;
  const draw = () => dice[at++ % dice.length] as number;
  const isInFlow = 0;
  visit(document, {
    Node(key, node) {
      const drawn = draw();
      if ((isMap(node) || isSeq(node)) && drawn < 15) node.flow = true;
      if (isScalar(node) && typeof node.value === "string" && drawn < 40) {
        // the library writes the indentation indicator 2 for a block that begins with blanks, whatever its indentation
        // is
        const isLine = key === "key" || !/^\S/.test(node.value);
        node.type = drawn < 20 ? "QUOTE_DOUBLE" : drawn < 35 || isLine ? "QUOTE_SINGLE" : "BLOCK_LITERAL";
      }
      if (key === "key" && isInFlow === 0 && drawn > 80) node.commentBefore = ` mark ${at}`;
      if (isScalar(node) && key === "value" && drawn > 90) node.comment = ` mark ${at}`;
    },
  });
  const text = document.toString({ indent, indentSeq, lineWidth: 0 });
  return (isCut ? text.trimEnd() : text).replaceAll("\n", newline);
}

/** Returns the comments of `written` that are in a text, in order. */
export function marksIn(text: string): readonly string[] {
  return text.match(/# mark \d+/g) ?? [];
}
