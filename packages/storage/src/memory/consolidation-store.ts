import type { ConsolidationStore, EpochMs } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { sql } from 'kysely'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { statusList } from '../query/run-status.ts'
import type { Reads } from '../reads.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'

export const consolidationReads: Reads<ConsolidationStore> = {
  *idleSessions(db, before, limit) {
    return (yield* db.all(IDLE_SESSIONS, { before, limit })).map(({ session_id, owner, changed_at }) => ({
      sessionId: session_id,
      owner,
      changedAt: changed_at as EpochMs,
    }))
  },
  *extractedThrough(db, sessionId) {
    return (yield* db.get(selectExtraction, { sessionId }))?.through_seq ?? 0
  },
  *spentOn(db, day) {
    const row = yield* db.get(selectSpend, { day })
    return { tokens: row?.tokens ?? 0, costUsd: row?.cost_usd ?? 0 }
  },
}

export const consolidationWrites: WriteAppliers<WritesOf<'consolidation'>> = {
  *'consolidation.seen'({ db }, { sessionId, changedAt }) {
    return yield* db.run(markSeen, { sessionId, changedAt })
  },
  *'consolidation.extracted'({ db }, { sessionId, throughSeq }) {
    return yield* db.run(markExtracted, { sessionId, throughSeq })
  },
  *'consolidation.spend'({ db }, { day, spend: { tokens, costUsd } }) {
    return yield* db.run(addSpend, { day, tokens, costUsd })
  },
}

interface IdleRow {
  readonly session_id: string
  readonly owner: string
  readonly changed_at: number
}

export const IDLE_SESSIONS = compile<{ before: number; limit: number }, IdleRow>(
  (param, dialect) => sql`select session_id, owner, changed_at
    from changed_sessions ${dialect.orderedJoin} sessions on sessions.id = session_id
    where changed_at <= ${param('before')} and not exists (
      select 1 from runs where runs.session_id = sessions.id
        and ${dialect.hidden('status')} in (${statusList(ACTIVE_RUN_STATUSES)}))
    order by changed_at, session_id limit ${param('limit')}`,
)

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
const markExtracted = compile<{ sessionId: string; throughSeq: number }, unknown>(
  (param, dialect) => sql`insert into extractions
    select id, cast(${param('throughSeq')} as integer) from sessions where id = ${param('sessionId')}
    on conflict (session_id) do update
      set through_seq = ${dialect.greatest(sql`extractions.through_seq`, sql`excluded.through_seq`)}`,
)

const addSpend = compile<{ day: string; tokens: number; costUsd: number }, unknown>(
  (param) => sql`insert into consolidation_spend values (${param('day')}, ${param('tokens')}, ${param('costUsd')})
    on conflict (day) do update set tokens = consolidation_spend.tokens + excluded.tokens,
      cost_usd = consolidation_spend.cost_usd + excluded.cost_usd`,
)
