import type { EpochMs, Page, PageQuery, TokenRecord } from '@perdure/ports'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from './page.ts'
import { compile, from, type Query } from './query.ts'
import type { TokenTable } from './schema.ts'

export const findToken = (db: Connection, id: string): TokenRecord | undefined =>
  toRecordIfAny(db.get(selectById, { id }))

export const findTokenByDigest = (db: Connection, digest: string): TokenRecord | undefined =>
  toRecordIfAny(db.get(selectByDigest, { digest }))

export const findTokens = (db: Connection, ids: readonly string[]): readonly TokenRecord[] =>
  db.all(SELECT_MANY, { ids: JSON.stringify(ids) }).map(toRecord)

export function listTokens(db: Connection, page: PageQuery): Page<TokenRecord> {
  const query = db.variant(`tokens ${pageVariant(page)}`, () => listQuery(page))
  return toPage(db.all(query, pageValues(page)), page, { toRecord, rankOf: (row) => row.created_at })
}

type TokenRow = Selectable<TokenTable>

const selectById = compile<{ id: string }, TokenRow>((place) =>
  from.selectFrom('tokens').selectAll().where('id', '=', place('id')),
)

const selectByDigest = compile<{ digest: string }, TokenRow>((place) =>
  from.selectFrom('tokens').selectAll().where('digest', '=', place('digest')),
)

export const SELECT_MANY = compile<{ ids: string }, TokenRow>((place) =>
  from
    .selectFrom('tokens')
    .selectAll()
    .where(sql<SqlBool>`id in (select value from json_each(${place('ids')}))`),
)

const listQuery = (page: PageQuery): Query<PageValues, TokenRow> =>
  compile((place) =>
    from
      .selectFrom('tokens')
      .selectAll()
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(place, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(place('limit')),
  )

const toRecordIfAny = (row: TokenRow | undefined): TokenRecord | undefined =>
  row === undefined ? undefined : toRecord(row)

const toRecord = (row: TokenRow): TokenRecord => ({
  id: row.id,
  digest: row.digest,
  name: row.name,
  subject: row.subject,
  env: row.env,
  scopes: JSON.parse(row.scopes),
  createdAt: row.created_at as EpochMs,
  createdBy: row.created_by,
  expiresAt: (row.expires_at ?? undefined) as EpochMs | undefined,
  lastUsedAt: (row.last_used_at ?? undefined) as EpochMs | undefined,
  revokedAt: (row.revoked_at ?? undefined) as EpochMs | undefined,
  last4: row.last4,
  parentId: row.parent_id ?? undefined,
  replacedBy: row.replaced_by ?? undefined,
})
