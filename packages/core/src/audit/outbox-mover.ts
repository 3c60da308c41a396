import type { AuditLog, Logger, Timers, UnitOfWork } from '@perdure/ports'
import type { AuditSpool } from './audit-spool.ts'
import type { RequestLog } from './request-log.ts'

export interface OutboxMoverDeps {
  /** The database in which entries are staged. */
  readonly main: { readonly unitOfWork: UnitOfWork; readonly audit: Pick<AuditLog, 'staged'> }
  /** Unit of work of the database that holds the chain. */
  readonly unitOfWork: UnitOfWork
  readonly spool: AuditSpool
  readonly requestLog: RequestLog
  readonly timers: Timers
  readonly logger: Logger
}

/** Moves staged entries into the chain, each exactly once, even across crashes. */
export interface OutboxMover {
  start(): void
  moveSoon(): void
  /** Moves the entries that are staged at the time of the call. Resolves even if the move fails. */
  move(): Promise<void>
  stop(): void
}

const EVERY_MS = 1_000
const BATCH = 200

/**
 * The mover appends an entry to the chain with the staging key as its source, then releases the staged entry, then
 * removes the source. A move that is repeated after a crash finds the source and appends nothing.
 */
export function createOutboxMover(deps: OutboxMoverDeps): OutboxMover {
  const { main, unitOfWork, spool, requestLog, timers, logger } = deps
  let moving: Promise<void> | undefined
  let cancel = () => {}

  const moveAll = async () => {
    for (;;) {
      const staged = await main.audit.staged(BATCH)
      const ready = staged.filter(({ key }) => !requestLog.isUnanswered(key))
      if (ready.length === 0) return
      await Promise.all(ready.map(({ key, entry }) => spool.write({ entry, source: key })))
      const keys = ready.map(({ key }) => key)
      await main.unitOfWork.commit([{ type: 'audit.release', keys }])
      await unitOfWork.commit([{ type: 'audit.release', keys }])
      if (staged.length < BATCH) return
    }
  }

  const move = () => {
    moving ??= moveAll()
      .catch((error: unknown) => {
        // The spool has already logged its own failure.
        if (spool.failure() === undefined) logger.error('cannot move staged audit entries', error)
      })
      .finally(() => {
        moving = undefined
      })
    return moving
  }

  const arm = () => {
    cancel = timers.after(EVERY_MS, () => {
      arm()
      void move()
    })
  }

  return {
    start: arm,
    move,
    moveSoon: () => void move(),
    stop: () => cancel(),
  }
}
