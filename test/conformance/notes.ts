// scuttle's and pilot-agent's logs stand on stdout, with their times. Here a note says that there were such lines, at the start.

const LOG = "(log)\n";
const ERROR = "(error)\n";

/** Nothing is dropped without a note: a case that expects none sees it. */
export function withNotes(stdout: string): string {
  const withoutErrors = stdout.replaceAll(/^\d{4}-\d\d-\d\dT[\d:.]+Z\terror\t.*\n/gm, "");
  const rest = withoutErrors.replaceAll(/^\d{4}-\d\d-\d\dT[\d:.]+Z[ \t](scuttle:|info\t).*\n/gm, "");
  return `${rest === withoutErrors ? "" : LOG}${withoutErrors === stdout ? "" : ERROR}${rest}`;
}

export function withoutNotes(stdout: string): string {
  const rest = stdout.startsWith(LOG) ? stdout.slice(LOG.length) : stdout;
  return rest.startsWith(ERROR) ? rest.slice(ERROR.length) : rest;
}
