import type { ListChanges, ListName } from "../../live/list-changes.ts";
import type { EventStream } from "./event-stream.ts";
import type { HonouredFilter, ListenMessages } from "./messages.ts";

export interface ForwardedLists {
  readonly lists: ListChanges;
  readonly honoured: HonouredFilter;
  readonly stream: EventStream;
  readonly messages: ListenMessages;
}

/** Tells one stream of the lists it asked for. Changes that come while its reader is slow become one message for each list. */
export function forwardLists({ lists, honoured, stream, messages }: ForwardedLists): Disposable {
  const changed = new Set<ListName>();
  let sender: Promise<void> | null = null;

  const send = async (): Promise<void> => {
    await stream.room();
    for (const list of changed) stream.send(messages.listChanged(list));
    changed.clear();
    sender = null;
  };
  return lists.subscribe((list) => {
    if (honoured[`${list}ListChanged`] !== true) return;
    changed.add(list);
    sender ??= send();
  });
}
