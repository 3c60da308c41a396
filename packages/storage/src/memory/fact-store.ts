import type { EpochMs, FactFilter, FactRecord, Page, PageQuery, VectorQuery, Visibility } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db, FactSearch } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
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

export function* findFact(
  db: Db,
  { id, now, visibility }: { id: string; now: EpochMs; visibility: Visibility },
): Program<FactRecord | undefined> {
  const query = db.variant(`fact ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = yield* db.get(query, { ...accessValues(visibility), id, now })
  return row === undefined ? undefined : toFact(row)
}

/** Finds expired facts too. */
export function* findAnyFact(db: Db, id: string): Program<FactRecord | undefined> {
  const row = yield* db.get(selectFact, { id })
  return row === undefined ? undefined : toFact(row)
}

export function* listFacts(db: Db, { filter, page }: FactListRequest): Program<Page<FactRecord>> {
  const query = db.variant(`facts ${pageVariant(page)} ${filterVariant(filter)}`, () => factListQuery({ filter, page }))
  const rows = yield* db.each(query, { ...pageValues(page), ...filterValues(filter) })
  return toPage(rows, page, { toRecord: toFact, rankOf: (row) => row.created_at })
}

export function* searchFacts(db: Db, request: FactSearch): Program<readonly FactRecord[]> {
  return yield* factsInOrder(db, yield* db.dialect.facts.search(db, request))
}

export function* nearestFacts(
  db: Db,
  { query, filter, limit }: { query: VectorQuery; filter: FactFilter; limit: number },
): Program<readonly FactRecord[]> {
  const { vector, embedder, candidates } = query
  const wanted = Float32Array.from(vector)
  const statement = db.variant(`fact vectors ${filterVariant(filter)}`, () => factVectorQuery(filter))
  const values = { ...filterValues(filter), embedder, limit: candidates }
  const scored = (yield* db.all(statement, values)).map(({ id, vector }) => ({
    id,
    score: product(wanted, floatsOf(vector)),
  }))
  const nearest = scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
  return yield* factsInOrder(
    db,
    nearest.map(({ id }) => id),
  )
}

/** The facts with these ids, in their order. A fact may be gone by now. */
function* factsInOrder(db: Db, ids: readonly string[]): Program<readonly FactRecord[]> {
  if (ids.length === 0) return []
  const facts = new Map((yield* db.all(selectFacts, { ids })).map((row) => [row.id, row]))
  return ids.flatMap((id) => facts.get(id) ?? []).map(toFact)
}

export interface FactListRequest {
  readonly filter: FactFilter
  readonly page: PageQuery
}

const selectFact = compile<{ id: string }, FactRow>((param) =>
  from.selectFrom('facts').selectAll().where('id', '=', param('id')),
)

const selectFacts = compile<{ ids: readonly string[] }, FactRow>((param, dialect) =>
  from
    .selectFrom('facts')
    .selectAll()
    .where(dialect.isOneOf('id', param('ids'))),
)

const findQuery = (visibility: Visibility): Query<AccessValues & { id: string; now: number }, FactRow> =>
  compile((param, dialect) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where('id', '=', param('id'))
      .where(isUnexpired(param))
      .where(isVisible(visibility, MEMORY_ACCESS, { param, dialect })),
  )

export const factListQuery = ({ filter, page }: FactListRequest): Query<FilterValues & PageValues, FactRow> =>
  compile((param, dialect) =>
    dialect.bounded(
      from
        .selectFrom('facts')
        .selectAll()
        .where(matchesFilter(filter, { param, dialect }))
        .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
        .orderBy('created_at', page.order)
        .orderBy('id', page.order)
        .limit(param('limit'))
        .$castTo<FactRow>(),
      ['text', 'metadata'],
    ),
  )

type VectorValues = FilterValues & { readonly embedder: string; readonly limit: number }

export const factVectorQuery = (filter: FactFilter): Query<VectorValues, { id: string; vector: Uint8Array }> =>
  compile(
    (param, dialect) => sql`select id, vector
      from facts ${dialect.orderedJoin} fact_vectors on ${sql.ref(dialect.facts.reference)} = ${sql.ref(dialect.rowId)}
      where ${matchesFilter(filter, { param, dialect })} and ${dialect.hidden('embedded_by')} = ${param('embedder')}
      order by created_at desc, id desc limit ${param('limit')}`,
  )

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
