import type { AuditKeys, IdGenerator, UnitOfWork, Write } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { createRequestLog, type RequestLog } from './request-log.ts'

type Append = Extract<Write, { readonly type: 'audit.append' }>

export interface AuditingOptions {
  /** Whether the chain is in its own file. If so, entries are staged, and the server moves them to that file. */
  readonly isStaged: boolean
  readonly keys: AuditKeys
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly events: ServerConfig['audit']['events']
}

/**
 * For a process that writes to the database of a running server: adds the process's audit entries to the server's
 * chain.
 */
export function auditingUnitOfWork(unitOfWork: UnitOfWork, options: AuditingOptions): UnitOfWork {
  const { isStaged, keys, ids, events } = options
  const requestLog = createRequestLog()
  if (isStaged) return withAuditOutbox(unitOfWork, { requestLog, newKey: newKeys(ids) })
  return withAuditChain(unitOfWork, { requestLog, keys, publish: events !== 'none' })
}

/** Generates random keys for staged entries; the keys are unique across processes. */
export const newKeys =
  ({ randomBytes }: Pick<IdGenerator, 'randomBytes'>): (() => string) =>
  () =>
    Array.from(randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Adds the signing keys to each write that appends an audit entry. */
export function withAuditChain(
  unitOfWork: UnitOfWork,
  { requestLog, ...chain }: { readonly requestLog: RequestLog; readonly keys: AuditKeys; readonly publish: boolean },
): UnitOfWork {
  return rewriting(unitOfWork, requestLog, ({ entry, source }) => ({ type: 'audit.append', entry, source, ...chain }))
}

/**
 * Stages entries for a chain in another database. An entry is staged in the same commit as the action that it
 * describes.
 */
export function withAuditOutbox(
  unitOfWork: UnitOfWork,
  { requestLog, newKey }: { readonly requestLog: RequestLog; readonly newKey: () => string },
): UnitOfWork {
  return rewriting(unitOfWork, requestLog, ({ entry }) => ({ type: 'audit.stage', key: newKey(), entry }))
}

function rewriting(
  unitOfWork: UnitOfWork,
  requestLog: RequestLog,
  rewrite: (write: Append) => Extract<Write, { readonly type: 'audit.append' | 'audit.stage' }>,
): UnitOfWork {
  const commitRewritten = async (writes: readonly Write[]) => {
    const pairs = writes.map((write) => ({ write, rewritten: isAppend(write) ? rewrite(write) : write }))
    const outcome = await unitOfWork.commit(pairs.map(({ rewritten }) => rewritten))
    if (!outcome.committed) return outcome
    for (const { write, rewritten } of pairs) {
      if (!isAppend(write) || write.origin === undefined) continue
      requestLog.add(write.origin, {
        entry: write.entry,
        key: 'key' in rewritten ? String(rewritten.key) : undefined,
      })
    }
    return outcome
  }
  return { commit: (writes) => (writes.some(isAppend) ? commitRewritten(writes) : unitOfWork.commit(writes)) }
}

const isAppend = (write: Write): write is Append => write.type === 'audit.append'
