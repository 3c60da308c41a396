import type { AuditKeys, Clock, IdGenerator, Logger, NewAuditEntry, Storage, Timers } from '@perdure/ports'
import { createAdmitRequest } from './admit-request.ts'
import type { AuditChain } from './audit-chain.ts'
import type { SpooledEntry } from './audit-spool.ts'
import { createAuditSpool } from './audit-spool.ts'
import { newKeys, withAuditOutbox } from './audit-unit-of-work.ts'
import { createDeedBook } from './deed-book.ts'
import { createOutboxMover } from './outbox-mover.ts'
import { createPublishAudit } from './publish-audit.ts'
import { createRecordEvery } from './record-answer.ts'
import { createRefusalTally } from './refusal-tally.ts'

export interface FileChainDeps {
  readonly main: Pick<Storage, 'unitOfWork' | 'audit'>
  /** The database that holds nothing but the chain. */
  readonly file: Pick<Storage, 'unitOfWork' | 'audit'>
  readonly keys: AuditKeys
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly logger: Logger
  readonly events: 'privileged' | 'all' | 'none'
  /** Entries were appended. */
  readonly onAppended: (count: number) => void
}

const SPOOL_ENTRIES = 10_000
/** A reader sees what was on its way to the chain, but does not wait for a file that somebody else holds. */
const SETTLE_MS = 2_000

/** Every request, in a database of its own; what is privileged goes through the outbox of the main one. */
export function createFileChain(deps: FileChainDeps): AuditChain {
  const { main, file, keys, clock, timers, logger, onAppended } = deps
  const deeds = createDeedBook()
  const publisher =
    deps.events === 'none' ? undefined : createPublishAudit({ ...deps, ...main, chain: file.audit, which: deps.events })

  const append = async (entries: readonly SpooledEntry[]) => {
    const writes = entries.map(({ entry, source }) => ({ type: 'audit.append', entry, source, keys }) as const)
    const outcome = await file.unitOfWork.commit(writes)
    if (!outcome.committed) throw new Error('audit entries never conflict')
    onAppended(outcome.counts.reduce((sum, count) => sum + count, 0))
    void publisher?.publish()
  }
  const spool = createAuditSpool({ append, timers, logger, capacity: SPOOL_ENTRIES })
  const emit = (entry: NewAuditEntry) => void spool.offer({ entry })
  const tally = createRefusalTally({ clock, timers, emit })
  const mover = createOutboxMover({ main, unitOfWork: file.unitOfWork, spool, deeds, timers, logger })
  const settleAll = async () => {
    await mover.move()
    await spool.flush()
  }
  const settle = async () => {
    const late = Promise.withResolvers<void>()
    const cancel = timers.after(SETTLE_MS, late.resolve)
    await Promise.race([settleAll(), late.promise])
    cancel()
  }

  return {
    log: file.audit,
    owner: file.unitOfWork,
    unitOfWork: withAuditOutbox(main.unitOfWork, { deeds, newKey: newKeys(deps.ids) }),
    admit: createAdmitRequest({ unitOfWork: file.unitOfWork, spool }),
    record: createRecordEvery({ clock, deeds, logger, spool, tally, moveSoon: mover.moveSoon }),
    settle,
    problem: () => (spool.failure() === undefined ? undefined : 'the audit file cannot be written'),
    async start() {
      await publisher?.start()
      await mover.move()
      mover.start()
    },
    async stop() {
      mover.stop()
      tally.flush()
      await mover.move()
      const lost = await spool.close()
      if (lost > 0) logger.error('audit entries are lost', spool.failure(), { entries: lost })
      await mover.move()
      await publisher?.publish()
    },
  }
}
