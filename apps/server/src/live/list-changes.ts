import type { ListName } from "@holdfast/core";

export type { ListName };

/** Who is told on this node that a list of the server (tools, prompts, resources) has changed. */
export interface ListChanges {
  announce(list: ListName): void;
  /** `onChange` must only take note: everybody is told in turn. Disposing ends it. */
  subscribe(onChange: (list: ListName) => void): Disposable;
}

export function createListChanges(): ListChanges {
  const listeners = new Set<(list: ListName) => void>();
  return {
    announce: (list) => {
      for (const tell of listeners) tell(list);
    },
    subscribe: (onChange) => {
      const listener = (list: ListName): void => onChange(list);
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
