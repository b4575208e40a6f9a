import { SyntaxKind } from "typescript/unstable/ast";
import { createScanner } from "typescript/unstable/ast/scanner";

/** The tokens after which a slash divides; after any other it begins a regular expression. */
const operands: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
]);

/** Returns the regular expressions in a TypeScript source, and `RegExp` for each `new RegExp`, in their order. */
export function expressionsIn(source: string): readonly string[] {
  const found: string[] = [];
  const scanner = createScanner(true, undefined, source);
  const isTemplate: boolean[] = [];
  let before: SyntaxKind = SyntaxKind.Unknown;
  for (let token = scanner.scan(); token !== SyntaxKind.EndOfFile; token = scanner.scan()) {
    if ((token === SyntaxKind.SlashToken || token === SyntaxKind.SlashEqualsToken) && !operands.has(before)) {
      scanner.reScanSlashToken();
      found.push(scanner.getTokenText());
      token = SyntaxKind.Identifier;
    } else if (before === SyntaxKind.NewKeyword && scanner.getTokenText() === "RegExp") found.push("RegExp");
    if (token === SyntaxKind.CloseBraceToken && isTemplate.pop()) token = scanner.reScanTemplateToken(false);
    if (token === SyntaxKind.TemplateHead || token === SyntaxKind.TemplateMiddle) isTemplate.push(true);
    if (token === SyntaxKind.OpenBraceToken) isTemplate.push(false);
    before = token;
  }
  return found;
}
