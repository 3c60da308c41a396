import type { Page, PageQuery, TokenRecord } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type TokenRow, toToken } from './token-row.ts'

export function* findToken(db: Db, id: string): Program<TokenRecord | undefined> {
  return toTokenIfAny(yield* db.get(selectById, { id }))
}

export function* findTokenByDigest(db: Db, digest: string): Program<TokenRecord | undefined> {
  return toTokenIfAny(yield* db.get(selectByDigest, { digest }))
}

export function* findTokens(db: Db, ids: readonly string[]): Program<readonly TokenRecord[]> {
  return (yield* db.all(SELECT_MANY, { ids })).map(toToken)
}

export function* rootOfToken(db: Db, id: string): Program<string> {
  return (yield* db.get(SELECT_ROOT, { id }))?.id ?? id
}

export function* listTokens(db: Db, page: PageQuery): Program<Page<TokenRecord>> {
  const query = db.variant(`tokens ${pageVariant(page)}`, () => listQuery(page))
  return toPage(yield* db.each(query, pageValues(page)), page, { toRecord: toToken, rankOf: (row) => row.created_at })
}

const selectById = compile<{ id: string }, TokenRow>((param) =>
  from.selectFrom('tokens').selectAll().where('id', '=', param('id')),
)

const selectByDigest = compile<{ digest: string }, TokenRow>((param) =>
  from.selectFrom('tokens').selectAll().where('digest', '=', param('digest')),
)

export const SELECT_MANY = compile<{ ids: readonly string[] }, TokenRow>((param, dialect) =>
  from
    .selectFrom('tokens')
    .selectAll()
    .where(dialect.isOneOf('id', param('ids'))),
)

/** Walks back from a token to the token that no rotation has created. */
export const SELECT_ROOT = compile<{ id: string }, { readonly id: string }>((param) =>
  from
    .withRecursive('chain(id, length)', (db) =>
      db
        .selectFrom('tokens')
        .select(['id', sql<number>`0`.as('length')])
        .where('id', '=', param('id'))
        .union(
          db
            .selectFrom('chain')
            .innerJoin('tokens as old', 'old.replaced_by', 'chain.id')
            .select(['old.id', sql<number>`chain.length + 1`.as('length')]),
        ),
    )
    .selectFrom('chain')
    .select('chain.id')
    .orderBy('chain.length', 'desc')
    .limit(1),
)

const listQuery = (page: PageQuery): Query<PageValues, TokenRow> =>
  compile((param) =>
    from
      .selectFrom('tokens')
      .selectAll()
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit')),
  )

const toTokenIfAny = (row: TokenRow | undefined): TokenRecord | undefined =>
  row === undefined ? undefined : toToken(row)
