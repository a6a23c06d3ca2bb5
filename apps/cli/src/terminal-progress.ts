import type { Terminal } from "./terminal.ts";

export interface Progress {
  /** `fraction` from 0 to 1; null while nobody knows how far it is. */
  update(state: { fraction: number | null; text: string }): void;
  /** Leaves the line as it is to be read later. */
  finish(text: string): void;
}

const barWidth = 24;
const drawEveryMs = 100;

/** What a person sees who waits: a bar that moves on a screen; elsewhere one line whenever something changed. */
export function startProgress(terminal: Terminal): Progress {
  const startedAt = Date.now();
  let state = { fraction: null as number | null, text: "" };
  if (!terminal.isInteractive) {
    return {
      update: (next) => {
        if (next.text !== state.text) terminal.out(`   ${next.text}`);
        state = next;
      },
      finish: (text) => terminal.out(`   ${text}`),
    };
  }
  const draw = (): void =>
    terminal.redraw(`   ${renderProgress({ ...state, elapsedMs: Date.now() - startedAt, width: terminal.width - 4 })}`);
  const timer = setInterval(draw, drawEveryMs);
  timer.unref();
  return {
    update: (next) => {
      state = next;
      draw();
    },
    finish: (text) => {
      clearInterval(timer);
      terminal.redraw("");
      terminal.out(`   ${text}`);
    },
  };
}

/** One line: the bar, the time and the text, cut to the width. Without a fraction a mark wanders through the bar. */
export function renderProgress(state: { fraction: number | null; text: string; elapsedMs: number; width: number }): string {
  const { fraction, text, elapsedMs, width } = state;
  const line = `[${fraction === null ? wandering(elapsedMs) : filled(fraction)}] ${(elapsedMs / 1000).toFixed(1)} s  ${text}`;
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

function filled(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  return "█".repeat(full) + "░".repeat(barWidth - full);
}

function wandering(elapsedMs: number): string {
  const mark = 4;
  const steps = barWidth - mark;
  const step = Math.floor(elapsedMs / drawEveryMs) % (2 * steps);
  const start = step <= steps ? step : 2 * steps - step;
  return "░".repeat(start) + "█".repeat(mark) + "░".repeat(steps - start);
}
