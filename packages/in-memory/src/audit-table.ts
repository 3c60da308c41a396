import { createHash, createHmac } from 'node:crypto'
import {
  type AuditEntry,
  type AuditHead,
  type AuditLog,
  type AuditState,
  appendEntry,
  auditEvent,
  baseMac,
  type ChainDigest,
  NO_AUDIT_KEY,
  type StagedAuditEntry,
} from '@perdure/ports'
import { putEntry } from './undo-log.ts'
import type { Table, Transaction, WriteAppliers, WriteOf, WritesOf } from './write-applier.ts'

const digest: ChainDigest = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
}

export function createAuditTable(events: Pick<WriteAppliers, 'event.append'>): Table<AuditLog, WritesOf<'audit'>> {
  let entries: readonly AuditEntry[] = []
  const heads = new Map<'head' | 'base', AuditHead>()
  const outbox = new Map<string, StagedAuditEntry>()
  const sources = new Map<string, true>()

  const after = (afterSeq: number, limit: number) => entries.filter(({ seq }) => seq > afterSeq).slice(0, limit)
  const replaceEntries = (next: readonly AuditEntry[], { undo }: Transaction) => {
    const before = entries
    undo.push(() => {
      entries = before
    })
    entries = next
  }
  const state = (): AuditState => {
    const last = entries.at(-1)
    return {
      last: last === undefined ? undefined : { seq: last.seq, hash: last.hash },
      head: heads.get('head'),
      base: heads.get('base'),
    }
  }
  const append = ({ entry, source, publish, keys = NO_AUDIT_KEY }: WriteOf<'audit.append'>, tx: Transaction) => {
    if (source !== undefined) {
      if (sources.has(source)) return 0
      putEntry(sources, [source, true], tx.undo)
    }
    const { links, head } = appendEntry(state(), entry, { keys, digest })
    replaceEntries([...entries, ...links.map((link) => Object.freeze(link))], tx)
    putEntry(heads, ['head', head], tx.undo)
    if (publish === true) events['event.append']({ type: 'event.append', events: links.map(auditEvent) }, tx)
    return links.length
  }

  return {
    store: {
      read: async ({ afterSeq, limit }) => after(afterSeq, limit),
      readBefore: async ({ beforeSeq, limit }) =>
        entries
          .filter(({ seq }) => seq < beforeSeq)
          .slice(-limit)
          .reverse(),
      links: async ({ afterSeq, limit }) =>
        after(afterSeq, limit).map(({ seq, hash, prevHash, entry }) => ({ seq, hash, prevHash, entry })),
      state: async () => state(),
      staged: async (limit) => [...outbox.values()].slice(0, limit),
    },
    appliers: {
      'audit.append': append,
      'audit.stage'({ key, entry }, { undo }) {
        if (outbox.has(key)) return 0
        putEntry(outbox, [key, { key, entry }], undo)
        return 1
      },
      'audit.release'({ keys }, { undo }) {
        const held = (map: Map<string, unknown>) => keys.filter((key) => map.has(key)).length
        const count = held(outbox) + held(sources)
        for (const key of keys) {
          putEntry(outbox, [key, undefined], undo)
          putEntry(sources, [key, undefined], undo)
        }
        return count
      },
      'audit.prune'({ throughSeq, keys = NO_AUDIT_KEY }, tx) {
        const location = entries.find(({ seq }) => seq === throughSeq)
        if (location === undefined) return 0
        const { seq, hash } = location
        const before = entries.length
        putEntry(heads, ['base', { seq, hash, mac: baseMac(digest, keys[0], location) }], tx.undo)
        replaceEntries(
          entries.filter((entry) => entry.seq > throughSeq),
          tx,
        )
        return before - entries.length
      },
    },
  }
}
