// scuttle and pilot-agent log to stdout, with times. Notes at the start of stdout take the place of such lines.

const LOG = "(log)\n";
const ERROR = "(error)\n";

/**
 * Replaces the log lines of scuttle and pilot-agent by notes. None is dropped without a note, so that a case sees them.
 */
export function withNotes(stdout: string): string {
  const withoutErrors = stdout.replaceAll(/^\d{4}-\d\d-\d\dT[\d:.]+Z\terror\t.*\n/gm, "");
  const rest = withoutErrors.replaceAll(/^\d{4}-\d\d-\d\dT[\d:.]+Z[ \t](scuttle:|info\t).*\n/gm, "");
  return `${rest === withoutErrors ? "" : LOG}${withoutErrors === stdout ? "" : ERROR}${rest}`;
}
