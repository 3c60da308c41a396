import { wordsOf } from '@perdure/ports'
import { paramsFor } from '@perdure/sql'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import { CHANGING_FACT_COLUMNS, FACT_COLUMNS, type NewFactRow, toFactRow } from './fact-row.ts'
import { findAnyFact } from './fact-store.ts'
import type { WriteAppliers } from './write-applier.ts'

type FactWrites = WriteAppliers<
  'fact.insert' | 'fact.replace' | 'fact.delete' | 'fact.weigh' | 'fact.embed' | 'fact.keep-vectors'
>

export const factWrites: FactWrites = {
  'fact.insert'({ db }, { type, fact }) {
    const { changes, lastInsertRowid } = db.run(insertFact, toFactRow(fact))
    if (changes === 0) return { type, current: findAnyFact(db, fact.id) }
    db.run(insertWords, { key: Number(lastInsertRowid), words: indexed(fact.text) })
    return 1
  },
  'fact.replace'({ db }, { type, fact }) {
    const known = db.get(factAt, { id: fact.id, revision: fact.revision - 1 })
    if (known === undefined) return { type, current: findAnyFact(db, fact.id) }
    db.run(replaceFact, toFactRow(fact))
    if (known.text !== fact.text) reindex(db, known.key, fact.text)
    return 1
  },
  'fact.delete'({ db }, { type, id, revision }) {
    const known = db.get(factAt, { id, revision })
    if (known === undefined) return { type, current: findAnyFact(db, id) }
    db.run(deleteWords, { key: known.key })
    db.run(deleteFact, { key: known.key })
    return 1
  },
  'fact.weigh': ({ db }, { id, revision, importance, at }) =>
    db.run(weighFact, { id, revision, importance, at }).changes,
  'fact.embed'({ db }, { id, revision, embedder, vector }) {
    const known = db.get(factAt, { id, revision })
    if (known === undefined) return 0
    db.run(markEmbedded, { key: known.key, embedder })
    db.run(deleteVector, { key: known.key })
    if (vector !== undefined) db.run(insertVector, { key: known.key, vector: toBytes(vector) })
    return 1
  },
  'fact.keep-vectors'({ db }, { embedder }) {
    db.run(deleteForeignVectors, { embedder })
    return db.run(unmarkForeign, { embedder }).changes
  },
}

function reindex(db: Connection, key: number, text: string): void {
  db.run(deleteWords, { key })
  db.run(insertWords, { key, words: indexed(text) })
  db.run(deleteVector, { key })
  db.run(unmarkEmbedded, { key })
}

const indexed = (text: string): string => wordsOf(text).join(' ')

const toBytes = (vector: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(vector).buffer)

const insertFact = compile<NewFactRow, unknown>((param) =>
  from
    .insertInto('facts')
    .values(paramsFor(param, FACT_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const replaceFact = compile<NewFactRow, unknown>((param) =>
  from.updateTable('facts').set(paramsFor(param, CHANGING_FACT_COLUMNS)).where('id', '=', param('id')),
)

const factAt = compile<{ id: string; revision: number }, { key: number; text: string }>((param) =>
  from
    .selectFrom('facts')
    .select(['key', 'text'])
    .where('id', '=', param('id'))
    .where('revision', '=', param('revision')),
)

const deleteFact = compile<{ key: number }, unknown>((param) =>
  from.deleteFrom('facts').where('key', '=', param('key')),
)

const weighFact = compile<{ id: string; revision: number; importance: number; at: number }, unknown>((param) =>
  from
    .updateTable('facts')
    .set({ importance: param('importance'), weighed_at: param('at') })
    .where('id', '=', param('id'))
    .where('revision', '=', param('revision')),
)

const insertWords = compile<{ key: number; words: string }, unknown>((param) =>
  from.insertInto('fact_words').values({ rowid: param('key'), words: param('words') }),
)

const deleteWords = compile<{ key: number }, unknown>((param) =>
  from.deleteFrom('fact_words').where('rowid', '=', param('key')),
)

const insertVector = compile<{ key: number; vector: Uint8Array }, unknown>((param) =>
  from.insertInto('fact_vectors').values({ fact_key: param('key'), vector: param('vector') }),
)

const deleteVector = compile<{ key: number }, unknown>((param) =>
  from.deleteFrom('fact_vectors').where('fact_key', '=', param('key')),
)

const markEmbedded = compile<{ key: number; embedder: string }, unknown>((param) =>
  from
    .updateTable('facts')
    .set({ embedded_by: param('embedder') })
    .where('key', '=', param('key')),
)

const unmarkEmbedded = compile<{ key: number }, unknown>((param) =>
  from.updateTable('facts').set({ embedded_by: null }).where('key', '=', param('key')),
)

const deleteForeignVectors = compile<{ embedder: string }, unknown>((param) =>
  from
    .deleteFrom('fact_vectors')
    .where('fact_key', 'in', (eb) =>
      eb.selectFrom('facts').select('key').where('embedded_by', '<>', param('embedder')),
    ),
)

const unmarkForeign = compile<{ embedder: string }, unknown>((param) =>
  from.updateTable('facts').set({ embedded_by: null }).where('embedded_by', '<>', param('embedder')),
)
