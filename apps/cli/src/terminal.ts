/** What a command may see and touch of the process it runs in. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether somebody can answer a question. */
  readonly isInteractive: boolean
  /** Data: what a script reads. */
  readonly stdout: TextSink
  /** Talk: warnings, errors, logs. */
  readonly stderr: TextSink
  ask(question: string): Promise<string>
  /** All of stdin, as text. */
  readInput(): Promise<string>
  /** Takes single keys from whoever looks at it, Ctrl-C among them, until the answer is called. Only when it is interactive. */
  readKeys(onKey: (key: string) => void): () => void
  /**
   * From here on signals and crashes do not end the process; they are handed out one by one. An error that
   * `isAccountedFor` is no crash.
   */
  watchInterruptions(isAccountedFor: (error: unknown) => boolean): Interruptions
}

export interface TextSink {
  write(text: string): unknown
  /** Somebody looks at it. */
  readonly isTTY?: boolean | undefined
  /** Width, where somebody looks at it. */
  readonly columns?: number | undefined
}

export type Interruption =
  | { readonly type: 'signal'; readonly signal: 'SIGINT' | 'SIGTERM' }
  | { readonly type: 'crash'; readonly error: unknown }

export interface Interruptions {
  /** The next one, also when it came before the call. */
  next(): Promise<Interruption>
}

/** One JSON document on stdout. */
export const writeDocument = ({ stdout }: Terminal, document: unknown): void =>
  void stdout.write(`${JSON.stringify(document)}\n`)
