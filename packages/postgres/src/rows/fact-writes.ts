import { paramsFor } from '@perdure/sql'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { CHANGING_FACT_COLUMNS, FACT_COLUMNS, type NewFactRow, toFactRow } from './fact-row.ts'
import { findAnyFact } from './fact-store.ts'
import type { WriteAppliers } from './write-applier.ts'

type FactWrites = WriteAppliers<
  'fact.insert' | 'fact.replace' | 'fact.delete' | 'fact.weigh' | 'fact.embed' | 'fact.keep-vectors'
>

export const factWrites: FactWrites = {
  async 'fact.insert'({ db }, { type, fact }) {
    const { changes } = await db.run(insertFact, toFactRow(fact))
    return changes === 1 ? 1 : { type, current: await findAnyFact(db, fact.id) }
  },
  async 'fact.replace'({ db }, { type, fact }) {
    const known = await db.get(factAt, { id: fact.id, revision: fact.revision - 1 })
    if (known === undefined) return { type, current: await findAnyFact(db, fact.id) }
    await db.run(replaceFact, toFactRow(fact))
    if (known.text !== fact.text) await forgetVector(db, fact.id)
    return 1
  },
  async 'fact.delete'({ db }, { type, id, revision }) {
    const { changes } = await db.run(deleteFact, { id, revision })
    return changes === 1 ? 1 : { type, current: await findAnyFact(db, id) }
  },
  'fact.weigh': async ({ db }, { id, revision, importance, at }) =>
    (await db.run(weighFact, { id, revision, importance, at })).changes,
  async 'fact.embed'({ db }, { id, revision, embedder, vector }) {
    if ((await db.get(factAt, { id, revision })) === undefined) return 0
    await db.run(markEmbedded, { id, embedder })
    await db.run(deleteVector, { id })
    if (vector !== undefined) await db.run(insertVector, { id, vector: toBytes(vector) })
    return 1
  },
  async 'fact.keep-vectors'({ db }, { embedder }) {
    await db.run(deleteForeignVectors, { embedder })
    return (await db.run(unmarkForeign, { embedder })).changes
  },
}

async function forgetVector(db: Connection, id: string): Promise<void> {
  await db.run(deleteVector, { id })
  await db.run(unmarkEmbedded, { id })
}

const toBytes = (vector: readonly number[]): Uint8Array => Buffer.from(Float32Array.from(vector).buffer)

const insertFact = compile<NewFactRow, unknown>((param) =>
  from
    .insertInto('facts')
    .values(paramsFor(param, FACT_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const replaceFact = compile<NewFactRow, unknown>((param) =>
  from.updateTable('facts').set(paramsFor(param, CHANGING_FACT_COLUMNS)).where('id', '=', param('id')),
)

const factAt = compile<{ id: string; revision: number }, { text: string }>((param) =>
  from
    .selectFrom('facts')
    .select('text')
    .forUpdate()
    .where('id', '=', param('id'))
    .where('revision', '=', param('revision')),
)

const deleteFact = compile<{ id: string; revision: number }, unknown>((param) =>
  from.deleteFrom('facts').where('id', '=', param('id')).where('revision', '=', param('revision')),
)

const weighFact = compile<{ id: string; revision: number; importance: number; at: number }, unknown>((param) =>
  from
    .updateTable('facts')
    .set({ importance: param('importance'), weighed_at: param('at') })
    .where('id', '=', param('id'))
    .where('revision', '=', param('revision')),
)

const insertVector = compile<{ id: string; vector: Uint8Array }, unknown>((param) =>
  from.insertInto('fact_vectors').values({ fact_id: param('id'), vector: param('vector') }),
)

const deleteVector = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('fact_vectors').where('fact_id', '=', param('id')),
)

const markEmbedded = compile<{ id: string; embedder: string }, unknown>((param) =>
  from
    .updateTable('facts')
    .set({ embedded_by: param('embedder') })
    .where('id', '=', param('id')),
)

const unmarkEmbedded = compile<{ id: string }, unknown>((param) =>
  from.updateTable('facts').set({ embedded_by: null }).where('id', '=', param('id')),
)

const deleteForeignVectors = compile<{ embedder: string }, unknown>((param) =>
  from
    .deleteFrom('fact_vectors')
    .where('fact_id', 'in', (eb) => eb.selectFrom('facts').select('id').where('embedded_by', '<>', param('embedder'))),
)

const unmarkForeign = compile<{ embedder: string }, unknown>((param) =>
  from.updateTable('facts').set({ embedded_by: null }).where('embedded_by', '<>', param('embedder')),
)
