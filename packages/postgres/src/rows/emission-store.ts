import { type EmissionPart, type EpochMs, type JsonText, takeWithinPage } from '@perdure/ports'
import type { Expression, Selectable } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { bounded } from '../query/bounded.ts'
import { compile, from, paramsFor } from '../query/compile.ts'
import { rowBytes } from '../query/page.ts'
import type { EmissionTable } from '../query/schema.ts'
import type { WriteAppliers } from './write-applier.ts'

export const listEmissions = async (db: Connection, limit: number): Promise<readonly EmissionPart[]> =>
  takeWithinPage(await db.all(selectOldest, { limit }), limit, rowBytes).items.map(toRecord)

export const emissionWrites: WriteAppliers<'emission.insert' | 'emission.finish'> = {
  'emission.insert': async ({ db }, { type, part }) =>
    (await db.run(insertPart, toRow(part))).changes === 1 ? 1 : { type },
  'emission.finish': async ({ db }, { type, id }) => ((await db.run(deletePart, { id })).changes === 1 ? 1 : { type }),
}

type NewRow = Omit<EmissionTable, 'key'>

const COLUMNS = ['id', 'event_name', 'created_at', 'waits', 'payload'] as const

const selectOldest = compile<{ limit: number }, Selectable<EmissionTable>>((param) =>
  bounded(
    from.selectFrom('emissions').selectAll().orderBy('key').limit(param('limit')) as unknown as Expression<
      Selectable<EmissionTable>
    >,
    ['waits', 'payload'],
  ),
)

const insertPart = compile<NewRow, unknown>((param) =>
  from
    .insertInto('emissions')
    .values(paramsFor(param, COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const deletePart = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('emissions').where('id', '=', param('id')),
)

const toRow = ({ id, eventName, createdAt, waits, payload }: EmissionPart): NewRow => ({
  id,
  event_name: eventName,
  created_at: createdAt,
  waits: JSON.stringify(waits.map(({ runId, seq }) => [runId, seq])),
  payload,
})

const toRecord = (row: Selectable<EmissionTable>): EmissionPart => ({
  id: row.id,
  eventName: row.event_name,
  createdAt: row.created_at as EpochMs,
  waits: (JSON.parse(row.waits) as [string, number][]).map(([runId, seq]) => ({ runId, seq })),
  payload: row.payload as JsonText,
})
