import { type Logger, type NewAuditEntry, perdureError, type Timers } from '@perdure/ports'

/**
 * An entry waiting to be appended to the chain. After a crash, `source` identifies an entry that was already appended.
 */
export interface SpooledEntry {
  readonly entry: NewAuditEntry
  readonly source?: string | undefined
}

export interface AuditSpoolDeps {
  /** Appends the entries in one commit; resolves when they are durable. */
  readonly append: (entries: readonly SpooledEntry[]) => Promise<void>
  readonly timers: Timers
  readonly logger: Logger
  readonly capacity: number
}

/** Appends entries to the chain in the order of arrival, in batches. */
export interface AuditSpool {
  /** Queues the entry; returns false and drops the entry if the spool is full or closed. */
  offer(entry: SpooledEntry): boolean
  /** Resolves when the entry is durable. Rejects and drops the entry if it cannot be written now. */
  write(entry: SpooledEntry): Promise<void>
  isFull(): boolean
  /** Error of the last attempt to write entries; `undefined` if that attempt succeeded. */
  failure(): unknown
  /** Tries to write all queued entries. Resolves even if the write fails. */
  flush(): Promise<void>
  /** Stops retrying; resolves with the number of entries that are lost. */
  close(): Promise<number>
}

interface QueuedEntry extends SpooledEntry {
  /** Set for an entry from `write`, whose caller waits; missing for an entry from `offer`. */
  readonly written?: PromiseWithResolvers<void>
}

const BATCH = 256
const RETRY_MS = 1_000

export function createAuditSpool({ append, timers, logger, capacity }: AuditSpoolDeps): AuditSpool {
  let queue: QueuedEntry[] = []
  let draining: Promise<void> | undefined
  let failure: unknown
  let cancelRetry: (() => void) | undefined
  let isClosed = false

  const drain = async () => {
    await Promise.resolve()
    cancelRetry?.()
    cancelRetry = undefined
    while (queue.length > 0) {
      const batch = queue.splice(0, BATCH)
      try {
        await append(batch.map(({ entry, source }) => ({ entry, source })))
        failure = undefined
        for (const { written } of batch) written?.resolve()
      } catch (error) {
        fail(batch, error)
        return
      }
    }
  }

  const fail = (batch: readonly QueuedEntry[], error: unknown) => {
    if (failure === undefined) logger.error('cannot write audit entries; keeping them in memory', error)
    failure = error ?? perdureError('audit-unavailable')
    const unwritten = [...batch, ...queue]
    queue = unwritten.filter(({ written }) => written === undefined)
    for (const { written } of unwritten) written?.reject(error)
  }

  const start = (): Promise<void> => {
    draining ??= drain().finally(() => {
      draining = undefined
      scheduleDrain()
    })
    return draining
  }

  /** Drains immediately if a caller of `write` waits; otherwise retries the offered entries after a delay. */
  const scheduleDrain = () => {
    if (queue.length === 0 || draining !== undefined) return
    if (failure === undefined || queue.some(({ written }) => written !== undefined)) void start()
    else if (!isClosed) cancelRetry ??= timers.after(RETRY_MS, () => void start())
  }

  const isFull = () => queue.length >= capacity

  return {
    offer(entry) {
      if (isFull() || isClosed) return false
      queue.push(entry)
      scheduleDrain()
      return true
    },
    async write(entry) {
      const written = Promise.withResolvers<void>()
      queue.push({ ...entry, written })
      void start()
      await written.promise
    },
    isFull,
    failure: () => failure,
    async flush() {
      while (draining !== undefined) await draining
      if (queue.length > 0) await start()
    },
    async close() {
      isClosed = true
      while (draining !== undefined) await draining
      if (queue.length > 0) await start()
      cancelRetry?.()
      return queue.length
    },
  }
}
