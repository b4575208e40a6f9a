/**
 * Returns the predicate to sign, of the provenance beside an executable. The builder is the one that the signature
 * proves: the workflow of the forge, or else the owner of the key. The note that the file is not signed is left out.
 */
export function signedProvenance(statement: string, env: Readonly<Record<string, string | undefined>>): string {
  const { buildDefinition, runDetails } = JSON.parse(statement).predicate;
  const { GITHUB_SERVER_URL: server, GITHUB_WORKFLOW_REF: workflow } = env;
  const id = workflow === undefined ? "urn:ebb:builder:key" : `${server}/${workflow}`;
  return JSON.stringify({ buildDefinition, runDetails: { builder: { ...runDetails.builder, id } } });
}
