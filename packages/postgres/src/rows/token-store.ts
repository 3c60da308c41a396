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
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'

export const findToken = async (db: Connection, id: string): Promise<TokenRecord | undefined> =>
  toTokenIfAny(await db.get(selectById, { id }))

export const findTokenByDigest = async (db: Connection, digest: string): Promise<TokenRecord | undefined> =>
  toTokenIfAny(await db.get(selectByDigest, { digest }))

export const findTokens = async (db: Connection, ids: readonly string[]): Promise<readonly TokenRecord[]> =>
  (await db.all(SELECT_MANY, { ids })).map(toToken)

export const rootOfToken = async (db: Connection, id: string): Promise<string> =>
  (await db.get(SELECT_ROOT, { id }))?.id ?? id

export async function listTokens(db: Connection, page: PageQuery): Promise<Page<TokenRecord>> {
  const query = db.variant(`tokens ${pageVariant(page)}`, () => listQuery(page))
  return toPage(await db.all(query, pageValues(page)), page, { toRecord: toToken, rankOf: (row) => row.created_at })
}

const selectById = compile<{ id: string }, TokenRow>((param) =>
  from.selectFrom('tokens').selectAll().where('id', '=', param('id')),
)

const selectByDigest = compile<{ digest: string }, TokenRow>((param) =>
  from.selectFrom('tokens').selectAll().where('digest', '=', param('digest')),
)

export const SELECT_MANY = compile<{ ids: readonly string[] }, TokenRow>((param) =>
  from
    .selectFrom('tokens')
    .selectAll()
    .where(sql<SqlBool>`id = any(${param('ids')})`),
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
