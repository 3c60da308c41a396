/** What a run learns from outside. */
export const FACTS = ['decision', 'event', 'tool', 'child', 'resumption'] as const
export type Fact = (typeof FACTS)[number]

/** A run that waits for a fact. */
export interface Waiting {
  readonly runId: string
  readonly threadId: string
  readonly approvalId: string
}

/** How an operation brings a fact about. */
export interface Path {
  /** The scopes that the caller needs, all of them. */
  readonly needs: readonly string[]
  /** The path and the body of the request. */
  readonly send: (waiting: Waiting) => readonly [path: string, body: object]
  /** Starts the run that waits. By default, the API of this server starts it. */
  readonly start?: (agent: string) => readonly [path: string, body: object]
  /** The fact was brought to the run of `waiting`; the operation repeats that run. */
  readonly repeats?: true
}

export type Paths = Partial<Readonly<Record<Fact, Path>>>
