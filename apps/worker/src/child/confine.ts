/**
 * Takes away what Node's permission model leaves open and an operation has no use for: sending signals, which would let
 * it end its worker or its neighbours. A seat belt like the permissions themselves; the fence is that this process holds
 * no credentials and that losing it costs one attempt.
 */
export function confineProcess(): void {
  for (const name of ["kill", "_kill"]) {
    Object.defineProperty(process, name, { value: refuse, writable: false, configurable: false });
  }
}

function refuse(): never {
  throw Object.assign(new Error("operations may not send signals"), { code: "ERR_ACCESS_DENIED" });
}
