/** The parts of the process that a command uses. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether a user can answer a prompt. */
  readonly isInteractive: boolean
  /** For data. */
  readonly stdout: TextSink
  /** For notes, warnings, errors and logs. */
  readonly stderr: TextSink
  ask(question: string): Promise<string>
  /** Reads stdin to its end. */
  readInput(): Promise<string>
  /** Reports each line of stdin until its end. */
  readLines(onLine: (line: string) => void): Promise<void>
  /** Reports single key presses, including Ctrl-C, until the returned function is called. Only if `isInteractive`. */
  readKeys(onKey: (key: string) => void): () => void
  /**
   * From now on, signals and uncaught errors are queued instead of ending the process. Errors for which `isHandled`
   * returns true are ignored.
   */
  watchInterruptions(isHandled: (error: unknown) => boolean): Interruptions
}

export interface TextSink {
  /** Calls `done` when the text is written, or with an error when it cannot be. */
  write(text: string, done?: (error?: Error | null) => void): unknown
  /** File descriptor of a stream of the process. */
  readonly fd?: number | undefined
  readonly isTTY?: boolean | undefined
  /** Width of the terminal. */
  readonly columns?: number | undefined
}

export type Interruption =
  | { readonly type: 'signal'; readonly signal: 'SIGINT' | 'SIGTERM' }
  | { readonly type: 'crash'; readonly error: unknown }

export interface Interruptions {
  /** Returns the next interruption, queued or future. */
  next(): Promise<Interruption>
}

/** Writes one JSON document to stdout. */
export const writeDocument = ({ stdout }: Terminal, document: unknown): void =>
  void stdout.write(`${JSON.stringify(document)}\n`)
