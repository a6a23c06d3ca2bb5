import { isStorableText, type Principal } from "@holdfast/core";

/** SQL expressions that say who wants to do what and where; all are written by us, none comes from outside. */
interface GrantQuestion {
  readonly workspaceId: string;
  readonly issuer: string;
  readonly subject: string;
  /** A jsonb array of strings. */
  readonly groups: string;
  readonly action: string;
}

/**
 * Whether a live grant allows it, as a condition for the statement that reads or writes the row (contract 2.2): a separate
 * check would leave a gap in which a revoked grant still works. Groups count only under the issuer that vouches for them.
 */
export function grantPredicate(question: GrantQuestion): string {
  return `exists (
    select 1
    from holdfast.access_grant as g
    where g.workspace_id = ${question.workspaceId}
      and g.issuer = ${question.issuer}
      and case g.member_kind
        when 'principal' then g.member = ${question.subject}
        else ${question.groups} ? g.member
      end
      and ${question.action} = any(g.actions)
      and (g.expires_at is null or g.expires_at > now())
  )`;
}

/** The action that submits or cancels a task of this effect, as SQL over a column that holds the effect. */
export function actionByEffect(effect: string): string {
  return `case ${effect} when 'write' then 'write' else 'run' end`;
}

/**
 * Issuer, subject and groups as parameters; null for a principal whose name Postgres cannot keep. Such a principal owns
 * nothing and must not reach the driver, which would replace half a surrogate pair and so turn one name into another.
 */
export function principalParameters(principal: Principal): readonly [issuer: string, subject: string, groups: string] | null {
  if (!isStorableText(principal.issuer) || !isStorableText(principal.subject)) return null;
  return [principal.issuer, principal.subject, JSON.stringify(principal.groups.filter(isStorableText))];
}
