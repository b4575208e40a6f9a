import fc from "fast-check";
import { Document, isMap, isScalar, isSeq, visit } from "yaml";

/** How somebody may write the same value in YAML or JSON. */
export interface Hand {
  readonly indent: number;
  readonly indentSeq: boolean;
  readonly json: number | undefined;
  readonly newline: string;
  readonly isCut: boolean;
  /** What is drawn for one node after the other. */
  readonly dice: readonly number[];
}

export const anyHand: fc.Arbitrary<Hand> = fc.record({
  indent: fc.constantFrom(2, 2, 4, 3),
  indentSeq: fc.boolean(),
  json: fc.constantFrom(undefined, undefined, undefined, undefined, 0, 2, 4),
  newline: fc.constantFrom("\n", "\n", "\r\n"),
  isCut: fc.boolean(),
  dice: fc.array(fc.nat(99), { minLength: 7, maxLength: 40 }),
});

/** The value as that hand writes it, with comments that are numbered in their order. */
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
        // the parser's own writer says of a block that begins with blanks that it is indented by 2, whatever it is
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

export function marksIn(text: string): readonly string[] {
  return text.match(/# mark \d+/g) ?? [];
}
