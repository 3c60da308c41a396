import type { FactGroup, FactUpkeep } from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import { compile, type Query } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { selectRows } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { isUnexpired } from './fact-filter.ts'
import { FACTS, type FactRow } from './fact-row.ts'

export const factUpkeepReads: Reads<FactUpkeep> = {
  *repeated(db, range, limit) {
    const [owner, namespace, fingerprint] = JSON.parse(range.after ?? '["","",""]') as [string, string, string]
    const query = db.variant(`repeated facts ${range.owner === undefined}`, () => repeatedQuery(range))
    const values = { owner, namespace, fingerprint, ofOwner: range.owner ?? '', now: range.now, limit }
    const groups: FactGroup[] = []
    for (const { owner, namespace, fingerprint } of yield* db.all(query, values)) {
      const facts = yield* db.all(GROUP_FACTS, { owner, namespace, fingerprint, now: range.now })
      groups.push({ groupKey: JSON.stringify([owner, namespace, fingerprint]), facts: facts.map(FACTS.toRecord) })
    }
    return groups
  },
  *expired(db, { owner, now }, limit) {
    const query = owner === undefined ? UPKEEP.expired : UPKEEP.expiredOfOwner
    return (yield* db.all(query, { at: now, ofOwner: owner ?? '', limit })).map(FACTS.toRecord)
  },
  *weighedBefore(db, { owner, at }, limit) {
    const query = owner === undefined ? UPKEEP.weighed : UPKEEP.weighedOfOwner
    return (yield* db.all(query, { at, ofOwner: owner ?? '', limit })).map(FACTS.toRecord)
  },
  *unembedded(db, limit) {
    return (yield* db.all(UPKEEP.unembedded, { limit })).map(FACTS.toRecord)
  },
}

interface GroupValues {
  readonly owner: string
  readonly namespace: string
  readonly fingerprint: string
  readonly now: number
}

export const repeatedQuery = ({
  owner,
}: {
  readonly owner?: string | undefined
}): Query<GroupValues & { readonly ofOwner: string; readonly limit: number }, Omit<GroupValues, 'now'>> =>
  compile((param) =>
    from
      .selectFrom('facts')
      .select(['owner', 'namespace', 'fingerprint'])
      .where(
        sql<boolean>`(owner, namespace, fingerprint) > (${param('owner')}, ${param('namespace')}, ${param('fingerprint')})`,
      )
      .$if(owner !== undefined, (query) => query.where('owner', '=', param('ofOwner')))
      .where(isUnexpired(param))
      .groupBy(['owner', 'namespace', 'fingerprint'])
      .having(sql<boolean>`count(*) > 1`)
      .orderBy('owner')
      .orderBy('namespace')
      .orderBy('fingerprint')
      .limit(param('limit')),
  )

const GROUP_FACTS = compile<GroupValues, FactRow>((param) =>
  from
    .selectFrom('facts')
    .selectAll()
    .where('owner', '=', param('owner'))
    .where('namespace', '=', param('namespace'))
    .where('fingerprint', '=', param('fingerprint'))
    .where(isUnexpired(param))
    .orderBy('created_at')
    .orderBy('id'),
)

interface RangeValues {
  readonly at: number
  readonly ofOwner: string
  readonly limit: number
}

const ofOwner = (isOwned: boolean) => ({
  expired: selectRows<RangeValues, FactRow>('facts', {
    where: (param, { unindexed }) => [
      sql`expires_at <= ${param('at')}`,
      ...(isOwned ? [unindexed(sql`owner = ${param('ofOwner')}`)] : []),
    ],
    order: ['expires_at', 'id'],
  }),
  weighed: selectRows<RangeValues, FactRow>('facts', {
    where: (param) => [
      sql`importance > 0`,
      sql`weighed_at <= ${param('at')}`,
      ...(isOwned ? [sql<SqlBool>`owner = ${param('ofOwner')}`] : []),
    ],
    order: ['weighed_at', 'id'],
  }),
})

export const UPKEEP = {
  expired: ofOwner(false).expired,
  expiredOfOwner: ofOwner(true).expired,
  weighed: ofOwner(false).weighed,
  weighedOfOwner: ofOwner(true).weighed,
  unembedded: selectRows<{ limit: number }, FactRow>('facts', {
    where: () => [sql`embedded_by is null`],
    order: ['created_at', 'id'],
  }),
} as const
