import { type EmissionPart, takeWithinPage } from '@perdure/ports'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { rowBytes } from '../query/page.ts'
import type { WriteAppliers } from '../transaction.ts'
import { EMISSION_COLUMNS, type EmissionRow, toEmission, toEmissionRow } from './emission-row.ts'

export function* listEmissions(db: Db, limit: number): Program<readonly EmissionPart[]> {
  return takeWithinPage(yield* db.each(selectOldest, { limit }), limit, rowBytes).items.map(toEmission)
}

export const emissionWrites: WriteAppliers<'emission.insert' | 'emission.finish'> = {
  *'emission.insert'({ db }, { type, part }) {
    return (yield* db.run(insertPart, toEmissionRow(part))) === 1 ? 1 : { type }
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

const insertPart = compile<EmissionRow, unknown>((param) =>
  from
    .insertInto('emissions')
    .values(paramsFor(param, EMISSION_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const deletePart = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('emissions').where('id', '=', param('id')),
)
