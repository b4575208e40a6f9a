/**
 * Returns the predicate of the provenance beside an executable, as who signs it says it: with the builder that the
 * signature proves, and without the note that it is not signed. In a workflow of the forge that is the workflow; else
 * whoever has the key.
 */
export function signedProvenance(statement: string, env: Readonly<Record<string, string | undefined>>): string {
  const { buildDefinition, runDetails } = JSON.parse(statement).predicate;
  const { GITHUB_SERVER_URL: server, GITHUB_WORKFLOW_REF: workflow } = env;
  const id = workflow === undefined ? "urn:ebb:builder:key" : `${server}/${workflow}`;
  return JSON.stringify({ buildDefinition, runDetails: { builder: { ...runDetails.builder, id } } });
}
