import { type EpochMs, EVERY_ROW, type RunStatus, type Storage, type UnitOfWork, type Write } from '@berth/ports'
import {
  approvalStoreCases,
  type ContractCase,
  eventLogCases,
  idempotencyStoreCases,
  mcpServerStoreCases,
  runStoreCases,
  sessionStoreCases,
  stepStoreCases,
  unitOfWorkCases,
} from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import { createInMemoryStorage } from './in-memory-storage.ts'

/** A storage with one fault, and the case that must notice it. */
interface Mutant {
  readonly fault: string
  readonly breakPorts: (storage: Storage) => Partial<Storage>
  readonly cases: readonly ContractCase[]
  readonly caughtBy: string
}

const EVERY_STATUS: readonly RunStatus[] = ['queued', 'running', 'suspended', 'completed', 'failed', 'aborted']

const justBefore = (at: EpochMs): EpochMs => (at - 1) as EpochMs

/** Commits each write as `change` makes it. */
const rewriting =
  (change: (write: Write, storage: Storage) => Write | Promise<Write>) =>
  (storage: Storage): Partial<Storage> => ({
    unitOfWork: {
      commit: async (writes) =>
        storage.unitOfWork.commit(await Promise.all(writes.map((write) => change(write, storage)))),
    },
  })

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

const currentAttempt = async (storage: Storage, runId: string): Promise<number> =>
  (await storage.runs.find(runId, EVERY_ROW))?.attempt ?? 1

const MUTANTS: readonly Mutant[] = [
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
    fault: 'loses the row after each cursor',
    breakPorts: ({ runs }) => ({
      runs: {
        ...runs,
        async list(filter, query, visibility) {
          const page = await runs.list(filter, query, visibility)
          return query.cursor === undefined ? page : { ...page, items: page.items.slice(1) }
        },
      },
    }),
    cases: runStoreCases,
    caughtBy: 'pages through runs in both orders without repeats or holes, whatever the limit',
  },
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
    fault: 'reads events from the position on instead of after it',
    breakPorts: ({ events }) => ({
      events: { ...events, read: (stream, { after, limit }) => events.read(stream, { after: after - 1, limit }) },
    }),
    cases: eventLogCases,
    caughtBy: 'reads the events after a position, which is exclusive, oldest first',
  },
  {
    fault: 'ignores the attempt of a fence',
    breakPorts: rewriting(async (write, storage) =>
      write.type === 'run.fence' ? { ...write, attempt: await currentAttempt(storage, write.runId) } : write,
    ),
    cases: runStoreCases,
    caughtBy: 'a fence stops an attempt that is not the current one',
  },
  {
    fault: 'ignores the attempt of a transition',
    breakPorts: rewriting(async (write, storage) =>
      write.type === 'run.transition' ? { ...write, attempt: await currentAttempt(storage, write.runId) } : write,
    ),
    cases: runStoreCases,
    caughtBy: 'a transition of an earlier or later attempt is refused',
  },
  {
    fault: 'lists runs to whoever asks',
    breakPorts: ({ runs }) => ({ runs: { ...runs, list: (filter, page) => runs.list(filter, page, EVERY_ROW) } }),
    cases: runStoreCases,
    caughtBy: 'lists exactly the runs the caller may see',
  },
  {
    fault: 'finds runs for whoever asks',
    breakPorts: ({ runs }) => ({ runs: { ...runs, find: (id) => runs.find(id, EVERY_ROW) } }),
    cases: runStoreCases,
    caughtBy: 'finds exactly the runs the caller may see',
  },
  {
    fault: 'takes a workflow for the agent of the same id',
    breakPorts: ({ runs }) => ({
      runs: {
        ...runs,
        list: (filter, page, visibility) =>
          runs.list(filter, page, visibility === EVERY_ROW ? visibility : bothKinds(visibility)),
      },
    }),
    cases: runStoreCases,
    caughtBy: 'lists exactly the runs the caller may see',
  },
  {
    fault: 'finds runs past their deadline a millisecond late',
    breakPorts: ({ runs }) => ({
      runs: { ...runs, pastDeadline: (now, limit) => runs.pastDeadline(justBefore(now), limit) },
    }),
    cases: runStoreCases,
    caughtBy: 'a run is past its deadline from deadlineAt on, exactly',
  },
  {
    fault: 'deletes the threads of every workflow that have the name',
    breakPorts: ({ unitOfWork, runs }) => ({
      unitOfWork: {
        async commit(writes) {
          const every = await runs.list({ kind: 'workflow' }, { limit: 200, order: 'asc' }, EVERY_ROW)
          const workflowIds = Array.from(new Set(every.items.map(({ targetId }) => targetId)))
          return unitOfWork.commit(
            writes.flatMap((write): readonly Write[] =>
              write.type === 'thread.delete' ? workflowIds.map((workflowId) => ({ ...write, workflowId })) : [write],
            ),
          )
        },
      },
    }),
    cases: runStoreCases,
    caughtBy: 'leaves nothing of a deleted thread in any list or stream',
  },
  {
    fault: 'gives settled calls no order',
    breakPorts: ({ steps }) => ({
      steps: {
        ...steps,
        list: async (runId) => (await steps.list(runId)).map((step) => ({ ...step, order: undefined })),
      },
    }),
    cases: stepStoreCases,
    caughtBy: 'numbers the calls of each run in the order they settle, completed and failed ones alike',
  },
  {
    fault: 'finds waiting calls due a millisecond late',
    breakPorts: ({ steps }) => ({ steps: { ...steps, due: (now, limit) => steps.due(justBefore(now), limit) } }),
    cases: stepStoreCases,
    caughtBy: 'a waiting call is due from its dueAt on, exactly',
  },
  {
    fault: 'ignores the fences of calls',
    breakPorts: rewriting((write) => (write.type === 'step.fence' ? { ...write, seqs: [] } : write)),
    cases: stepStoreCases,
    caughtBy: 'a fence names the first of its calls that does not wait',
  },
  {
    fault: 'lets a later decision of an approval pass',
    breakPorts: ({ unitOfWork }) => ({
      unitOfWork: {
        async commit(writes) {
          const outcome = await unitOfWork.commit(writes)
          if (outcome.committed || outcome.conflict.type !== 'approval.resolve') return outcome
          return { committed: true, events: [], counts: writes.map(() => 1) }
        },
      },
    }),
    cases: approvalStoreCases,
    caughtBy: 'refuses to resolve an approval that is not pending and names how it came out',
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
  {
    fault: 'lists approvals to whoever asks',
    breakPorts: ({ approvals }) => ({
      approvals: { ...approvals, list: (filter, page) => approvals.list(filter, page, EVERY_ROW) },
    }),
    cases: approvalStoreCases,
    caughtBy: 'lists exactly the approvals the caller may see',
  },
]

const bothKinds = <T extends { agentIds?: readonly string[] | 'all'; workflowIds?: readonly string[] | 'all' }>(
  access: T,
): T => {
  const either = access.agentIds ?? access.workflowIds
  return either === undefined ? access : { ...access, agentIds: either, workflowIds: either }
}

describe.each(MUTANTS)('a storage that $fault', ({ breakPorts, cases, caughtBy }) => {
  const contractCase = cases.find(({ title }) => title === caughtBy)

  it(`fails "${caughtBy}", which a sound one passes`, async () => {
    const sound = createInMemoryStorage()
    await expect(contractCase?.run(sound)).resolves.toBeUndefined()

    const storage = createInMemoryStorage()
    await expect(contractCase?.run({ ...storage, ...breakPorts(storage) })).rejects.toThrow()
  })
})
