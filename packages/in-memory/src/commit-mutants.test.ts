import { EVERY_ROW, type UnitOfWork } from '@perdure/ports'
import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { idempotencyStoreCases, mcpServerStoreCases, unitOfWorkCases } from '@perdure/testkit'
import { expectCaught, justBefore, rewriting } from './contract-mutants.fixture.ts'

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
    fault: 'still finds an answered record at expiresAt',
    breakPorts: ({ idempotency }) => ({
      idempotency: { ...idempotency, find: (id, now) => idempotency.find(id, justBefore(now)) },
    }),
    cases: idempotencyStoreCases,
    caughtBy: 'finds an answered record until expiresAt (exclusive)',
  },
  {
    fault: 'refuses to replace a record at expiresAt',
    breakPorts: rewriting((write) =>
      write.type === 'idempotency.reserve' ? { ...write, now: justBefore(write.now) } : write,
    ),
    cases: idempotencyStoreCases,
    caughtBy: 'replaces an answered record exactly from expiresAt',
  },
  {
    fault: 'prunes a millisecond late',
    breakPorts: rewriting((write) =>
      write.type === 'idempotency.prune' ? { ...write, now: justBefore(write.now) } : write,
    ),
    cases: idempotencyStoreCases,
    caughtBy: 'prunes answered records exactly from expiresAt and never prunes executing records',
  },
  {
    fault: 'lets executing records expire',
    breakPorts: ({ idempotency }) => ({
      idempotency: {
        ...idempotency,
        async find(id, now) {
          const record = await idempotency.find(id, now)
          return record !== undefined && record.expiresAt > now ? record : undefined
        },
      },
    }),
    cases: idempotencyStoreCases,
    caughtBy: 'finds an executing record no matter how long ago it expired',
  },
  {
    fault: 'keeps the writes before a conflict',
    breakPorts: ({ unitOfWork }) => ({ unitOfWork: commitOneByOne(unitOfWork) }),
    cases: unitOfWorkCases,
    caughtBy: 'rolls back all earlier writes when a final token.revoke conflicts',
  },
  {
    fault: 'commits in several steps that interleave with other commits',
    breakPorts: ({ unitOfWork }) => ({ unitOfWork: commitOneByOne(unitOfWork) }),
    cases: unitOfWorkCases,
    caughtBy: 'numbers the events of concurrent commits contiguously per commit',
  },
  {
    fault: 'checks the status of a run before the commit instead of in it',
    breakPorts: rewriting(async (write, { runs }) => {
      if (write.type !== 'run.transition') return write
      const run = await runs.find(write.runId, EVERY_ROW)
      return run !== undefined && write.from.includes(run.status) ? { ...write, from: RUN_STATUS_NAMES } : write
    }),
    cases: unitOfWorkCases,
    caughtBy: 'lets exactly one of many concurrent callers win a transition from one status',
  },
  {
    fault: 'returns the same mutable record every time',
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
    caughtBy: 'is unaffected by mutation of records that were read',
  },
  {
    fault: 'interrupts executing records that have a run',
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
    caughtBy: 'stores the interrupt response only in executing records that have no run',
  },
  {
    fault: 'interrupts the calls of every process',
    breakPorts: rewriting((write) =>
      write.type === 'idempotency.interrupt' ? { ...write, executor: undefined } : write,
    ),
    cases: idempotencyStoreCases,
    caughtBy: 'stores the interrupt response only in records of the executor that it names',
  },
  {
    fault: 'answers a record although its waiter is patient',
    breakPorts: rewriting((write) =>
      write.type === 'idempotency.complete' ? { ...write, unlessPatientAt: undefined } : write,
    ),
    cases: idempotencyStoreCases,
    caughtBy: 'leaves out a record whose waiter is patient, exactly until patientUntil',
  },
  {
    fault: 'lists servers in reverse order',
    breakPorts: ({ mcpServers }) => ({
      mcpServers: { ...mcpServers, list: async () => Array.from(await mcpServers.list()).reverse() },
    }),
    cases: mcpServerStoreCases,
    caughtBy: 'lists all servers by id in code-unit order, regardless of the order in which they were added',
  },
])
