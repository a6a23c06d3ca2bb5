import { SERVER_INFO_META_KEY, SUBSCRIPTION_ID_META_KEY } from "@modelcontextprotocol/server";
import type { ListName } from "../../live/list-changes.ts";

/** The id of the request that opened a stream, with its JSON type: `0` and `""` are ids. */
export type SubscriptionId = string | number;

/** What a stream carries, in the client's words: the filter of its request, as far as it is honoured. */
export interface HonouredFilter {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
  resourceSubscriptions?: readonly string[];
  taskIds?: readonly string[];
}

export interface ServerInfo {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

/** The messages of one subscription; each is stamped with its id. */
export interface ListenMessages {
  acknowledged(honoured: HonouredFilter): object;
  task(detailedTask: Readonly<Record<string, unknown>>): object;
  listChanged(list: ListName): object;
  /** The answer to the request: the stream ends by our will. */
  complete(): object;
}

export function listenMessages(id: SubscriptionId, serverInfo: ServerInfo): ListenMessages {
  const stamp = { [SUBSCRIPTION_ID_META_KEY]: id };
  const notification = (method: string, params: Readonly<Record<string, unknown>> = {}): object => ({
    jsonrpc: "2.0",
    method,
    params: { ...params, _meta: stamp },
  });
  return {
    acknowledged: (notifications) => notification("notifications/subscriptions/acknowledged", { notifications }),
    task: (detailedTask) => notification("notifications/tasks", detailedTask),
    listChanged: (list) => notification(`notifications/${list}/list_changed`),
    complete: () => ({
      jsonrpc: "2.0",
      id,
      result: { resultType: "complete", _meta: { ...stamp, [SERVER_INFO_META_KEY]: serverInfo } },
    }),
  };
}
