import type { AuditKeys, Clock, IdGenerator, Logger, NewAuditEntry, Storage, Timers } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { createAdmitRequest } from './admit-request.ts'
import type { AuditChain } from './audit-chain.ts'
import type { SpooledEntry } from './audit-spool.ts'
import { createAuditSpool } from './audit-spool.ts'
import { newKeys, withAuditOutbox } from './audit-unit-of-work.ts'
import { createOutboxMover } from './outbox-mover.ts'
import { createPublishAudit } from './publish-audit.ts'
import { createRecordEveryRequest } from './record-answer.ts'
import { createRefusalTally } from './refusal-tally.ts'
import { createRequestLog } from './request-log.ts'

export interface FileChainDeps {
  readonly main: Pick<Storage, 'unitOfWork' | 'audit'>
  /** The database that holds only the chain. */
  readonly file: Pick<Storage, 'unitOfWork' | 'audit'>
  readonly keys: AuditKeys
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly logger: Logger
  readonly events: ServerConfig['audit']['events']
  /** Called with the number of entries appended. */
  readonly onAppended: (count: number) => void
}

const SPOOL_ENTRIES = 10_000
/** A read first writes pending entries. If another process has locked the file, the read waits at most this long. */
const FLUSH_TIMEOUT_MS = 2_000

/**
 * A chain in its own database, which records every request. Entries of privileged actions pass through the outbox of
 * the main database.
 */
export function createFileChain(deps: FileChainDeps): AuditChain {
  const { main, file, keys, clock, timers, logger, onAppended } = deps
  const requestLog = createRequestLog()
  const publisher =
    deps.events === 'none' ? undefined : createPublishAudit({ ...deps, ...main, chain: file.audit, which: deps.events })

  const append = async (entries: readonly SpooledEntry[]) => {
    const writes = entries.map(({ entry, source }) => ({ type: 'audit.append', entry, source, keys }) as const)
    const outcome = await file.unitOfWork.commit(writes)
    if (!outcome.committed) throw new Error('appending audit entries conflicted')
    onAppended(outcome.counts.reduce((sum, count) => sum + count, 0))
    void publisher?.publish()
  }
  const spool = createAuditSpool({ append, timers, logger, capacity: SPOOL_ENTRIES })
  const emit = (entry: NewAuditEntry) => void spool.offer({ entry })
  const tally = createRefusalTally({ clock, timers, emit })
  const mover = createOutboxMover({ main, unitOfWork: file.unitOfWork, spool, requestLog, timers, logger })
  const flushAll = async () => {
    await mover.move()
    await spool.flush()
  }
  const flush = async () => {
    const timeout = Promise.withResolvers<void>()
    const cancel = timers.after(FLUSH_TIMEOUT_MS, timeout.resolve)
    await Promise.race([flushAll(), timeout.promise])
    cancel()
  }

  return {
    log: file.audit,
    chainUnitOfWork: file.unitOfWork,
    unitOfWork: withAuditOutbox(main.unitOfWork, { requestLog, newKey: newKeys(deps.ids) }),
    admit: createAdmitRequest({ unitOfWork: file.unitOfWork, spool }),
    record: createRecordEveryRequest({ clock, requestLog, logger, spool, tally, moveSoon: mover.moveSoon }),
    flush,
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
      if (lost > 0) logger.error('shutdown lost audit entries', spool.failure(), { entries: lost })
      await mover.move()
      await publisher?.publish()
    },
  }
}
