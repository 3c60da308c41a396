import { EVERY_ROW, type RunStatus, type UnitOfWork } from '@perdure/ports'
import { idempotencyStoreCases, mcpServerStoreCases, unitOfWorkCases } from '@perdure/testkit'
import { expectCaught, justBefore, rewriting } from './contract-mutants.fixture.ts'

const EVERY_STATUS: readonly RunStatus[] = ['queued', 'running', 'suspended', 'completed', 'failed', 'aborted']

const commitOneByOne = (unitOfWork: UnitOfWork): UnitOfWork => ({
  async commit(writes) {
    const events = []
    const counts = []
    for (const [index, write] of writes.entries()) {
      const outcome = await unitOfWork.commit([write])
      if (!outcome.committed) return { ...outcome, index }
      events.push(...outcome.events)
      counts.push(...outcome.counts)
    }
    return { committed: true, events, counts }
  },
})

expectCaught([
  {
    fault: 'finds an answered record at expiresAt still',
    breakPorts: ({ idempotency }) => ({
      idempotency: { find: (id, now) => idempotency.find(id, justBefore(now)) },
    }),
    cases: idempotencyStoreCases,
    caughtBy: 'finds an answered record until expiresAt, exclusively',
  },
  {
    fault: 'refuses to replace a record at expiresAt',
    breakPorts: rewriting((write) =>
      write.type === 'idempotency.reserve' ? { ...write, now: justBefore(write.now) } : write,
    ),
    cases: idempotencyStoreCases,
    caughtBy: 'replaces an answered record at expiresAt exactly',
  },
  {
    fault: 'prunes a millisecond late',
    breakPorts: rewriting((write) =>
      write.type === 'idempotency.prune' ? { ...write, now: justBefore(write.now) } : write,
    ),
    cases: idempotencyStoreCases,
    caughtBy: 'prunes answered records from expiresAt on, exactly, and no executing ones',
  },
  {
    fault: 'lets executing records expire',
    breakPorts: ({ idempotency }) => ({
      idempotency: {
        async find(id, now) {
          const record = await idempotency.find(id, now)
          return record !== undefined && record.expiresAt > now ? record : undefined
        },
      },
    }),
    cases: idempotencyStoreCases,
    caughtBy: 'finds an executing record however long ago it expired',
  },
  {
    fault: 'keeps the writes before a conflict',
    breakPorts: ({ unitOfWork }) => ({ unitOfWork: commitOneByOne(unitOfWork) }),
    cases: unitOfWorkCases,
    caughtBy: 'undoes all earlier writes when token.revoke conflicts at last',
  },
  {
    fault: 'commits in more than one step, with others in between',
    breakPorts: ({ unitOfWork }) => ({ unitOfWork: commitOneByOne(unitOfWork) }),
    cases: unitOfWorkCases,
    caughtBy: 'concurrent commits number their events one commit after the other',
  },
  {
    fault: 'checks the status of a run before the commit instead of in it',
    breakPorts: rewriting(async (write, { runs }) => {
      if (write.type !== 'run.transition') return write
      const run = await runs.find(write.runId, EVERY_ROW)
      return run !== undefined && write.from.includes(run.status) ? { ...write, from: EVERY_STATUS } : write
    }),
    cases: unitOfWorkCases,
    caughtBy: 'exactly one of many concurrent callers wins a transition from one status',
  },
  {
    fault: 'hands out one and the same record again and again',
    breakPorts: ({ sessions }) => {
      const handedOut = new Map<string, Awaited<ReturnType<typeof sessions.find>>>()
      return {
        sessions: {
          ...sessions,
          async find(id, visibility) {
            const session = handedOut.get(id) ?? structuredClone(await sessions.find(id, visibility))
            handedOut.set(id, session)
            return session
          },
        },
      }
    },
    cases: unitOfWorkCases,
    caughtBy: 'does not notice when what was read is changed',
  },
  {
    fault: 'answers what still executes for a run as if its process had died',
    breakPorts: ({ unitOfWork }) => ({
      unitOfWork: {
        async commit(writes) {
          const outcome = await unitOfWork.commit(writes)
          const interrupt = writes.find((write) => write.type === 'idempotency.interrupt')
          if (interrupt === undefined) return outcome
          await unitOfWork.commit([{ type: 'idempotency.complete', runId: 'run_1', response: interrupt.response }])
          return outcome
        },
      },
    }),
    cases: idempotencyStoreCases,
    caughtBy: 'answers the records that execute for no run, and only those',
  },
  {
    fault: 'lists bound servers as they were bound',
    breakPorts: ({ mcpServers }) => ({
      mcpServers: { ...mcpServers, list: async () => Array.from(await mcpServers.list()).reverse() },
    }),
    cases: mcpServerStoreCases,
    caughtBy: 'lists all servers by id in code-unit order, whenever they were bound',
  },
])
