import { createHash } from 'node:crypto'
import { type AuditEntry, type EpochMs, GENESIS_HASH, linkEntry } from '@berth/ports'
import type { Connection } from './connection.ts'
import { compile, from } from './query.ts'
import type { AuditTable } from './schema.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface AuditRange {
  readonly afterSeq: number
  readonly limit: number
}

export const readAudit = (db: Connection, range: AuditRange): readonly AuditEntry[] =>
  db.all(selectAfter, range).map(toRecord)

export const auditWrites: WriteAppliers<'audit.append'> = {
  'audit.append'({ db }, { entry }) {
    const last = db.get(selectLast, {})
    const place = { seq: (last?.seq ?? 0) + 1, prevHash: last?.hash ?? GENESIS_HASH }
    const linked = linkEntry(entry, place, sha256)
    return db.run(insertEntry, { ...place, hash: linked.hash, entry: linked.entry }).changes
  },
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const selectAfter = compile<AuditRange, AuditTable>((place) =>
  from
    .selectFrom('audit_entries')
    .selectAll()
    .where('seq', '>', place('afterSeq'))
    .orderBy('seq')
    .limit(place('limit')),
)

const selectLast = compile<object, Pick<AuditTable, 'seq' | 'hash'>>(() =>
  from.selectFrom('audit_entries').select(['seq', 'hash']).orderBy('seq', 'desc').limit(1),
)

interface NewRow {
  readonly seq: number
  readonly hash: string
  readonly prevHash: string
  readonly entry: string
}

const insertEntry = compile<NewRow, unknown>((place) =>
  from
    .insertInto('audit_entries')
    .values({ seq: place('seq'), hash: place('hash'), prev_hash: place('prevHash'), entry: place('entry') }),
)

function toRecord({ seq, hash, prev_hash, entry }: AuditTable): AuditEntry {
  const members = JSON.parse(entry)
  return { ...members, at: Date.parse(members.at) as EpochMs, seq, hash, prevHash: prev_hash, entry }
}
