import type { AuditKeys, IdGenerator, UnitOfWork, Write } from '@perdure/ports'
import { createDeedBook, type DeedBook } from './deed-book.ts'

type Append = Extract<Write, { readonly type: 'audit.append' }>

export interface AuditingOptions {
  /** Whether the chain is in a file of its own: entries are staged, and the server that holds it moves them there. */
  readonly isStaged: boolean
  readonly keys: AuditKeys
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly events: 'privileged' | 'all' | 'none'
}

/** For whoever works on the database beside a server: what is appended comes into the server's chain. */
export function auditingUnitOfWork(unitOfWork: UnitOfWork, options: AuditingOptions): UnitOfWork {
  const { isStaged, keys, ids, events } = options
  const deeds = createDeedBook()
  if (isStaged) return withAuditOutbox(unitOfWork, { deeds, newKey: newKeys(ids) })
  return withAuditChain(unitOfWork, { deeds, keys, publish: events !== 'none' })
}

/** Keys that no two processes share. */
export const newKeys =
  ({ randomBytes }: Pick<IdGenerator, 'randomBytes'>): (() => string) =>
  () =>
    Array.from(randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Keys every link that is appended. */
export function withAuditChain(
  unitOfWork: UnitOfWork,
  { deeds, ...chain }: { readonly deeds: DeedBook; readonly keys: AuditKeys; readonly publish: boolean },
): UnitOfWork {
  return rewriting(unitOfWork, deeds, ({ entry, source }) => ({ type: 'audit.append', entry, source, ...chain }))
}

/** Stages what would be appended, for the chain of another database: one commit with the deed still. */
export function withAuditOutbox(
  unitOfWork: UnitOfWork,
  { deeds, newKey }: { readonly deeds: DeedBook; readonly newKey: () => string },
): UnitOfWork {
  return rewriting(unitOfWork, deeds, ({ entry }) => ({ type: 'audit.stage', key: newKey(), entry }))
}

function rewriting(
  unitOfWork: UnitOfWork,
  deeds: DeedBook,
  rewrite: (write: Append) => Extract<Write, { readonly type: 'audit.append' | 'audit.stage' }>,
): UnitOfWork {
  return {
    async commit(writes) {
      if (!writes.some(isAppend)) return unitOfWork.commit(writes)
      const pairs = writes.map((write) => ({ write, rewritten: isAppend(write) ? rewrite(write) : write }))
      const outcome = await unitOfWork.commit(pairs.map(({ rewritten }) => rewritten))
      if (!outcome.committed) return outcome
      for (const { write, rewritten } of pairs) {
        if (!isAppend(write) || write.origin === undefined) continue
        deeds.note(write.origin, { entry: write.entry, key: 'key' in rewritten ? String(rewritten.key) : undefined })
      }
      return outcome
    },
  }
}

const isAppend = (write: Write): write is Append => write.type === 'audit.append'
