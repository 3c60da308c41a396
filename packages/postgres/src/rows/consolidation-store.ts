import type { ChangedSession, ConsolidationSpend, EpochMs } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { statusList } from '@perdure/sql'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { WriteAppliers } from './write-applier.ts'

export const idleSessions = async (
  db: Connection,
  { before, limit }: { before: EpochMs; limit: number },
): Promise<readonly ChangedSession[]> =>
  (await db.all(IDLE_SESSIONS, { before, limit })).map(({ session_id, owner, changed_at }) => ({
    sessionId: session_id,
    owner,
    changedAt: changed_at as EpochMs,
  }))

export const extractedThrough = async (db: Connection, sessionId: string): Promise<number> =>
  (await db.get(selectExtraction, { sessionId }))?.through_seq ?? 0

export async function spentOn(db: Connection, day: string): Promise<ConsolidationSpend> {
  const row = await db.get(selectSpend, { day })
  return { tokens: row?.tokens ?? 0, costUsd: row?.cost_usd ?? 0 }
}

export const consolidationWrites: WriteAppliers<
  'consolidation.seen' | 'consolidation.extracted' | 'consolidation.spend'
> = {
  'consolidation.seen': async ({ db }, { sessionId, changedAt }) =>
    (await db.run(markSeen, { sessionId, changedAt })).changes,
  'consolidation.extracted': async ({ db }, { sessionId, throughSeq }) =>
    (await db.run(markExtracted, { sessionId, throughSeq })).changes,
  'consolidation.spend': async ({ db }, { day, spend: { tokens, costUsd } }) =>
    (await db.run(addSpend, { day, tokens, costUsd })).changes,
}

export const IDLE_SESSIONS = compile<
  { before: number; limit: number },
  { session_id: string; owner: string; changed_at: number }
>((param) => ({
  compile: () =>
    sql<{ session_id: string; owner: string; changed_at: number }>`
      select session_id, owner, changed_at from changed_sessions join sessions on sessions.id = session_id
      where changed_at <= ${param('before')} and not exists (
        select 1 from runs where runs.session_id = sessions.id and status in (${statusList(ACTIVE_RUN_STATUSES)}))
      order by changed_at, session_id limit ${param('limit')}`.compile(from),
}))

const selectExtraction = compile<{ sessionId: string }, { through_seq: number }>((param) =>
  from.selectFrom('extractions').select('through_seq').where('session_id', '=', param('sessionId')),
)

const selectSpend = compile<{ day: string }, { tokens: number; cost_usd: number }>((param) =>
  from.selectFrom('consolidation_spend').select(['tokens', 'cost_usd']).where('day', '=', param('day')),
)

const markSeen = compile<{ sessionId: string; changedAt: number }, unknown>((param) =>
  from
    .deleteFrom('changed_sessions')
    .where('session_id', '=', param('sessionId'))
    .where('changed_at', '<=', param('changedAt')),
)

/** Does nothing if the session was deleted: the deletion also removed its row here. */
const markExtracted = compile<{ sessionId: string; throughSeq: number }, unknown>((param) => ({
  compile: () =>
    sql`insert into extractions select id, ${param('throughSeq')}::integer from sessions where id = ${param('sessionId')}
      on conflict (session_id) do update set through_seq = greatest(extractions.through_seq, excluded.through_seq)`.compile(
      from,
    ),
}))

const addSpend = compile<{ day: string; tokens: number; costUsd: number }, unknown>((param) => ({
  compile: () =>
    sql`insert into consolidation_spend values (${param('day')}, ${param('tokens')}, ${param('costUsd')})
      on conflict (day) do update set tokens = consolidation_spend.tokens + excluded.tokens,
        cost_usd = consolidation_spend.cost_usd + excluded.cost_usd`.compile(from),
}))
