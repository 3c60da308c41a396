import { type FactRecord, wordsOf } from '@perdure/ports'
import type { Connection } from './connection.ts'
import { findAnyFact } from './fact-store.ts'
import type { FactTable } from './memory-schema.ts'
import { compile, from, placesFor } from './query.ts'
import type { WriteAppliers } from './write-applier.ts'

type FactWrites = WriteAppliers<
  'fact.insert' | 'fact.replace' | 'fact.delete' | 'fact.weigh' | 'fact.embed' | 'fact.keep-vectors'
>

export const factWrites: FactWrites = {
  'fact.insert'({ db }, { type, fact }) {
    const { changes, lastInsertRowid } = db.run(insertFact, toRow(fact))
    if (changes === 0) return { type, current: findAnyFact(db, fact.id) }
    db.run(insertWords, { key: Number(lastInsertRowid), words: indexed(fact.text) })
    return 1
  },
  'fact.replace'({ db }, { type, fact }) {
    const known = db.get(factAt, { id: fact.id, revision: fact.revision - 1 })
    if (known === undefined) return { type, current: findAnyFact(db, fact.id) }
    db.run(replaceFact, toRow(fact))
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

type NewFactRow = Omit<FactTable, 'key' | 'embedded_by'>

const CHANGING = [
  'namespace',
  'importance',
  'weighed_at',
  'fingerprint',
  'source_run_id',
  'source_session_id',
  'updated_at',
  'expires_at',
  'revision',
  'tags',
  'metadata',
  'text',
] as const

const COLUMNS = ['id', 'owner', 'created_at', ...CHANGING] as const

const insertFact = compile<NewFactRow, unknown>((place) =>
  from
    .insertInto('facts')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const replaceFact = compile<NewFactRow, unknown>((place) =>
  from.updateTable('facts').set(placesFor(place, CHANGING)).where('id', '=', place('id')),
)

const factAt = compile<{ id: string; revision: number }, { key: number; text: string }>((place) =>
  from
    .selectFrom('facts')
    .select(['key', 'text'])
    .where('id', '=', place('id'))
    .where('revision', '=', place('revision')),
)

const deleteFact = compile<{ key: number }, unknown>((place) =>
  from.deleteFrom('facts').where('key', '=', place('key')),
)

const weighFact = compile<{ id: string; revision: number; importance: number; at: number }, unknown>((place) =>
  from
    .updateTable('facts')
    .set({ importance: place('importance'), weighed_at: place('at') })
    .where('id', '=', place('id'))
    .where('revision', '=', place('revision')),
)

const insertWords = compile<{ key: number; words: string }, unknown>((place) =>
  from.insertInto('fact_words').values({ rowid: place('key'), words: place('words') }),
)

const deleteWords = compile<{ key: number }, unknown>((place) =>
  from.deleteFrom('fact_words').where('rowid', '=', place('key')),
)

const insertVector = compile<{ key: number; vector: Uint8Array }, unknown>((place) =>
  from.insertInto('fact_vectors').values({ fact_key: place('key'), vector: place('vector') }),
)

const deleteVector = compile<{ key: number }, unknown>((place) =>
  from.deleteFrom('fact_vectors').where('fact_key', '=', place('key')),
)

const markEmbedded = compile<{ key: number; embedder: string }, unknown>((place) =>
  from
    .updateTable('facts')
    .set({ embedded_by: place('embedder') })
    .where('key', '=', place('key')),
)

const unmarkEmbedded = compile<{ key: number }, unknown>((place) =>
  from.updateTable('facts').set({ embedded_by: null }).where('key', '=', place('key')),
)

const deleteForeignVectors = compile<{ embedder: string }, unknown>((place) =>
  from
    .deleteFrom('fact_vectors')
    .where('fact_key', 'in', (eb) =>
      eb.selectFrom('facts').select('key').where('embedded_by', '<>', place('embedder')),
    ),
)

const unmarkForeign = compile<{ embedder: string }, unknown>((place) =>
  from.updateTable('facts').set({ embedded_by: null }).where('embedded_by', '<>', place('embedder')),
)

const toRow = (fact: FactRecord): NewFactRow => ({
  id: fact.id,
  namespace: fact.namespace,
  owner: fact.owner,
  importance: fact.importance,
  weighed_at: fact.weighedAt,
  fingerprint: fact.fingerprint,
  source_run_id: fact.sourceRunId ?? null,
  source_session_id: fact.sourceSessionId ?? null,
  created_at: fact.createdAt,
  updated_at: fact.updatedAt,
  expires_at: fact.expiresAt ?? null,
  revision: fact.revision,
  tags: JSON.stringify(fact.tags),
  metadata: JSON.stringify(fact.metadata),
  text: fact.text,
})
