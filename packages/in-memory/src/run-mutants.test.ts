import { EVERY_ROW, type Storage, type Write } from '@perdure/ports'
import {
  approvalStoreCases,
  eventLogCases,
  runStoreCases,
  runTimersCases,
  stepStoreCases,
  unitOfWorkCases,
} from '@perdure/testkit'
import { expectCaught, justBefore, rewriting } from './contract-mutants.fixture.ts'

const currentAttempt = async (storage: Storage, runId: string): Promise<number> =>
  (await storage.runs.find(runId, EVERY_ROW))?.attempt ?? 1

const firstPage = { limit: 200, order: 'asc' } as const

const bothKinds = <T extends { agentIds?: readonly string[] | 'all'; workflowIds?: readonly string[] | 'all' }>(
  access: T,
): T => {
  const either = access.agentIds ?? access.workflowIds
  return either === undefined ? access : { ...access, agentIds: either, workflowIds: either }
}

expectCaught([
  {
    fault: 'skips the row after each cursor',
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
    caughtBy: 'pages through runs in both orders without repeats or gaps, whatever the limit',
  },
  {
    fault: 'includes the event at the starting position',
    breakPorts: ({ events }) => ({
      events: { ...events, read: (stream, { after, limit }) => events.read(stream, { after: after - 1, limit }) },
    }),
    cases: eventLogCases,
    caughtBy: 'reads the events after a position (exclusive), oldest first',
  },
  {
    fault: 'ignores the attempt of a fence',
    breakPorts: rewriting(async (write, storage) =>
      write.type === 'run.fence' ? { ...write, attempt: await currentAttempt(storage, write.runId) } : write,
    ),
    cases: runStoreCases,
    caughtBy: 'conflicts at the fence of an attempt that is not the current attempt',
  },
  {
    fault: 'appends what a run emits without checking its execution',
    breakPorts: rewriting((write) =>
      write.type === 'run.emit' ? { type: 'event.append', events: write.events } : write,
    ),
    cases: unitOfWorkCases,
    caughtBy:
      'appends nothing for a run that is not running in this attempt and execution, and the events of all others',
  },
  {
    fault: 'ignores the attempt of a transition',
    breakPorts: rewriting(async (write, storage) =>
      write.type === 'run.transition' ? { ...write, attempt: await currentAttempt(storage, write.runId) } : write,
    ),
    cases: runStoreCases,
    caughtBy: 'refuses a transition of an earlier or later attempt',
  },
  {
    fault: 'ignores the execution of a fence',
    breakPorts: rewriting((write) => (write.type === 'run.fence' ? { ...write, execution: undefined } : write)),
    cases: runStoreCases,
    caughtBy: 'keeps out what is left of an execution after its run was suspended and resumed under the same attempt',
  },
  {
    fault: 'ignores the execution of a transition',
    breakPorts: rewriting((write) => (write.type === 'run.transition' ? { ...write, execution: undefined } : write)),
    cases: runStoreCases,
    caughtBy: 'refuses a transition of an earlier or later execution under the same attempt',
  },
  {
    fault: 'keeps the executor of a run that no longer executes',
    breakPorts: rewriting(async (write, storage) => {
      if (write.type !== 'run.transition') return write
      const current = await storage.runs.find(write.runId, EVERY_ROW)
      return { ...write, change: { executor: current?.executor, ...write.change } }
    }),
    cases: runStoreCases,
    caughtBy:
      'removes the executor of a run that a transition sets to a status other than running, unless it names one',
  },
  {
    fault: 'accepts a second active run in a thread',
    breakPorts: ({ unitOfWork }) => ({
      unitOfWork: {
        commit: (writes) =>
          unitOfWork.commit(
            writes.map((write) =>
              write.type === 'run.insert' ? { ...write, run: { ...write.run, threadId: write.run.id } } : write,
            ),
          ),
      },
    }),
    cases: runStoreCases,
    caughtBy: 'refuses a second active run in a thread and returns the first, until the first has ended',
  },
  {
    fault: 'deletes a thread with an active run',
    breakPorts: ({ unitOfWork, runs }) => ({
      unitOfWork: {
        async commit(writes) {
          const active = await runs.list({ statuses: ['queued', 'running', 'suspended'] }, firstPage, EVERY_ROW)
          const ends = active.items.map(
            ({ id, status, attempt }): Write => ({
              ...{ type: 'run.transition', runId: id, from: [status], attempt },
              change: { status: 'aborted' },
            }),
          )
          return unitOfWork.commit(writes.flatMap((one) => (one.type === 'thread.delete' ? [...ends, one] : [one])))
        },
      },
    }),
    cases: runStoreCases,
    caughtBy: 'refuses to delete a thread while one of its runs is queued, running or suspended, and deletes nothing',
  },
  {
    fault: 'forgets that a run needs a follow-up',
    breakPorts: rewriting((write) => (write.type === 'run.transition' ? { ...write, needsFollowUp: false } : write)),
    cases: runStoreCases,
    caughtBy: 'lists exactly the runs whose transition needs a follow-up, with all their members',
  },
  {
    fault: 'marks every transition for a follow-up',
    breakPorts: rewriting((write) => (write.type === 'run.transition' ? { ...write, needsFollowUp: true } : write)),
    cases: runStoreCases,
    caughtBy: 'lists exactly the runs whose transition needs a follow-up, with all their members',
  },
  {
    fault: 'lists runs without checking visibility',
    breakPorts: ({ runs }) => ({ runs: { ...runs, list: (filter, page) => runs.list(filter, page, EVERY_ROW) } }),
    cases: runStoreCases,
    caughtBy: 'lists exactly the runs that the caller may see',
  },
  {
    fault: 'finds runs without checking visibility',
    breakPorts: ({ runs }) => ({ runs: { ...runs, find: (id) => runs.find(id, EVERY_ROW) } }),
    cases: runStoreCases,
    caughtBy: 'finds exactly the runs that the caller may see',
  },
  {
    fault: 'confuses a workflow with the agent of the same id',
    breakPorts: ({ runs }) => ({
      runs: {
        ...runs,
        list: (filter, page, visibility) =>
          runs.list(filter, page, visibility === EVERY_ROW ? visibility : bothKinds(visibility)),
      },
    }),
    cases: runStoreCases,
    caughtBy: 'lists exactly the runs that the caller may see',
  },
  {
    fault: 'lists a run as past its deadline a millisecond late',
    breakPorts: ({ runTimers }) => ({
      runTimers: { ...runTimers, pastDeadline: (now, limit) => runTimers.pastDeadline(justBefore(now), limit) },
    }),
    cases: runTimersCases,
    caughtBy: 'treats a run as past its deadline exactly from deadlineAt',
  },
  {
    fault: 'deletes threads with the same id in every workflow',
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
    fault: 'assigns no end order',
    breakPorts: ({ steps }) => ({
      steps: {
        ...steps,
        list: async (runId) => (await steps.list(runId)).map((step) => ({ ...step, endOrder: undefined })),
      },
    }),
    cases: stepStoreCases,
    caughtBy: 'numbers the calls of each run in the order in which they complete or fail',
  },
  {
    fault: 'lists a waiting call as due a millisecond late',
    breakPorts: ({ steps }) => ({ steps: { ...steps, due: (now, limit) => steps.due(justBefore(now), limit) } }),
    cases: stepStoreCases,
    caughtBy: 'treats a waiting call as due exactly from dueAt',
  },
  {
    fault: 'ignores call fences',
    breakPorts: rewriting((write) => (write.type === 'step.fence' ? { ...write, seqs: [] } : write)),
    cases: stepStoreCases,
    caughtBy: 'returns the first call of a fence that is not waiting',
  },
  {
    fault: 'ignores approval fences',
    breakPorts: rewriting((write) => (write.type === 'approval.fence' ? { ...write, ids: [] } : write)),
    cases: approvalStoreCases,
    caughtBy: 'lets only one of two concurrent decisions leave the other approval undecided',
  },
  {
    fault: 'accepts a second decision on an approval',
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
    caughtBy: 'refuses to resolve an approval that is not pending and returns its resolution',
  },
  {
    fault: 'lists approvals without checking visibility',
    breakPorts: ({ approvals }) => ({
      approvals: { ...approvals, list: (filter, page) => approvals.list(filter, page, EVERY_ROW) },
    }),
    cases: approvalStoreCases,
    caughtBy: 'lists exactly the approvals that the caller may see',
  },
])
