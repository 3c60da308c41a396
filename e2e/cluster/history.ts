/** A final response, as the client that sent the request saw it. Times are milliseconds since 1970. */
export interface Exchange {
  readonly method: string
  readonly path: string
  /** The Idempotency-Key, which repetitions of the request share. */
  readonly key?: string
  /** The name of the token that the request carried. */
  readonly token: string
  readonly sentAt: number
  readonly status: number
  readonly text: string
}

/** A line that the code of a run appended to the ledger, outside the database, in the order of the file. */
export interface LedgerLine {
  readonly name: string
  /** `effect` of an agent; otherwise the name of the step that starts. */
  readonly what: 'effect' | 'first' | 'second'
  readonly runId: string
  readonly attempt: number
  readonly pid: number
  /** Unique for each execution of the step `first`; the step `second` writes the one that it received. */
  readonly nonce?: string
}

/** What one client received that followed a stream by its cursor and reconnected whenever it lost the connection. */
export interface Reading {
  readonly reader: string
  readonly eventIds: readonly string[]
  readonly gaps: number
}

export interface Revocation {
  readonly token: string
  readonly acknowledgedAt: number
}

/** How many of the sockets that were opened with one ticket, at the same time, were accepted. */
export interface TicketUse {
  readonly name: string
  readonly accepted: number
}

/** Something that belonged to a process without a lease for this long, according to regular looks at the database. */
export interface Leftover {
  readonly what: string
  readonly ms: number
}

/** Everything that clients and observers recorded while the nodes were under attack. */
export interface History {
  readonly exchanges: readonly Exchange[]
  readonly ledger: readonly LedgerLine[]
  readonly readings: readonly Reading[]
  readonly revocations: readonly Revocation[]
  readonly ticketUses: readonly TicketUse[]
  readonly leftovers: readonly Leftover[]
}

export interface EventPayload {
  readonly step?: string
  readonly seq?: number
  readonly attempt?: number
  /** Unique for each execution of the code that emitted the event. */
  readonly nonce?: string
}

export interface DumpedEvent {
  readonly eventId: string
  readonly type: string
  readonly payload: EventPayload
}

export interface DumpedRun {
  readonly id: string
  readonly targetId: string
  readonly status: string
  readonly finishReason: string | null
  readonly result?: unknown
  readonly attempt: number
  /** The name that the client put into the input. */
  readonly name?: string
  readonly scheduledAt?: string
  readonly events: readonly DumpedEvent[]
}

export interface DumpedFire {
  readonly scheduledAt: string
  readonly runId?: string
}

/** What the API returns when the attack is over and no run is left to execute. */
export interface Dump {
  readonly runs: readonly DumpedRun[]
  readonly sessions: ReadonlyMap<string, { readonly title: string }>
  /** The events of the stream that the readers followed, in order. */
  readonly followed: readonly string[]
  readonly fires: readonly DumpedFire[]
  readonly audit: { readonly ok: boolean; readonly entries: ReadonlySet<string> }
  /** Keys whose request has no response. */
  readonly executingKeys: readonly string[]
  /** The response to one more request with each key. */
  readonly repeated: ReadonlyMap<string, { readonly answer: string; readonly isReplayed: boolean }>
}

export const positionOf = (eventId: string): number => Number(eventId.split('.')[1])

export const isOver = (status: string): boolean => ['completed', 'failed', 'aborted'].includes(status)
