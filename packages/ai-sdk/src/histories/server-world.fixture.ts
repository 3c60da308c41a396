/** The media type of every file. */
export const FILE_TYPE = 'application/octet-stream'

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly key?: string
  readonly body?: object
  /** Sent instead of a JSON body. */
  readonly upload?: string
  /** Whether the answer is a stream, of which only the start is read. */
  readonly isStream?: boolean
}

export interface Reply {
  readonly status: number
  /** From `X-Perdure-Run-Id`. */
  readonly runId: string
  readonly bytes: Uint8Array
}

/** A server that may be killed, and is started again then. */
export interface World {
  /** Asks until there is an answer, however often the server is killed. */
  call(call: Call): Promise<Reply>
  /** Kills the server soon: after so many commits, or at about this moment. */
  killSoon(commits: number): void
  /** Takes back a kill that has not happened. Returns how often the server was killed since `killSoon`. */
  surviveFromNow(): Promise<number>
  /** The lines of each prompt so far. */
  prompts(): readonly (readonly string[])[]
  /** The effects of tools so far. */
  effects(): readonly string[]
  /** Resolves when the tool of this turn works in the present process. */
  untilHeld(text: string): Promise<void>
  release(text: string): void
  /** Resolves when the check returns `true`. It is repeated when something may have changed. */
  until(check: () => Promise<boolean>): Promise<void>
  /** Lets the clock of the server move ahead. */
  elapse(ms: number): Promise<void>
}

export const initOf = ({ method, key, body, upload }: Call) => ({
  method,
  headers: {
    'content-type': upload === undefined ? 'application/json' : FILE_TYPE,
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  },
  body: upload ?? (body === undefined ? null : JSON.stringify(body)),
})
