import type { EpochMs, FactGroup, FactRecord } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isUnexpired } from './fact-filter.ts'
import { type FactRow, toFact } from './fact-row.ts'

interface RepeatedRange {
  readonly owner?: string | undefined
  readonly after?: string | undefined
  readonly now: EpochMs
}

export function* repeatedFacts(
  db: Db,
  { range, limit }: { range: RepeatedRange; limit: number },
): Program<readonly FactGroup[]> {
  const [owner, namespace, fingerprint] = JSON.parse(range.after ?? '["","",""]') as [string, string, string]
  const query = db.variant(`repeated facts ${range.owner === undefined}`, () => repeatedQuery(range))
  const values = { owner, namespace, fingerprint, ofOwner: range.owner ?? '', now: range.now, limit }
  const groups: FactGroup[] = []
  for (const { owner, namespace, fingerprint } of yield* db.all(query, values)) {
    const facts = yield* db.all(GROUP_FACTS, { owner, namespace, fingerprint, now: range.now })
    groups.push({ groupKey: JSON.stringify([owner, namespace, fingerprint]), facts: facts.map(toFact) })
  }
  return groups
}

export function* expiredFacts(
  db: Db,
  { range, limit }: { range: { owner?: string | undefined; now: EpochMs }; limit: number },
): Program<readonly FactRecord[]> {
  const values = { at: range.now, ofOwner: range.owner ?? '', limit }
  return (yield* db.all(range.owner === undefined ? UPKEEP.expired : UPKEEP.expiredOfOwner, values)).map(toFact)
}

export function* factsWeighedBefore(
  db: Db,
  { range, limit }: { range: { owner?: string | undefined; at: EpochMs }; limit: number },
): Program<readonly FactRecord[]> {
  const values = { at: range.at, ofOwner: range.owner ?? '', limit }
  return (yield* db.all(range.owner === undefined ? UPKEEP.weighed : UPKEEP.weighedOfOwner, values)).map(toFact)
}

export function* unembeddedFacts(db: Db, limit: number): Program<readonly FactRecord[]> {
  return (yield* db.all(UPKEEP.unembedded, { limit })).map(toFact)
}

interface GroupValues {
  readonly owner: string
  readonly namespace: string
  readonly fingerprint: string
  readonly now: number
}

export const repeatedQuery = ({
  owner,
}: Pick<RepeatedRange, 'owner'>): Query<
  GroupValues & { readonly ofOwner: string; readonly limit: number },
  Omit<GroupValues, 'now'>
> =>
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
  expired: compile<RangeValues, FactRow>((param, dialect) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where('expires_at', '<=', param('at'))
      .$if(isOwned, (query) => query.where(dialect.unindexed(sql`owner = ${param('ofOwner')}`)))
      .orderBy('expires_at')
      .orderBy('id')
      .limit(param('limit')),
  ),
  weighed: compile<RangeValues, FactRow>((param) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where('importance', '>', sql.lit(0))
      .where('weighed_at', '<=', param('at'))
      .$if(isOwned, (query) => query.where('owner', '=', param('ofOwner')))
      .orderBy('weighed_at')
      .orderBy('id')
      .limit(param('limit')),
  ),
})

export const UPKEEP = {
  expired: ofOwner(false).expired,
  expiredOfOwner: ofOwner(true).expired,
  weighed: ofOwner(false).weighed,
  weighedOfOwner: ofOwner(true).weighed,
  unembedded: compile<{ limit: number }, FactRow>((param) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where('embedded_by', 'is', null)
      .orderBy('created_at')
      .orderBy('id')
      .limit(param('limit')),
  ),
} as const
