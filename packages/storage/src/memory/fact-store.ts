import type { FactFilter, FactRecord, FactStore, PageQuery, Visibility } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import { listQuery, selectById } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import {
  type FilterValues,
  filterValues,
  filterVariant,
  isUnexpired,
  MEMORY_ACCESS,
  matchesFilter,
} from './fact-filter.ts'
import { FACTS, type FactRow } from './fact-row.ts'

export const factReads: Reads<FactStore> = {
  *find(db, id, { now, visibility }) {
    const query = db.variant(`fact ${visibilityVariant(visibility)}`, () => findQuery(visibility))
    const row = yield* db.get(query, { ...accessValues(visibility), id, now })
    return row && FACTS.toRecord(row)
  },
  *list(db, filter, page) {
    const name = `facts ${pageVariant(page)} ${filterVariant(filter)}`
    const query = db.variant(name, () => factListQuery({ filter, page }))
    const rows = yield* db.each(query, { ...pageValues(page), ...filterValues(filter) })
    return toPage(rows, page, { toRecord: FACTS.toRecord, rankOf: (row) => row.created_at })
  },
  *search(db, text, filter, limit) {
    return yield* factsInOrder(db, yield* db.dialect.facts.search(db, { text, filter, limit }))
  },
  *nearest(db, { vector, embedder, candidates }, filter, limit) {
    const wanted = Float32Array.from(vector)
    const query = db.variant(`fact vectors ${filterVariant(filter)}`, () => factVectorQuery(filter))
    const rows = yield* db.all(query, { ...filterValues(filter), embedder, limit: candidates })
    const nearest = rows
      .map(({ id, vector }) => ({ id, score: product(wanted, floatsOf(vector)) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ id }) => id)
    return yield* factsInOrder(db, nearest)
  },
}

/** Finds expired facts too. */
export function* findAnyFact(db: Db, id: string): Program<FactRecord | undefined> {
  const row = yield* db.get(selectFact, { id })
  return row && FACTS.toRecord(row)
}

/** The facts with these ids, in their order. A fact may be gone by now. */
function* factsInOrder(db: Db, ids: readonly string[]): Program<readonly FactRecord[]> {
  if (ids.length === 0) return []
  const facts = new Map((yield* db.all(selectFacts, { ids })).map((row) => [row.id, row]))
  return ids.flatMap((id) => facts.get(id) ?? []).map(FACTS.toRecord)
}

export interface FactListRequest {
  readonly filter: FactFilter
  readonly page: PageQuery
}

const selectFact = selectById<FactRow>('facts')

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
  listQuery('facts', {
    page,
    texts: ['text', 'metadata'],
    where: (param, dialect) => [matchesFilter(filter, { param, dialect })],
  })

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
