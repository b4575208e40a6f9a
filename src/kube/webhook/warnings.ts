import { oneLine } from "../../core/base/text.ts";
import { counted } from "../../core/base/wording.ts";
import type { Remark } from "../../core/inject/pod.ts";

/**
 * What the API server shows of warnings: 256 characters of each if they have more than 4,096 together
 * (k8s.io/apiserver, pkg/endpoints/filters/warning.go), and none with control characters (k8s.io/apimachinery,
 * pkg/util/net, NewWarningHeader).
 */
const LONGEST = 256;
const ALL = 4096;

/**
 * Formats remarks as warnings for kubectl, `ebb: FIELD: MESSAGE` without repetitions, each cut at 256 characters
 * (LONGEST). Those beyond 3,840 characters together are left out, and a last warning says how many they are.
 */
export function formatWarnings(remarks: readonly Remark[]): readonly string[] {
  const texts = [...new Set(remarks.map(({ field, message }) => shorten(`ebb: ${field}: ${message}`)))];
  const fitting: string[] = [];
  let length = 0;
  for (const text of texts) {
    length += text.length;
    if (length > ALL - LONGEST) break;
    fitting.push(text);
  }
  const left = texts.length - fitting.length;
  return left === 0 ? fitting : [...fitting, `ebb: ${counted(left, "more warning")}`];
}

function shorten(text: string): string {
  const plain = oneLine(text.toWellFormed());
  return plain.length <= LONGEST
    ? plain
    : `${plain
        .slice(0, LONGEST - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`;
}
