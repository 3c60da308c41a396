import {
  type EpochMs,
  type FactFilter,
  type FactRecord,
  type Page,
  type PageQuery,
  type SearchedText,
  searchByWords,
  type VectorQuery,
  type Visibility,
} from '@perdure/ports'
import { isBeyond, type PageValues, pageValues, pageVariant, type Query, toPage } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import {
  type FilterValues,
  filterValues,
  filterVariant,
  isUnexpired,
  MEMORY_ACCESS,
  matchesFilter,
} from './fact-filter.ts'
import { type FactRow, toFact } from './fact-row.ts'

export function findFact(
  db: Connection,
  { id, now, visibility }: { id: string; now: EpochMs; visibility: Visibility },
): FactRecord | undefined {
  const query = db.variant(`fact ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = db.get(query, { ...accessValues(visibility), id, now })
  return row === undefined ? undefined : toFact(row)
}

/** Finds expired facts too. */
export function findAnyFact(db: Connection, id: string): FactRecord | undefined {
  const row = db.get(selectFact, { id })
  return row === undefined ? undefined : toFact(row)
}

export function listFacts(db: Connection, { filter, page }: FactListRequest): Page<FactRecord> {
  const query = db.variant(`facts ${pageVariant(page)} ${filterVariant(filter)}`, () => factListQuery({ filter, page }))
  const rows = db.each(query, { ...pageValues(page), ...filterValues(filter) })
  return toPage(rows, page, { toRecord: toFact, rankOf: (row) => row.created_at })
}

export function searchFacts(
  db: Connection,
  { text, filter, limit }: { text: string; filter: FactFilter; limit: number },
): readonly FactRecord[] {
  const matching = db.variant(`fact search ${filterVariant(filter)}`, () => factSearchQuery(filter))
  const values = filterValues(filter)
  const found = searchByWords<number>(
    {
      matching: (words) => db.all(matching, { ...values, match: matchAny(words) }).map(({ key }) => key),
      having: (word) => db.all(factsWithWord, { match: matchAny([word]) }).map(({ key }) => key),
      texts: (keys) => db.each(factTexts, { keys: JSON.stringify(keys) }),
    },
    text,
    limit,
  )
  return found.flatMap((id) => findAnyFact(db, id) ?? [])
}

/** Quotes each word, so that no word is interpreted as full-text query syntax. */
const matchAny = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' OR ')

export function nearestFacts(
  db: Connection,
  { query, filter, limit }: { query: VectorQuery; filter: FactFilter; limit: number },
): readonly FactRecord[] {
  const { vector, embedder, candidates } = query
  const wanted = Float32Array.from(vector)
  const statement = db.variant(`fact vectors ${filterVariant(filter)}`, () => factVectorQuery(filter))
  const values = { ...filterValues(filter), embedder, limit: candidates }
  const scored = db.all(statement, values).map(({ id, vector }) => ({ id, score: product(wanted, floatsOf(vector)) }))
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .flatMap(({ id }) => findAnyFact(db, id) ?? [])
}

export interface FactListRequest {
  readonly filter: FactFilter
  readonly page: PageQuery
}

const selectFact = compile<{ id: string }, FactRow>((param) =>
  from.selectFrom('facts').selectAll().where('id', '=', param('id')),
)

const findQuery = (visibility: Visibility): Query<AccessValues & { id: string; now: number }, FactRow> =>
  compile((param) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where('id', '=', param('id'))
      .where(isUnexpired(param))
      .where(isVisible(visibility, MEMORY_ACCESS, param)),
  )

export const factListQuery = ({ filter, page }: FactListRequest): Query<FilterValues & PageValues, FactRow> =>
  compile((param) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where(matchesFilter(filter, param))
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit')),
  )

/** Newest first. The cross join makes the word index the outer loop, whatever other index the filter could use. */
export const factSearchQuery = (filter: FactFilter): Query<FilterValues & { match: string }, { key: number }> =>
  compile((param) => ({
    compile: () =>
      sql<{ key: number }>`select facts.key from fact_words cross join facts on facts.key = fact_words.rowid
        where fact_words match ${param('match')} and ${matchesFilter(filter, param)}
        order by fact_words.rowid desc`.compile(from),
  }))

const factsWithWord = compile<{ match: string }, { key: number }>((param) => ({
  compile: () =>
    sql<{ key: number }>`select rowid as key from fact_words where fact_words match ${param('match')}`.compile(from),
}))

/** In the order of the keys: the cross join makes their array the outer loop. */
export const factTexts = compile<{ keys: string }, SearchedText>((param) => ({
  compile: () =>
    sql<SearchedText>`select facts.id, facts.text, facts.created_at as createdAt
      from json_each(${param('keys')}) as wanted cross join facts on facts.key = wanted.value`.compile(from),
}))

type VectorValues = FilterValues & { readonly embedder: string; readonly limit: number }

export const factVectorQuery = (filter: FactFilter): Query<VectorValues, { id: string; vector: Uint8Array }> =>
  compile((param) => ({
    compile: () =>
      sql<{ id: string; vector: Uint8Array }>`select id, vector from facts cross join fact_vectors on fact_key = key
        where ${matchesFilter(filter, param)} and +embedded_by = ${param('embedder')}
        order by created_at desc, id desc limit ${param('limit')}`.compile(from),
  }))

/** Returns a view of the bytes, or a copy if the byte offset is not aligned. */
function floatsOf({ buffer, byteOffset, byteLength }: Uint8Array): Float32Array {
  const isAligned = byteOffset % Float32Array.BYTES_PER_ELEMENT === 0
  const start = isAligned ? byteOffset : 0
  const bytes = isAligned ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)
  return new Float32Array(bytes, start, byteLength / Float32Array.BYTES_PER_ELEMENT)
}

function product(a: Float32Array, b: Float32Array): number {
  const length = Math.min(a.length, b.length)
  let sum = 0
  for (let index = 0; index < length; index++) sum += (a[index] as number) * (b[index] as number)
  return sum
}
