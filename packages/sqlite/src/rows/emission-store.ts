import { type EmissionPart, takeWithinPage } from '@perdure/ports'
import { EMISSION_COLUMNS, type EmissionRow, paramsFor, rowBytes, toEmission, toEmissionRow } from '@perdure/sql'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { WriteAppliers } from './write-applier.ts'

export const listEmissions = (db: Connection, limit: number): readonly EmissionPart[] =>
  takeWithinPage(db.each(selectOldest, { limit }), limit, rowBytes).items.map(toEmission)

export const emissionWrites: WriteAppliers<'emission.insert' | 'emission.finish'> = {
  'emission.insert': ({ db }, { type, part }) => (db.run(insertPart, toEmissionRow(part)).changes === 1 ? 1 : { type }),
  'emission.finish': ({ db }, { type, id }) => (db.run(deletePart, { id }).changes === 1 ? 1 : { type }),
}

const selectOldest = compile<{ limit: number }, EmissionRow>((param) =>
  from.selectFrom('emissions').selectAll().orderBy('key').limit(param('limit')),
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
