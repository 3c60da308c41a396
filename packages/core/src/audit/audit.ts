import type { ChainDigest, CheckpointLog, Storage, UnitOfWork } from '@perdure/ports'
import { createCheckpointer } from './checkpointer.ts'
import { createExportAudit } from './export-audit.ts'
import { createFileChain, type FileChainDeps } from './file-chain.ts'
import { createMainChain } from './main-chain.ts'
import { pruneAudit } from './prune-audit.ts'
import { createListAudit, type ListAudit } from './read-audit.ts'
import { createVerifyAudit, type VerifyAudit } from './verify-audit.ts'

export interface AuditDeps extends Omit<FileChainDeps, 'file' | 'onAppended'> {
  /** Where the chain is kept when every request is recorded; without it, it is in the main database. */
  readonly file?: Pick<Storage, 'unitOfWork' | 'audit'> | undefined
  readonly checkpoints?: CheckpointLog | undefined
  readonly digest: ChainDigest
  /** Entries are kept for good without it. */
  readonly retentionDays?: number | undefined
}

export interface AuditHealth {
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message?: string | undefined
}

export type Audit = ReturnType<typeof createAudit>

const PRUNE_EVERY_MS = 3_600_000

/** The audit chain in its place, wired once: what the edges ask, and the life cycle for whoever starts it. */
export function createAudit(deps: AuditDeps) {
  const { file, checkpoints, timers, logger, retentionDays } = deps
  const onAppended = (count: number) => checkpointer?.noted(count)
  const chain =
    file === undefined ? createMainChain({ ...deps, onAppended }) : createFileChain({ ...deps, file, onAppended })
  const checkpointer = checkpoints && createCheckpointer({ ...deps, checkpoints, chain: chain.log })
  const pause = () => new Promise<void>((resolve) => timers.after(0, resolve))
  const runMutex = createTurns()
  const reading = { chain: chain.log, pause }
  const list = createListAudit(reading)
  const verify = createVerifyAudit({ ...deps, ...reading })
  let cancelPrune = () => {}

  const prune = async () => {
    if (retentionDays === undefined) return
    const write = { ...deps, ...reading, unitOfWork: chain.owner, retentionDays }
    const removed = await runMutex(() => pruneAudit(write)).catch((error: unknown) => {
      logger.error('old audit entries not removed', error)
      return 0
    })
    if (removed > 0) logger.info('old audit entries removed', { entries: removed })
  }
  const armPrune = () => {
    cancelPrune = timers.after(PRUNE_EVERY_MS, () => {
      armPrune()
      void prune()
    })
  }

  const listAudit: ListAudit = async (filter, page) => {
    await chain.settle()
    return list(filter, page)
  }
  /** One at a time, and never while entries are removed. */
  const verifyAudit: VerifyAudit = async (expected) => {
    await chain.settle()
    return runMutex(() => verify(expected))
  }

  return {
    unitOfWork: chain.unitOfWork satisfies UnitOfWork,
    admit: chain.admit,
    onAnswer: chain.record,
    listAudit,
    verifyAudit,
    exportAudit: createExportAudit({ ...deps, ...reading, unitOfWork: chain.unitOfWork, settle: chain.settle }),
    prune,
    health: (): AuditHealth => healthOf(chain.problem(), checkpointer?.problem()),
    async start() {
      await checkpointer?.start()
      await chain.start()
      if (retentionDays !== undefined) armPrune()
    },
    /** Writes down what is on its way, and a last checkpoint. */
    async stop() {
      cancelPrune()
      await chain.stop()
      checkpointer?.stop()
      await checkpointer?.checkpoint()
    },
  }
}

function healthOf(failure: string | undefined, warning: string | undefined): AuditHealth {
  if (failure !== undefined) return { status: 'fail', message: failure }
  return warning === undefined ? { status: 'ok' } : { status: 'warn', message: warning }
}

/** Runs what it is given one after the other. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
