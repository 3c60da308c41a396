import type { EpochMs, FactGroup, FactRecord } from '@perdure/ports'
import type { Query } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { isUnexpired } from './fact-filter.ts'
import { type FactRow, toFact } from './fact-row.ts'

interface RepeatedRange {
  readonly owner?: string | undefined
  readonly after?: string | undefined
  readonly now: EpochMs
}

export async function repeatedFacts(
  db: Connection,
  { range, limit }: { range: RepeatedRange; limit: number },
): Promise<readonly FactGroup[]> {
  const [owner, namespace, fingerprint] = JSON.parse(range.after ?? '["","",""]') as [string, string, string]
  const query = db.variant(`repeated facts ${range.owner === undefined}`, () => repeatedQuery(range))
  const values = { owner, namespace, fingerprint, ofOwner: range.owner ?? '', now: range.now, limit }
  const groups = await db.all(query, values)
  return Promise.all(groups.map((group) => factGroup(db, { ...group, now: range.now })))
}

async function factGroup(db: Connection, group: GroupValues): Promise<FactGroup> {
  const { owner, namespace, fingerprint } = group
  const facts = await db.all(GROUP_FACTS, group)
  return { groupKey: JSON.stringify([owner, namespace, fingerprint]), facts: facts.map(toFact) }
}

export async function expiredFacts(
  db: Connection,
  { range, limit }: { range: { owner?: string | undefined; now: EpochMs }; limit: number },
): Promise<readonly FactRecord[]> {
  const values = { at: range.now, ofOwner: range.owner ?? '', limit }
  return (await db.all(range.owner === undefined ? UPKEEP.expired : UPKEEP.expiredOfOwner, values)).map(toFact)
}

export async function factsWeighedBefore(
  db: Connection,
  { range, limit }: { range: { owner?: string | undefined; at: EpochMs }; limit: number },
): Promise<readonly FactRecord[]> {
  const values = { at: range.at, ofOwner: range.owner ?? '', limit }
  return (await db.all(range.owner === undefined ? UPKEEP.weighed : UPKEEP.weighedOfOwner, values)).map(toFact)
}

export const unembeddedFacts = async (db: Connection, limit: number): Promise<readonly FactRecord[]> =>
  (await db.all(UPKEEP.unembedded, { limit })).map(toFact)

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
  expired: compile<RangeValues, FactRow>((param) =>
    from
      .selectFrom('facts')
      .selectAll()
      .where('expires_at', '<=', param('at'))
      .$if(isOwned, (query) => query.where(sql<boolean>`(owner = ${param('ofOwner')}) is true`))
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
