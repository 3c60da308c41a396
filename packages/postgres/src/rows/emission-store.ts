import { type EmissionPart, takeWithinPage } from '@perdure/ports'
import { EMISSION_COLUMNS, type EmissionRow, paramsFor, rowBytes, toEmission, toEmissionRow } from '@perdure/sql'
import type { Expression } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { bounded } from '../query/bounded.ts'
import { compile, from } from '../query/compile.ts'
import type { WriteAppliers } from './write-applier.ts'

export const listEmissions = async (db: Connection, limit: number): Promise<readonly EmissionPart[]> =>
  takeWithinPage(await db.all(selectOldest, { limit }), limit, rowBytes).items.map(toEmission)

export const emissionWrites: WriteAppliers<'emission.insert' | 'emission.finish'> = {
  'emission.insert': async ({ db }, { type, part }) =>
    (await db.run(insertPart, toEmissionRow(part))).changes === 1 ? 1 : { type },
  'emission.finish': async ({ db }, { type, id }) => ((await db.run(deletePart, { id })).changes === 1 ? 1 : { type }),
}

const selectOldest = compile<{ limit: number }, EmissionRow>((param) =>
  bounded(
    from.selectFrom('emissions').selectAll().orderBy('key').limit(param('limit')) as unknown as Expression<EmissionRow>,
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
