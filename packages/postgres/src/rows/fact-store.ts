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
  type WordIndex,
} from '@perdure/ports'
import { isBeyond, type PageValues, pageValues, pageVariant, type Query, toPage } from '@perdure/sql'
import { type Expression, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { bounded } from '../query/bounded.ts'
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
import { indexedValue } from './indexed-words.ts'

export async function findFact(
  db: Connection,
  { id, now, visibility }: { id: string; now: EpochMs; visibility: Visibility },
): Promise<FactRecord | undefined> {
  const query = db.variant(`fact ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = await db.get(query, { ...accessValues(visibility), id, now })
  return row === undefined ? undefined : toFact(row)
}

/** Finds expired facts too. */
export async function findAnyFact(db: Connection, id: string): Promise<FactRecord | undefined> {
  const row = await db.get(selectFact, { id })
  return row === undefined ? undefined : toFact(row)
}

export async function listFacts(db: Connection, { filter, page }: FactListRequest): Promise<Page<FactRecord>> {
  const query = db.variant(`facts ${pageVariant(page)} ${filterVariant(filter)}`, () => factListQuery({ filter, page }))
  const rows = await db.all(query, { ...pageValues(page), ...filterValues(filter) })
  return toPage(rows, page, { toRecord: toFact, rankOf: (row) => row.created_at })
}

export async function searchFacts(
  db: Connection,
  { text, filter, limit }: { text: string; filter: FactFilter; limit: number },
): Promise<readonly FactRecord[]> {
  const words = searchedWords(text)
  if (words.length === 0) return []
  const query = db.variant(`fact search ${filterVariant(filter)}`, () => factSearchQuery(filter))
  const matching = await db.all(query, { ...filterValues(filter), words })
  const candidates = candidatesAmong(matching, text)
  const texts = new Map((await db.all(FACT_TEXTS, { keys: candidates })).map((row) => [Number(row.key), row]))
  const found = searchByWords<number>(
    indexOf(matching, (keys) => keys.flatMap((key) => texts.get(key) ?? [])),
    text,
    limit,
  )
  const facts = await Promise.all(found.map((id) => findAnyFact(db, id)))
  return facts.flatMap((fact) => fact ?? [])
}

interface MatchingFact {
  readonly key: number
  readonly words: readonly string[] // words of the search that the fact contains
}

/** The words of a search, as the index holds them. */
function searchedWords(text: string): readonly string[] {
  let searched: readonly string[] = []
  const withoutFacts: WordIndex<number> = {
    matching(words) {
      searched = words.map(indexedValue)
      return []
    },
    having: () => [],
    texts: () => [],
  }
  searchByWords(withoutFacts, text, 0)
  return searched
}

/** The texts that a search ranks. It chooses them by their words alone, so the texts can be read afterwards. */
function candidatesAmong(matching: readonly MatchingFact[], text: string): readonly number[] {
  let candidates: readonly number[] = []
  const withoutTexts = indexOf(matching, (keys) => {
    candidates = keys
    return []
  })
  searchByWords(withoutTexts, text, 0)
  return candidates
}

const indexOf = (
  matching: readonly MatchingFact[],
  texts: (keys: readonly number[]) => readonly SearchedText[],
): WordIndex<number> => ({
  matching: () => matching.map(({ key }) => key),
  having(word) {
    const wanted = indexedValue(word)
    return matching.filter(({ words }) => words.includes(wanted)).map(({ key }) => key)
  },
  texts,
})

export async function nearestFacts(
  db: Connection,
  { query, filter, limit }: { query: VectorQuery; filter: FactFilter; limit: number },
): Promise<readonly FactRecord[]> {
  const { vector, embedder, candidates } = query
  const wanted = Float32Array.from(vector)
  const statement = db.variant(`fact vectors ${filterVariant(filter)}`, () => factVectorQuery(filter))
  const values = { ...filterValues(filter), embedder, limit: candidates }
  const scored = (await db.all(statement, values)).map(({ id, vector }) => ({
    id,
    score: product(wanted, floatsOf(vector)),
  }))
  const nearest = scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
  const facts = await Promise.all(nearest.map((fact) => findAnyFact(db, fact.id)))
  return facts.flatMap((fact) => fact ?? [])
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
    bounded(
      from
        .selectFrom('facts')
        .selectAll()
        .where(matchesFilter(filter, param))
        .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
        .orderBy('created_at', page.order)
        .orderBy('id', page.order)
        .limit(param('limit')) as unknown as Expression<FactRow>,
      ['text', 'metadata'],
    ),
  )

/** Newest first. */
export const factSearchQuery = (filter: FactFilter): Query<FilterValues & { words: readonly string[] }, MatchingFact> =>
  compile((param) => ({
    compile: () =>
      sql<MatchingFact>`select key, array(select unnest(facts.words) intersect select unnest(${param('words')}::text[])) as words
        from facts where facts.words && ${param('words')}::text[] and ${matchesFilter(filter, param)}
        order by key desc`.compile(from),
  }))

interface FactText extends SearchedText {
  readonly key: number
}

/** In the order of the keys. */
export const FACT_TEXTS = compile<{ keys: readonly number[] }, FactText>((param) =>
  bounded(
    sql<FactText>`select facts.key, facts.id, facts.text, facts.created_at as "createdAt"
      from unnest(${param('keys')}::bigint[]) with ordinality as wanted (key, number) join facts using (key)
      order by wanted.number`,
    ['text'],
  ),
)

type VectorValues = FilterValues & { readonly embedder: string; readonly limit: number }

export const factVectorQuery = (filter: FactFilter): Query<VectorValues, { id: string; vector: Uint8Array }> =>
  compile((param) => ({
    compile: () =>
      sql<{ id: string; vector: Uint8Array }>`select id, vector from facts join fact_vectors on fact_id = id
        where ${matchesFilter(filter, param)} and embedded_by = ${param('embedder')}
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
