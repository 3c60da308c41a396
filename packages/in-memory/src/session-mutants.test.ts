import { EVERY_ROW } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { sessionStoreCases } from '@perdure/testkit'
import { expectCaught, justBefore, rewriting } from './contract-mutants.fixture.ts'

expectCaught([
  {
    fault: 'repeats the row at each cursor',
    breakPorts: ({ sessions }) => {
      let last: string | null = null
      return {
        sessions: {
          ...sessions,
          async messages(sessionId, { cursor, ...query }) {
            const from = cursor === undefined ? undefined : (last ?? cursor)
            const page = await sessions.messages(sessionId, { ...query, cursor: from })
            last = cursor ?? null
            return page
          },
        },
      }
    },
    cases: sessionStoreCases,
    caughtBy: 'pages through messages in both orders without repeats or gaps, whatever the limit',
  },
  {
    fault: 'deletes a session that has an active run',
    breakPorts: ({ unitOfWork, runs }) => ({
      unitOfWork: {
        async commit(writes) {
          for (const write of writes) {
            if (write.type !== 'session.delete') continue
            const filter = { sessionId: write.id, statuses: ACTIVE_RUN_STATUSES }
            const { items } = await runs.list(filter, { limit: 200, order: 'asc' }, EVERY_ROW)
            for (const { id, status, attempt } of items) {
              const end = { runId: id, from: [status], attempt, change: { status: 'aborted' } } as const
              await unitOfWork.commit([{ type: 'run.transition', ...end }])
            }
          }
          return unitOfWork.commit(writes)
        },
      },
    }),
    cases: sessionStoreCases,
    caughtBy: 'refuses to delete a session with a queued, running or suspended run and keeps all its data',
  },
  {
    fault: 'keeps responses that contain content of a deleted session',
    breakPorts: rewriting((write) =>
      write.type === 'idempotency.reserve' ? { ...write, record: { ...write.record, contentOf: undefined } } : write,
    ),
    cases: sessionStoreCases,
    caughtBy: 'replaces only the responses that contain content of a deleted session and keeps their keys reserved',
  },
  {
    fault: 'applies a session update based on stale data',
    breakPorts: rewriting(async (write, { sessions }) => {
      if (write.type !== 'session.update') return write
      const current = await sessions.find(write.id, EVERY_ROW)
      return current === undefined ? write : { ...write, from: current }
    }),
    cases: sessionStoreCases,
    caughtBy: 'refuses an update based on a stale title or stale metadata and returns the session',
  },
  {
    fault: 'lists a session as idle a millisecond late',
    breakPorts: ({ sessions }) => ({
      sessions: {
        ...sessions,
        idleSince: (query) => sessions.idleSince({ ...query, until: justBefore(query.until) }),
      },
    }),
    cases: sessionStoreCases,
    caughtBy: 'treats a session as idle exactly from its last activity and lists the longest idle first',
  },
  {
    fault: 'treats a session with a running run as idle',
    breakPorts: ({ sessions }) => ({
      sessions: {
        ...sessions,
        async idleSince({ until }) {
          const { items } = await sessions.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)
          return items.filter(({ updatedAt }) => updatedAt <= until)
        },
      },
    }),
    cases: sessionStoreCases,
    caughtBy: 'treats a session as idle unless a run is queued or running',
  },
])
