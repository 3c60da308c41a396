import type { TokenStore } from '@perdure/ports'
import { sql } from 'kysely'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { listQuery, selectById } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { TOKENS, type TokenRow } from './token-row.ts'

export const tokenReads: Reads<TokenStore> = {
  *find(db, id) {
    const row = yield* db.get(selectToken, { id })
    return row && TOKENS.toRecord(row)
  },
  *findByDigest(db, digest) {
    const row = yield* db.get(selectByDigest, { digest })
    return row && TOKENS.toRecord(row)
  },
  *findMany(db, ids) {
    return (yield* db.all(SELECT_MANY, { ids })).map(TOKENS.toRecord)
  },
  *rootOf(db, id) {
    return (yield* db.get(SELECT_ROOT, { id }))?.id ?? id
  },
  *list(db, page) {
    const query = db.variant(`tokens ${pageVariant(page)}`, () => listQuery<PageValues, TokenRow>('tokens', { page }))
    const rows = yield* db.each(query, pageValues(page))
    return toPage(rows, page, { toRecord: TOKENS.toRecord, rankOf: (row) => row.created_at })
  },
}

const selectToken = selectById<TokenRow>('tokens')

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
