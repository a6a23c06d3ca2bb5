import { isInputRequiredResult, Server } from "@modelcontextprotocol/server";
import type { JSONRPCRequest, Result, ServerContext } from "@modelcontextprotocol/server";
import { refuseMalformedCall } from "./call-params.ts";

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/**
 * The SDK's server, answering `tools/call` with exactly what the handler gave. The SDK would parse each answer as an ordinary
 * tool result, which adds `content: []` to a task handle and rebuilds the members of a stored result. Its own seam still runs
 * around the handler, with a stand-in, so that the request is validated and multi-round-trip answers take their usual way.
 */
// oxlint-disable-next-line typescript/no-deprecated -- its successor McpServer turns every protocol error of a tool into a result
export class ExactServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    // oxlint-disable-next-line typescript/no-deprecated -- the class as above
    const wrap = (inner: Handler): Handler => super._wrapHandler(method, inner);
    if (method !== "tools/call") return wrap(handler);
    return async (request, context) => {
      refuseMalformedCall(request.params);
      const given: { exact?: Result } = {};
      const answer = await wrap(async (inner, innerContext) => {
        const result = await handler(inner, innerContext);
        if (isInputRequiredResult(result)) return result;
        given.exact = result;
        return { content: [] };
      })(request, context);
      return given.exact ?? answer;
    };
  }
}
