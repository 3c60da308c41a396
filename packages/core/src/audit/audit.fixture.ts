import { createHash, createHmac } from 'node:crypto'
import { createInMemoryCheckpointLog, createInMemoryStorage } from '@perdure/in-memory'
import { type AuditKeys, type ChainDigest, type Logger, perdureError, type Storage, type Write } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { type AuditDeps, createAudit } from './audit.ts'
import { auditWrite } from './audit-write.ts'
import type { AnsweredRequest } from './record-answer.ts'

export const KEYS: AuditKeys = [Buffer.from('test key')]

const chainDigest: ChainDigest = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
}

/** A storage whose commits fail while `fault.isActive` is true. */
export function withCommitFault(storage: Storage) {
  const fault = { isActive: false }
  const commit = async (writes: readonly Write[]) => {
    if (fault.isActive) throw perdureError('storage-full')
    return storage.unitOfWork.commit(writes)
  }
  return { storage: { ...storage, unitOfWork: { commit } }, fault }
}

/** An audit chain on in-memory storage; retries, checkpoints and pauses run on the manual clock. */
export function createTestAudit(over: Partial<AuditDeps> & { readonly inFile?: boolean } = {}) {
  const main = createInMemoryStorage()
  const file = withCommitFault(createInMemoryStorage())
  const clock = createManualClock()
  const checkpoints = createInMemoryCheckpointLog()
  const errors: string[] = []
  const ignore = () => undefined
  const warnings: string[] = []
  const logger: Logger = {
    ...{ debug: ignore, info: ignore },
    warn: (message) => void warnings.push(message),
    error: (message) => void errors.push(message),
  }
  const { inFile = false, ...given } = over
  const deps: AuditDeps = {
    ...{ main, clock, timers: clock, ids: createSequenceIds(), logger, digest: chainDigest, keys: KEYS, checkpoints },
    ...(inFile && { file: file.storage }),
    events: 'privileged',
    ...given,
  }
  return {
    audit: createAudit(deps),
    deps,
    main,
    file: file.storage,
    fault: file.fault,
    clock,
    checkpoints,
    errors,
    warnings,
  }
}

export const flushPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

let requests = 0
export function aRequest(over: Partial<AnsweredRequest> = {}): AnsweredRequest {
  requests += 1
  const origin = { requestId: `r${requests}`, method: 'GET', route: '/v1/agents', ip: '10.0.0.1' }
  return {
    operationId: 'agents.list',
    isPrivileged: false,
    ...{ method: 'GET', route: '/v1/agents', target: undefined, status: 200, durationMs: 3, isReplayed: false },
    principal: { subject: 'alice', tokenId: 'tok_1' },
    requestId: origin.requestId,
    clientAddress: origin.ip,
    origin,
    ...over,
  }
}

const ALICE = { subject: 'alice', tokenId: 'tok_1', scopes: ['admin:*'] }

export const replayWriteOf = (request: AnsweredRequest): Write =>
  auditWrite(
    { ...ALICE, origin: request.origin },
    { at: 1 as never, action: 'runs.replay', target: 'run_1', detail: { raw: true } },
  )

export const entriesOf = (storage: Storage) => storage.audit.read({ afterSeq: 0, limit: 20_000 })
