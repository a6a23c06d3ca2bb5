import type { Diagnostic } from "../mod/diagnostic.ts";
import type { OutputDiagnostic } from "./contract.ts";

/** Our lists are read-only, those of a schema are not. */
export function outputDiagnostic({ related, details, ...rest }: Diagnostic): OutputDiagnostic {
  return {
    ...rest,
    ...(related === undefined || related.length === 0 ? {} : { related: [...related] }),
    ...(details === undefined ? {} : { details: { ...details } }),
  };
}
