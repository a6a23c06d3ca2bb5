import { z } from "zod";

/**
 * The authenticated caller (contract 2.1): issuer and subject of a verified token. `groups` and `scopes` are what the
 * token carried at this request; ownership is `issuer` and `subject` alone.
 */
export const principalSchema = z.object({
  issuer: z.string().min(1).max(512),
  subject: z.string().min(1).max(512),
  groups: z.array(z.string().min(1).max(256)).max(256).readonly(),
  scopes: z.array(z.string().min(1).max(256)).max(256).readonly(),
});
export type Principal = Readonly<z.infer<typeof principalSchema>>;
