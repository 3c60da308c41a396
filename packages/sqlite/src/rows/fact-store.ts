import {
  type EpochMs,
  type FactFilter,
  type FactRecord,
  type Page,
  type PageQuery,
  type VectorQuery,
  type Visibility,
  wordsOf,
} from '@perdure/ports'
import { sql } from 'kysely'
import type { Connection } from './connection.ts'
import {
  type FactRow,
  type FilterValues,
  filterValues,
  filterVariant,
  isAlive,
  MEMORY_ACCESS,
  matchesFilter,
  toFact,
} from './fact-rows.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from './page.ts'
import { compile, from, type Query } from './query.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from './row-visibility.ts'

export function findFact(
  db: Connection,
  { id, now, visibility }: { id: string; now: EpochMs; visibility: Visibility },
): FactRecord | undefined {
  const query = db.variant(`fact ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = db.get(query, { ...accessValues(visibility), id, now })
  return row === undefined ? undefined : toFact(row)
}

/** Also one that has expired. */
export function findAnyFact(db: Connection, id: string): FactRecord | undefined {
  const row = db.get(selectFact, { id })
  return row === undefined ? undefined : toFact(row)
}

export function listFacts(db: Connection, { filter, page }: FactListRequest): Page<FactRecord> {
  const query = db.variant(`facts ${pageVariant(page)} ${filterVariant(filter)}`, () => factListQuery({ filter, page }))
  const rows = db.all(query, { ...pageValues(page), ...filterValues(filter) })
  return toPage(rows, page, { toRecord: toFact, rankOf: (row) => row.created_at })
}

/** The words are quoted one by one: nothing in a text is a query language. */
export function searchFacts(
  db: Connection,
  { text, filter, limit }: { text: string; filter: FactFilter; limit: number },
): readonly FactRecord[] {
  const words = [...new Set(wordsOf(text))].slice(0, MAX_WORDS)
  if (words.length === 0) return []
  const match = words.map((word) => `"${word}"`).join(' OR ')
  const query = db.variant(`fact search ${filterVariant(filter)}`, () => factSearchQuery(filter))
  return db.all(query, { ...filterValues(filter), match, limit }).map(toFact)
}

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

const MAX_WORDS = 64

export interface FactListRequest {
  readonly filter: FactFilter
  readonly page: PageQuery
}

const selectFact = compile<{ id: string }, FactRow>((place) =>
  from.selectFrom('facts').selectAll().where('id', '=', place('id')),
)

const findQuery = (visibility: Visibility): Query<AccessValues & { id: string; now: number }, FactRow> =>
  compile((place) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where('id', '=', place('id'))
      .where(isAlive(place))
      .where(isVisible(visibility, MEMORY_ACCESS, place)),
  )

export const factListQuery = ({ filter, page }: FactListRequest): Query<FilterValues & PageValues, FactRow> =>
  compile((place) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where(matchesFilter(filter, place))
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(place, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(place('limit')),
  )

/** The cross join keeps the index of words the outer loop, whatever else the filter could go by. */
export const factSearchQuery = (filter: FactFilter): Query<FilterValues & { match: string; limit: number }, FactRow> =>
  compile((place) => ({
    compile: () =>
      sql<FactRow>`select facts.* from fact_words cross join facts on facts.key = fact_words.rowid
        where fact_words match ${place('match')} and ${matchesFilter(filter, place)}
        order by bm25(fact_words), created_at desc, id desc limit ${place('limit')}`.compile(from),
  }))

type VectorValues = FilterValues & { readonly embedder: string; readonly limit: number }

export const factVectorQuery = (filter: FactFilter): Query<VectorValues, { id: string; vector: Uint8Array }> =>
  compile((place) => ({
    compile: () =>
      sql<{ id: string; vector: Uint8Array }>`select id, vector from facts cross join fact_vectors on fact_key = key
        where ${matchesFilter(filter, place)} and +embedded_by = ${place('embedder')}
        order by created_at desc, id desc limit ${place('limit')}`.compile(from),
  }))

/** The bytes as they are, unless they start at an odd place. */
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
