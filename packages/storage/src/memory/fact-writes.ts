import type { FactRecord } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { CHANGING_FACT_COLUMNS, FACTS, type FactRow } from './fact-row.ts'
import { findAnyFact } from './fact-store.ts'

export const factWrites: WriteAppliers<WritesOf<'fact'>> = {
  *'fact.insert'({ db }, { type, fact }) {
    const inserted = yield* db.get(insertFact, toIndexedRow(db, fact))
    if (inserted === undefined) return { type, current: yield* findAnyFact(db, fact.id) }
    yield* db.dialect.facts.addWords(db, { key: inserted.key, text: fact.text })
    return 1
  },
  *'fact.replace'({ db }, { type, fact }) {
    const known = yield* db.get(factAt, { id: fact.id, revision: fact.revision - 1 })
    if (known === undefined) return { type, current: yield* findAnyFact(db, fact.id) }
    yield* db.run(replaceFact, toIndexedRow(db, fact))
    if (known.text !== fact.text) yield* reindex(db, known, fact.text)
    return 1
  },
  *'fact.delete'({ db }, { type, id, revision }) {
    const deleted = yield* db.get(deleteFact, { id, revision })
    if (deleted === undefined) return { type, current: yield* findAnyFact(db, id) }
    yield* db.dialect.facts.removeWords(db, deleted.key)
    return 1
  },
  *'fact.weigh'({ db }, { id, revision, importance, at }) {
    return yield* db.run(weighFact, { id, revision, importance, at })
  },
  *'fact.embed'({ db }, { id, revision, embedder, vector }) {
    const known = yield* db.get(factAt, { id, revision })
    if (known === undefined) return 0
    yield* db.run(markEmbedded, { ...known, embedder })
    yield* db.run(deleteVector, known)
    if (vector !== undefined) yield* db.run(insertVector, { ...known, vector: toBytes(vector) })
    return 1
  },
  *'fact.keep-vectors'({ db }, { embedder }) {
    yield* db.run(deleteForeignVectors, { embedder })
    return yield* db.run(unmarkForeign, { embedder })
  },
}

function* reindex(db: Db, known: FactKeys, text: string): Program<void> {
  const { facts } = db.dialect
  yield* facts.removeWords(db, known.key)
  yield* facts.addWords(db, { key: known.key, text })
  yield* db.run(deleteVector, known)
  yield* db.run(unmarkEmbedded, known)
}

interface IndexedRow extends FactRow {
  readonly words?: readonly string[]
}

const toIndexedRow = ({ dialect }: Db, fact: FactRecord): IndexedRow => ({
  ...FACTS.toRow(fact),
  ...dialect.facts.toColumns(fact.text),
})

const toBytes = (vector: readonly number[]): Uint8Array => Buffer.from(Float32Array.from(vector).buffer)

/** A fact, by its id and by its number. */
interface FactKeys {
  readonly id: string
  readonly key: number
}

const insertFact = compile<IndexedRow, { key: number }>((param, { facts }) =>
  from
    .insertInto('facts')
    .values(paramsFor(param, [...FACTS.columns, ...facts.columns]))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('key'),
)

const replaceFact = compile<IndexedRow, unknown>((param, { facts }) =>
  from
    .updateTable('facts')
    .set(paramsFor(param, [...CHANGING_FACT_COLUMNS, ...facts.columns]))
    .where('id', '=', param('id')),
)

const factAt = compile<{ id: string; revision: number }, FactKeys & { readonly text: string }>((param, dialect) =>
  from
    .selectFrom('facts')
    .select(['id', 'key', 'text'])
    .$if(dialect.locksRows, (query) => query.forUpdate())
    .where('id', '=', param('id'))
    .where('revision', '=', param('revision')),
)

const deleteFact = compile<{ id: string; revision: number }, { key: number }>((param) =>
  from.deleteFrom('facts').where('id', '=', param('id')).where('revision', '=', param('revision')).returning('key'),
)

const weighFact = compile<{ id: string; revision: number; importance: number; at: number }, unknown>((param) =>
  from
    .updateTable('facts')
    .set({ importance: param('importance'), weighed_at: param('at') })
    .where('id', '=', param('id'))
    .where('revision', '=', param('revision')),
)

const insertVector = compile<FactKeys & { vector: Uint8Array }, unknown>(
  (param, { facts, rowId }) => sql`insert into fact_vectors (${sql.ref(facts.reference)}, vector)
    values (${param(rowId)}, ${param('vector')})`,
)

const deleteVector = compile<FactKeys, unknown>((param, { facts, rowId }) =>
  from.deleteFrom('fact_vectors').where(facts.reference, '=', param(rowId)),
)

const markEmbedded = compile<FactKeys & { embedder: string }, unknown>((param, { rowId }) =>
  from
    .updateTable('facts')
    .set({ embedded_by: param('embedder') })
    .where(rowId, '=', param(rowId)),
)

const unmarkEmbedded = compile<FactKeys, unknown>((param, { rowId }) =>
  from.updateTable('facts').set({ embedded_by: null }).where(rowId, '=', param(rowId)),
)

const deleteForeignVectors = compile<{ embedder: string }, unknown>((param, { facts, rowId }) =>
  from
    .deleteFrom('fact_vectors')
    .where(facts.reference, 'in', (eb) =>
      eb.selectFrom('facts').select(rowId).where('embedded_by', '<>', param('embedder')),
    ),
)

const unmarkForeign = compile<{ embedder: string }, unknown>((param) =>
  from.updateTable('facts').set({ embedded_by: null }).where('embedded_by', '<>', param('embedder')),
)
