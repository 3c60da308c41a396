import { type EmissionStore, takeWithinPage } from '@perdure/ports'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { rowBytes } from '../query/page.ts'
import { deleteBy, insertInto } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { EMISSIONS, type EmissionRow } from './emission-row.ts'

export const emissionReads: Reads<EmissionStore> = {
  *list(db, limit) {
    return takeWithinPage(yield* db.each(selectOldest, { limit }), limit, rowBytes).items.map(EMISSIONS.toRecord)
  },
}

export const emissionWrites: WriteAppliers<WritesOf<'emission'>> = {
  *'emission.insert'({ db }, { type, part }) {
    return (yield* db.run(insertPart, EMISSIONS.toRow(part))) === 1 ? 1 : { type }
  },
  *'emission.finish'({ db }, { type, id }) {
    return (yield* db.run(deletePart, { id })) === 1 ? 1 : { type }
  },
}

const selectOldest = compile<{ limit: number }, EmissionRow>((param, dialect) =>
  dialect.bounded(
    from.selectFrom('emissions').selectAll().orderBy('key').limit(param('limit')).$castTo<EmissionRow>(),
    ['waits', 'payload'],
  ),
)

const insertPart = insertInto<EmissionRow>('emissions', EMISSIONS.columns, 'id')
const deletePart = deleteBy('id', 'emissions')
