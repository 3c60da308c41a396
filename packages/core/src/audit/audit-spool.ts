import { AppError, type Logger, type NewAuditEntry, type Timers } from '@perdure/ports'

/** An entry on its way into the chain; `source` names where it comes from, so that it is appended once. */
export interface SpooledEntry {
  readonly entry: NewAuditEntry
  readonly source?: string | undefined
}

export interface AuditSpoolDeps {
  /** Appends in one commit; resolves when it is durable. */
  readonly append: (entries: readonly SpooledEntry[]) => Promise<void>
  readonly timers: Timers
  readonly logger: Logger
  readonly capacity: number
}

/** Brings entries into the chain in the order of their arrival, many at once. */
export interface AuditSpool {
  /** Takes the entry to be written soon; false when there is no room, and it is not taken. */
  offer(entry: SpooledEntry): boolean
  /** Resolves when the entry is durable; rejects when it cannot be written now, and forgets it. */
  write(entry: SpooledEntry): Promise<void>
  isFull(): boolean
  /** Whether the last attempt failed, and what it failed with. */
  failure(): unknown
  /** Tries to write everything that waits. Resolves also when that fails. */
  flush(): Promise<void>
  /** Ends retries; answers how many entries are lost. */
  close(): Promise<number>
}

interface Waiting extends SpooledEntry {
  readonly settle?: PromiseWithResolvers<void>
}

const BATCH = 256
const RETRY_MS = 1_000

export function createAuditSpool({ append, timers, logger, capacity }: AuditSpoolDeps): AuditSpool {
  let waiting: Waiting[] = []
  let draining: Promise<void> | undefined
  let failure: unknown
  let cancelRetry: (() => void) | undefined
  let isClosed = false

  const drain = async () => {
    await Promise.resolve()
    cancelRetry?.()
    cancelRetry = undefined
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      try {
        await append(batch.map(({ entry, source }) => ({ entry, source })))
        failure = undefined
        for (const { settle } of batch) settle?.resolve()
      } catch (error) {
        fail(batch, error)
        return
      }
    }
  }

  const fail = (batch: readonly Waiting[], error: unknown) => {
    if (failure === undefined) logger.error('audit entries cannot be written; they are kept in memory', error)
    failure = error ?? new AppError('audit-unavailable')
    const all = [...batch, ...waiting]
    waiting = all.filter(({ settle }) => settle === undefined)
    for (const { settle } of all) settle?.reject(error)
  }

  const start = (): Promise<void> => {
    draining ??= drain().finally(() => {
      draining = undefined
      wakeRun()
    })
    return draining
  }

  /** Somebody who waits for an entry is answered at once; what only waits itself is tried again after a while. */
  const wakeRun = () => {
    if (waiting.length === 0 || draining !== undefined) return
    if (failure === undefined || waiting.some(({ settle }) => settle !== undefined)) void start()
    else if (!isClosed) cancelRetry ??= timers.after(RETRY_MS, () => void start())
  }

  const isFull = () => waiting.length >= capacity

  return {
    offer(entry) {
      if (isFull() || isClosed) return false
      waiting.push(entry)
      wakeRun()
      return true
    },
    async write(entry) {
      const settle = Promise.withResolvers<void>()
      waiting.push({ ...entry, settle })
      void start()
      await settle.promise
    },
    isFull,
    failure: () => failure,
    async flush() {
      while (draining !== undefined) await draining
      if (waiting.length > 0) await start()
    },
    async close() {
      isClosed = true
      while (draining !== undefined) await draining
      if (waiting.length > 0) await start()
      cancelRetry?.()
      return waiting.length
    },
  }
}
