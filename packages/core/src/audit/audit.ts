import { type ChainDigest, type CheckpointLog, perdureError, type Storage, type UnitOfWork } from '@perdure/ports'
import type { CheckStatus } from '@perdure/protocol'
import { createMutex } from '../concurrency/mutex.ts'
import { createLongestLimit, type LongestLimitDeps } from '../declarations/longest-limit.ts'
import { createCheckpointer } from './checkpointer.ts'
import { createExportAudit } from './export-audit.ts'
import { createFileChain, type FileChainDeps } from './file-chain.ts'
import { createMainChain } from './main-chain.ts'
import { pruneAudit } from './prune-audit.ts'
import { createListAudit, type ListAudit } from './read-audit.ts'
import { createVerifyAudit, type VerifyAudit } from './verify-audit.ts'
import { warnOfOtherSecret } from './warn-of-other-secret.ts'

export interface AuditDeps
  extends Omit<FileChainDeps, 'file' | 'onAppended'>,
    Omit<LongestLimitDeps, 'clock' | 'undeclaredMs'>,
    Partial<Pick<LongestLimitDeps, 'undeclaredMs'>> {
  /** The chain's own database, which records every request. If missing, the chain is in the main database. */
  readonly file?: Pick<Storage, 'unitOfWork' | 'audit'> | undefined
  readonly checkpoints?: CheckpointLog | undefined
  readonly digest: ChainDigest
  /** If missing, entries are kept forever. */
  readonly retentionDays?: number | undefined
}

export interface AuditHealth {
  readonly status: Exclude<CheckStatus, 'disabled'>
  readonly message?: string | undefined
}

export type Audit = ReturnType<typeof createAudit>

const PRUNE_EVERY_MS = 3_600_000

/**
 * Wires the audit chain. Returns its use cases for the transports and the CLI, and `start` and `stop` for the server.
 */
export function createAudit(deps: AuditDeps) {
  const { file, checkpoints, timers, logger, retentionDays } = deps
  const onAppended = (count: number) => checkpointer?.countAppended(count)
  const chain =
    file === undefined ? createMainChain({ ...deps, onAppended }) : createFileChain({ ...deps, file, onAppended })
  const checkpointer = checkpoints && createCheckpointer({ ...deps, checkpoints, chain: chain.log })
  const pause = () => new Promise<void>((resolve) => timers.after(0, resolve))
  const mutex = createMutex()
  const reading = { chain: chain.log, pause }
  const list = createListAudit(reading)
  const verify = createVerifyAudit({ ...deps, ...reading })
  const longestLimit = createLongestLimit({ undeclaredMs: 0, ...deps })
  let cancelPrune = () => {}

  const removeOld = async () => {
    const days = await longestLimit('audit-retention', 'days', retentionDays)
    if (days === undefined) return 0
    return pruneAudit({ ...deps, ...reading, unitOfWork: chain.chainUnitOfWork, retentionDays: days })
  }
  const prune = async () => {
    if (retentionDays === undefined) return
    const removed = await mutex(removeOld).catch((error: unknown) => {
      logger.error('cannot remove old audit entries', error)
      return 0
    })
    if (removed > 0) logger.info('removed old audit entries', { entries: removed })
  }
  const armPrune = () => {
    cancelPrune = timers.after(PRUNE_EVERY_MS, () => {
      armPrune()
      void prune()
    })
  }

  const listAudit: ListAudit = async (filter, page) => {
    await chain.flush()
    return list(filter, page)
  }
  let verifications = 0
  /** Verifications run one at a time, and never while entries are being removed. */
  const verifyAudit: VerifyAudit = async (expected) => {
    if (verifications >= MAX_VERIFICATIONS) throw tooManyVerifications()
    verifications++
    try {
      await chain.flush()
      return await mutex(() => verify(expected))
    } finally {
      verifications--
    }
  }

  return {
    unitOfWork: chain.unitOfWork satisfies UnitOfWork,
    admit: chain.admit,
    onAnswer: chain.record,
    listAudit,
    verifyAudit,
    exportAudit: createExportAudit({ ...deps, ...reading, unitOfWork: chain.unitOfWork, flush: chain.flush }),
    prune,
    health: (): AuditHealth => healthOf(chain.problem(), checkpointer?.problem()),
    async start() {
      // Before the first entry of this start, which this server signs.
      await warnOfOtherSecret({ ...deps, log: chain.log })
      await checkpointer?.start()
      await chain.start()
      if (retentionDays !== undefined) armPrune()
    },
    /** Writes pending entries, then a last checkpoint. */
    async stop() {
      cancelPrune()
      await chain.stop()
      checkpointer?.stop()
      await checkpointer?.checkpoint()
    },
  }
}

/** Verifications that run or wait; one can take minutes. */
const MAX_VERIFICATIONS = 4

const tooManyVerifications = () =>
  perdureError('overloaded', {
    message: `${MAX_VERIFICATIONS} verifications of the audit chain run or wait already`,
    hint: 'retry when they have ended',
    retryAfter: 5_000,
  })

function healthOf(failure: string | undefined, warning: string | undefined): AuditHealth {
  if (failure !== undefined) return { status: 'fail', message: failure }
  return warning === undefined ? { status: 'ok' } : { status: 'warn', message: warning }
}
