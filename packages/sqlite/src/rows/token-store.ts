import type { Page, PageQuery, TokenRecord } from '@perdure/ports'
import {
  isBeyond,
  type PageValues,
  pageValues,
  pageVariant,
  type Query,
  type TokenRow,
  toPage,
  toToken,
} from '@perdure/sql'
import { type SqlBool, sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'

export const findToken = (db: Connection, id: string): TokenRecord | undefined =>
  toTokenIfAny(db.get(selectById, { id }))

export const findTokenByDigest = (db: Connection, digest: string): TokenRecord | undefined =>
  toTokenIfAny(db.get(selectByDigest, { digest }))

export const findTokens = (db: Connection, ids: readonly string[]): readonly TokenRecord[] =>
  db.all(SELECT_MANY, { ids: JSON.stringify(ids) }).map(toToken)

export const rootOfToken = (db: Connection, id: string): string => db.get(SELECT_ROOT, { id })?.id ?? id

export function listTokens(db: Connection, page: PageQuery): Page<TokenRecord> {
  const query = db.variant(`tokens ${pageVariant(page)}`, () => listQuery(page))
  return toPage(db.each(query, pageValues(page)), page, { toRecord: toToken, rankOf: (row) => row.created_at })
}

const selectById = compile<{ id: string }, TokenRow>((param) =>
  from.selectFrom('tokens').selectAll().where('id', '=', param('id')),
)

const selectByDigest = compile<{ digest: string }, TokenRow>((param) =>
  from.selectFrom('tokens').selectAll().where('digest', '=', param('digest')),
)

export const SELECT_MANY = compile<{ ids: string }, TokenRow>((param) =>
  from
    .selectFrom('tokens')
    .selectAll()
    .where(sql<SqlBool>`id in (select value from json_each(${param('ids')}))`),
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
