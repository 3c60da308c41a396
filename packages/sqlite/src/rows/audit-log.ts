import type { AuditEntry, AuditHead, AuditLink, AuditState, EpochMs, StagedAuditEntry } from '@perdure/ports'
import type { AuditHeadTable, AuditOutboxTable, AuditTable } from '@perdure/sql'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'

export interface AuditRange {
  readonly afterSeq: number
  readonly limit: number
}

export interface AuditRangeBefore {
  readonly beforeSeq: number
  readonly limit: number
}

export const readAudit = (db: Connection, range: AuditRange): readonly AuditEntry[] =>
  db.all(selectAfter, range).map(toRecord)

export const readAuditBefore = (db: Connection, range: AuditRangeBefore): readonly AuditEntry[] =>
  db.all(selectBefore, range).map(toRecord)

export const readAuditLinks = (db: Connection, range: AuditRange): readonly AuditLink[] =>
  db.all(selectAfter, range).map(toLink)

export const readAuditState = (db: Connection): AuditState => ({
  last: db.get(selectLast, {}),
  head: readHead(db, 'head'),
  base: readHead(db, 'base'),
})

export const readStaged = (db: Connection, limit: number): readonly StagedAuditEntry[] =>
  db.all(selectStaged, { limit }).map(({ key, entry }) => ({ key, entry: JSON.parse(entry) }))

const readHead = (db: Connection, name: AuditHeadTable['name']): AuditHead | undefined => db.get(selectHead, { name })

const selectAfter = compile<AuditRange, AuditTable>((param) =>
  from
    .selectFrom('audit_entries')
    .selectAll()
    .where('seq', '>', param('afterSeq'))
    .orderBy('seq')
    .limit(param('limit')),
)

const selectBefore = compile<AuditRangeBefore, AuditTable>((param) =>
  from
    .selectFrom('audit_entries')
    .selectAll()
    .where('seq', '<', param('beforeSeq'))
    .orderBy('seq', 'desc')
    .limit(param('limit')),
)

const selectLast = compile<object, Pick<AuditTable, 'seq' | 'hash'>>(() =>
  from.selectFrom('audit_entries').select(['seq', 'hash']).orderBy('seq', 'desc').limit(1),
)

const selectHead = compile<Pick<AuditHeadTable, 'name'>, AuditHead>((param) =>
  from.selectFrom('audit_heads').select(['seq', 'hash', 'mac']).where('name', '=', param('name')),
)

const selectStaged = compile<{ readonly limit: number }, Pick<AuditOutboxTable, 'key' | 'entry'>>((param) =>
  from.selectFrom('audit_outbox').select(['key', 'entry']).orderBy('position').limit(param('limit')),
)

const toLink = ({ seq, hash, prev_hash, entry }: AuditTable): AuditLink => ({ seq, hash, prevHash: prev_hash, entry })

function toRecord(row: AuditTable): AuditEntry {
  const members = JSON.parse(row.entry)
  return { ...members, at: Date.parse(members.at) as EpochMs, ...toLink(row) }
}
