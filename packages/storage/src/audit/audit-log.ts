import type { AuditEntry, AuditHead, AuditLink, AuditLog, EpochMs } from '@perdure/ports'
import { sql } from 'kysely'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import type { Reads } from '../reads.ts'
import type { AuditHeadTable, AuditOutboxTable, AuditTable } from './audit-tables.ts'

export const auditReads: Reads<AuditLog> = {
  *read(db, range) {
    return (yield* db.all(selectAfter, range)).map(toRecord)
  },
  *readBefore(db, range) {
    return (yield* db.all(selectBefore, range)).map(toRecord)
  },
  *links(db, range) {
    return (yield* db.all(selectAfter, range)).map(toLink)
  },
  /** One statement, so that the rows are of one snapshot. */
  *state(db) {
    const rows = yield* db.all(SELECT_STATE, {})
    const rowOf = (name: string) => rows.find((row) => row.name === name)
    const last = rowOf('last')
    return {
      last: last && { seq: last.seq, hash: last.hash },
      head: toHead(rowOf('head')),
      base: toHead(rowOf('base')),
    }
  },
  *staged(db, limit) {
    return (yield* db.all(selectStaged, { limit })).map(({ key, entry }) => ({ key, entry: JSON.parse(entry) }))
  },
}

const toHead = (row: StateRow | undefined): AuditHead | undefined =>
  row && { seq: row.seq, hash: row.hash, mac: row.mac }

const selectAfter = compile<{ afterSeq: number; limit: number }, AuditTable>((param) =>
  from
    .selectFrom('audit_entries')
    .selectAll()
    .where('seq', '>', param('afterSeq'))
    .orderBy('seq')
    .limit(param('limit')),
)

const selectBefore = compile<{ beforeSeq: number; limit: number }, AuditTable>((param) =>
  from
    .selectFrom('audit_entries')
    .selectAll()
    .where('seq', '<', param('beforeSeq'))
    .orderBy('seq', 'desc')
    .limit(param('limit')),
)

interface StateRow extends AuditHead {
  readonly name: 'last' | AuditHeadTable['name']
}

const SELECT_STATE = compile<object, StateRow>(
  () => sql`select * from (
      select 'last' as name, seq, hash, '' as mac from audit_entries order by seq desc limit 1) as newest
    union all select name, seq, hash, mac from audit_heads`,
)

const selectStaged = compile<{ readonly limit: number }, Pick<AuditOutboxTable, 'key' | 'entry'>>((param) =>
  from.selectFrom('audit_outbox').select(['key', 'entry']).orderBy('position').limit(param('limit')),
)

const toLink = ({ seq, hash, prev_hash, entry }: AuditTable): AuditLink => ({ seq, hash, prevHash: prev_hash, entry })

function toRecord(row: AuditTable): AuditEntry {
  const members = JSON.parse(row.entry)
  return { ...members, at: Date.parse(members.at) as EpochMs, ...toLink(row) }
}
