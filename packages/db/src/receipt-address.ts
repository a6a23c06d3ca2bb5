/** The place of a workspace, as SQL over a row `w` of `holdfast.workspace`. No root has a slash in its name. */
export const PLACE = "w.root || '/' || w.path";

/**
 * Under what a receipt is kept, as SQL: a digest, because the names together may be longer than an index takes, over a list, because
 * strung together they could be read in two ways. A workspace that has moved is another place with keys of its own (contract 4.2).
 */
export function receiptAddress(of: { issuer: string; subject: string; workspaceId: string; key: string }): string {
  return `sha256(convert_to(jsonb_build_array(${of.issuer}, ${of.subject}, ${of.workspaceId}, ${PLACE}, ${of.key})::text, 'UTF8'))`;
}
