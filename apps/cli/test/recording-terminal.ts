import type { Interruption, Terminal } from '../src/terminal.ts'

export interface RecordingTerminal extends Terminal {
  /** What was written so far. */
  out(): string
  err(): string
  /** Hands an interruption to the command. */
  interrupt(interruption: Interruption): void
}

export interface TerminalState {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** What somebody answers; without it nobody can. */
  readonly answer?: string
  /** What is on stdin. */
  readonly input?: string
  /** Of a terminal somebody looks at; without it stdout is a pipe. */
  readonly columns?: number
  /** Sees each text as it comes on stdout. */
  readonly onOut?: (text: string, terminal: RecordingTerminal) => void
}

/** A terminal that keeps what is written and is interrupted by calls. */
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
    stderr: { write: (text) => err.push(text) },
    readInput: async () => input,
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
      const taker = waiting.shift()
      if (taker === undefined) queue.push(interruption)
      else taker(interruption)
    },
  }
  return terminal
}
