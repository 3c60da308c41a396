import type { AuditLog, Logger, Timers, UnitOfWork } from '@perdure/ports'
import type { AuditSpool } from './audit-spool.ts'
import type { DeedBook } from './deed-book.ts'

export interface OutboxMoverDeps {
  /** Where entries are staged. */
  readonly main: { readonly unitOfWork: UnitOfWork; readonly audit: Pick<AuditLog, 'staged'> }
  /** Of the database that holds the chain. */
  readonly unitOfWork: UnitOfWork
  readonly spool: AuditSpool
  readonly deeds: DeedBook
  readonly timers: Timers
  readonly logger: Logger
}

/** Brings staged entries into the chain, each once, whatever crashes in between. */
export interface OutboxMover {
  start(): void
  moveSoon(): void
  /** Moves what is staged now. Resolves also when that fails. */
  move(): Promise<void>
  stop(): void
}

const EVERY_MS = 1_000
const BATCH = 200

/** Appended first, with its key as its source; then released where it was staged; then the source is forgotten. */
export function createOutboxMover(deps: OutboxMoverDeps): OutboxMover {
  const { main, unitOfWork, spool, deeds, timers, logger } = deps
  let moving: Promise<void> | undefined
  let cancel = () => {}

  const moveAll = async () => {
    for (;;) {
      const staged = await main.audit.staged(BATCH)
      const ready = staged.filter(({ key }) => !deeds.isOpen(key))
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
        // The spool has told of its own failure already.
        if (spool.failure() === undefined) logger.error('staged audit entries not moved', error)
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
