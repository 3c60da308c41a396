import type { Interruption, Terminal } from '../src/terminal.ts'

export interface RecordingTerminal extends Terminal {
  /** Everything written to stdout so far. */
  out(): string
  err(): string
  /** Sends an interruption to the command. */
  interrupt(interruption: Interruption): void
}

export interface TerminalState {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Answer to every prompt; without it, the terminal is not interactive. */
  readonly answer?: string
  /** Content of stdin. */
  readonly input?: string
  /** Width of the terminal; without it, stdout is a pipe. */
  readonly columns?: number
  /** Called with each text written to stdout. */
  readonly onOut?: (text: string, terminal: RecordingTerminal) => void
}

/** A terminal that records its output; `interrupt` simulates signals and crashes. */
export function recordingTerminal({
  cwd,
  env = {},
  answer,
  input = '',
  columns,
  onOut,
}: TerminalState): RecordingTerminal {
  const out: string[] = []
  const err: string[] = []
  const queue: Interruption[] = []
  const waiting: ((interruption: Interruption) => void)[] = []
  const terminal: RecordingTerminal = {
    env,
    cwd,
    isInteractive: answer !== undefined,
    stdout: {
      isTTY: columns !== undefined,
      columns,
      write(text) {
        out.push(text)
        onOut?.(text, terminal)
      },
    },
    stderr: {
      write(text, done) {
        err.push(text)
        done?.()
      },
    },
    readInput: async () => input,
    async readLines(onLine) {
      for (const line of input.split('\n')) if (line !== '') onLine(line)
    },
    readKeys: () => () => undefined,
    ask: async () => answer ?? '',
    watchInterruptions: () => ({
      next() {
        const ready = queue.shift()
        return ready === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(ready)
      },
    }),
    out: () => out.join(''),
    err: () => err.join(''),
    interrupt(interruption) {
      const waiter = waiting.shift()
      if (waiter === undefined) queue.push(interruption)
      else waiter(interruption)
    },
  }
  return terminal
}
