import { EVERY_ROW } from '@perdure/ports'
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
    caughtBy: 'pages through messages in both orders without repeats or holes, whatever the limit',
  },
  {
    fault: 'deletes a session while a run of it is active',
    breakPorts: ({ unitOfWork, runs }) => ({
      unitOfWork: {
        async commit(writes) {
          for (const write of writes) {
            if (write.type !== 'session.delete') continue
            const filter = { sessionId: write.id, statuses: ['queued', 'running', 'suspended'] } as const
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
    caughtBy: 'refuses to delete a session while one of its runs is queued, running or suspended, and leaves all of it',
  },
  {
    fault: 'leaves the answers that hold content of a deleted session',
    breakPorts: rewriting((write) =>
      write.type === 'idempotency.reserve' ? { ...write, record: { ...write.record, contentOf: undefined } } : write,
    ),
    cases: sessionStoreCases,
    caughtBy: 'replaces the answers that hold content of a deleted session, and no others; their keys stay used',
  },
  {
    fault: 'changes a session whatever the change was decided on',
    breakPorts: rewriting(async (write, { sessions }) => {
      if (write.type !== 'session.update') return write
      const current = await sessions.find(write.id, EVERY_ROW)
      return current === undefined ? write : { ...write, from: current }
    }),
    cases: sessionStoreCases,
    caughtBy: 'refuses a change that was decided on another title or other metadata, and shows the session',
  },
  {
    fault: 'finds idle sessions a millisecond late',
    breakPorts: ({ sessions }) => ({
      sessions: {
        ...sessions,
        idleSince: (query) => sessions.idleSince({ ...query, until: justBefore(query.until) }),
      },
    }),
    cases: sessionStoreCases,
    caughtBy: 'a session is idle from its last activity on, exactly, and the quietest comes first',
  },
  {
    fault: 'takes a session with a running run for idle',
    breakPorts: ({ sessions }) => ({
      sessions: {
        ...sessions,
        async idleSince({ until }) {
          const { items } = await sessions.list({ limit: 200, order: 'asc' }, EVERY_ROW)
          return items.filter(({ updatedAt }) => updatedAt <= until)
        },
      },
    }),
    cases: sessionStoreCases,
    caughtBy: 'a session with a queued or running run is not idle; one whose runs are suspended or over is',
  },
])
