import { createHash } from 'node:crypto'
import { type AuditEntry, type AuditLog, GENESIS_HASH, linkEntry } from '@berth/ports'
import type { WriteAppliers } from './write-applier.ts'

export interface AuditTable {
  readonly log: AuditLog
  readonly appliers: Pick<WriteAppliers, 'audit.append'>
}

export function createAuditTable(): AuditTable {
  const entries: AuditEntry[] = []

  return {
    log: {
      read: async ({ afterSeq, limit }) => entries.slice(Math.max(0, afterSeq), Math.max(0, afterSeq) + limit),
    },
    appliers: {
      'audit.append'({ entry }, { undo }) {
        const place = { seq: entries.length + 1, prevHash: entries.at(-1)?.hash ?? GENESIS_HASH }
        entries.push(Object.freeze(linkEntry(entry, place, sha256)))
        undo.push(() => entries.pop())
        return 1
      },
    },
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
