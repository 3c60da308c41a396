import { type RunChange, type RunRecord, type Storage, toJsonText } from '@perdure/ports'
import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aRun, aSession } from '../builders.ts'
import { commit, findRun, insertRuns, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { runChargeCases } from './run-charge.contract.ts'
import { runDebounceCases } from './run-debounce.contract.ts'
import { runExecutionCases } from './run-execution.contract.ts'
import { runFenceCases } from './run-fence.contract.ts'
import { runFieldCases } from './run-field.contract.ts'
import { runFollowUpCases } from './run-follow-up.contract.ts'
import { runListCases } from './run-list.contract.ts'
import { runOwnerCases } from './run-owner.contract.ts'
import { runThreadCases } from './run-thread.contract.ts'
import { runTurnCases } from './run-turn.contract.ts'
import { runVisibilityCases } from './run-visibility.contract.ts'
import { runWholeCases } from './run-whole.contract.ts'
import { subjectUsageCases } from './subject-usage.contract.ts'
import { threadDeletionCases } from './thread-deletion.contract.ts'

const OPTIONALS: Optionals<RunRecord> = {
  threadId: 'thr_1',
  sessionId: 'ses_1',
  userId: 'user-7',
  finishReason: 'error',
  result: toJsonText({ text: 'Grüße, 世界 🚢', nested: [null, 0.5] }),
  error: { code: 'run-failed', message: 'it broke', budgetOf: 'run_top' },
  budget: { tokens: 1_000, costUsd: 0.1, toolCalls: 0, maxDuration: 60_000, onExceeded: 'ask' },
  deadlineAt: at(60_000),
  timeoutMs: 30_000,
  suspension: toJsonText({ state: 'Grüße' }),
  resumption: toJsonText(null),
  parked: toJsonText({ seq: 2 }),
  startAt: at(500),
  executor: 'node-1',
  retries: 1,
  abortReason: 'enough',
  version: '2',
  priority: -100,
  flow: { concurrency: 'ada', rate: 'Grüße, 世界 🚢', debounce: '', onBusy: 'steer' },
  forkOf: { runId: 'run_source', seq: 3 },
  withdrawnBy: 'run_later',
  caller: toJsonText({ claims: { plan: 'Grüße 🚢' } }),
  parentRunId: 'run_parent',
  parentSeq: 4,
  triggerId: 'nightly',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  startedAt: at(1),
  suspendedAt: at(2),
  completedAt: at(3),
}

const CHANGE: Required<RunChange> = {
  status: 'failed',
  finishReason: 'timeout',
  input: toJsonText({ text: 'newer 🚢' }),
  result: toJsonText(['late']),
  error: {
    code: 'timeout',
    ...{ message: 'too slow', step: { seq: 3, name: 'charge' } },
    cause: [{ name: 'TypeError', message: 'no answer' }],
    stack: 'Error: too slow\n    at charge (agents/pay.ts:1:2)',
  },
  usage: { inputTokens: 12, outputTokens: 34, costUsd: 0.000_56, toolCalls: 7 },
  attempt: 2,
  executor: 'node-2',
  suspension: toJsonText({ state: [1] }),
  resumption: toJsonText('go on'),
  parked: toJsonText({ version: '1' }),
  flow: { concurrency: 'bob', debounce: 'd' },
  startAt: at(700),
  deadlineAt: at(800),
  retries: 2,
  abortReason: 'no longer needed',
  withdrawnBy: 'run_other',
  caller: toJsonText({ name: 'Bob' }),
  startedAt: at(10),
  suspendedAt: at(20),
  completedAt: at(30),
}

/** The session and the run that `OPTIONALS` refers to. */
const insertRelated = async (storage: Storage): Promise<void> => {
  await commit(storage, { type: 'session.insert', session: aSession({ id: OPTIONALS.sessionId }) })
  await insertRuns(storage, aRun({ id: OPTIONALS.parentRunId }))
}

const roundTripCases: readonly ContractCase[] = [
  {
    title: 'finds no run for an unknown id',
    async run(storage) {
      await insertRuns(storage, aRun())

      expect(await findRun(storage, 'run-unknown')).toBeUndefined()
    },
  },
  {
    title: 'round-trips a run with all, one and none of the optional fields',
    async run(storage) {
      const runs = [{ ...OPTIONALS }, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aRun({ id: `run-${index}`, ...fields }),
      )
      await insertRelated(storage)
      await insertRuns(storage, ...runs)

      for (const run of runs) expect(await findRun(storage, run.id)).toEqual(run)
    },
  },
  {
    title: 'round-trips every run kind and status with an error',
    async run(storage) {
      const runs = RUN_STATUS_NAMES.flatMap((status) => [
        aRun({ id: `agent-${status}`, status, error: { code: 'run-failed', message: '' } }),
        aRun({ id: `flow-${status}`, kind: 'workflow', status, error: { code: 'timeout', message: 'm' } }),
      ])
      await insertRuns(storage, ...runs)

      for (const run of runs) expect(await findRun(storage, run.id)).toEqual(run)
    },
  },
  {
    title: 'round-trips input, result, metadata, usage and budget of a run exactly',
    async run(storage) {
      const run = aRun({
        input: toJsonText({ text: 'x'.repeat(1_048_576) }),
        result: toJsonText(null),
        metadata: { 'a.b "c"': 'd\n\u0001', e: '', ü: '🚢' },
        usage: { inputTokens: 2 ** 40, outputTokens: 1, costUsd: 0.1 + 0.2, toolCalls: 3 },
        budget: { costUsd: 0.1 + 0.2 },
        attempt: 1_000_000,
        execution: 1_000_001,
        timeoutMs: 0,
        depth: 8,
      })
      await insertRuns(storage, run)

      expect(await findRun(storage, run.id)).toEqual(run)
    },
  },
  {
    title: 'refuses a run with a taken id and returns the existing run',
    async run(storage) {
      const first = aRun({ owner: 'alice' })
      await insertRuns(storage, first)

      const outcome = await refused(storage, { type: 'run.insert', run: aRun({ owner: 'bob' }) })

      expect(outcome.conflict).toEqual({ type: 'run.insert', current: first })
      expect(await findRun(storage, first.id)).toEqual(first)
    },
  },
]

const transitionCases: readonly ContractCase[] = [
  {
    title: 'sets every field that a transition names',
    async run(storage) {
      const run = aRun({ status: 'running', ...OPTIONALS })
      await insertRelated(storage)
      await insertRuns(storage, run)
      await commit(storage, { type: 'run.transition', runId: run.id, from: ['running'], attempt: 1, change: CHANGE })

      expect(await findRun(storage, run.id)).toEqual({ ...run, ...CHANGE })
    },
  },
  {
    title: 'keeps every field that a transition does not name or names as undefined',
    async run(storage) {
      const run = aRun({ status: 'running', ...OPTIONALS })
      await insertRelated(storage)
      await insertRuns(storage, run, aRun({ id: 'neighbour', status: 'running' }))
      const nothing = Object.fromEntries(Object.keys(CHANGE).map((field) => [field, undefined])) as RunChange

      for (const change of [{}, nothing, { status: 'suspended' as const, finishReason: undefined }]) {
        await commit(storage, { type: 'run.transition', runId: run.id, from: ['running'], attempt: 1, change })
      }

      expect(await findRun(storage, run.id)).toEqual({ ...run, status: 'suspended', executor: undefined })
      expect(await findRun(storage, 'neighbour')).toEqual(aRun({ id: 'neighbour', status: 'running' }))
    },
  },
  {
    title: 'sets each field of a transition independently',
    async run(storage) {
      const fields = Object.entries(CHANGE).map(([field, value]) => ({ [field]: value }) as RunChange)
      for (const [index, change] of fields.entries()) {
        const run = aRun({ id: `run-${index}`, status: 'running' })
        await insertRuns(storage, run)
        await commit(storage, { type: 'run.transition', runId: run.id, from: ['running'], attempt: 1, change })

        expect(await findRun(storage, run.id)).toEqual({ ...run, ...change })
      }
    },
  },
  {
    title: 'allows a transition from each status that it names and from no other status',
    async run(storage) {
      const statuses = RUN_STATUS_NAMES
      for (const status of statuses) {
        const run = aRun({ id: status, status })
        await insertRuns(storage, run)
        const abort = { type: 'run.transition', runId: status, attempt: 1, change: { status: 'aborted' } } as const
        const others = statuses.filter((other) => other !== status)

        for (const from of [others, []]) {
          expect((await refused(storage, { ...abort, from })).conflict).toEqual({
            type: 'run.transition',
            current: run,
          })
        }
        await commit(storage, { ...abort, from: ['queued', status] })
        expect((await findRun(storage, status))?.status).toBe('aborted')
      }
    },
  },
  {
    title: 'refuses a transition of an earlier or later attempt',
    async run(storage) {
      const run = aRun({ status: 'running', attempt: 2 })
      await insertRuns(storage, run)

      for (const attempt of [1, 3]) {
        const outcome = await refused(storage, {
          type: 'run.transition',
          runId: run.id,
          from: ['running'],
          attempt,
          change: { status: 'completed' },
        })
        expect(outcome.conflict).toEqual({ type: 'run.transition', current: run })
      }
      expect(await findRun(storage, run.id)).toEqual(run)
    },
  },
  {
    title: 'refuses writes of the previous attempt after a transition increments the attempt',
    async run(storage) {
      const run = aRun({ status: 'running' })
      await insertRuns(storage, run)
      const change = { status: 'queued', attempt: 2 } as const
      await commit(storage, { type: 'run.transition', runId: run.id, from: ['running'], attempt: 1, change })

      const stale = {
        type: 'run.transition',
        runId: run.id,
        from: ['queued', 'running'],
        attempt: 1,
        change: {},
      } as const
      expect((await refused(storage, stale)).conflict).toEqual({
        type: 'run.transition',
        current: { ...run, ...change },
      })
      await commit(storage, { ...stale, attempt: 2, change: { status: 'running' } })
    },
  },
  {
    title: 'refuses a transition or fence of an unknown run and returns no current run',
    async run(storage) {
      const unknown = { runId: 'run-unknown', attempt: 1 }
      const transition = await refused(storage, { type: 'run.transition', ...unknown, from: ['queued'], change: {} })
      const fence = await refused(storage, { type: 'run.fence', ...unknown })

      expect([transition.conflict, fence.conflict]).toEqual([{ type: 'run.transition' }, { type: 'run.fence' }])
    },
  },
]

export const runStoreCases: readonly ContractCase[] = [
  ...roundTripCases,
  ...transitionCases,
  ...runChargeCases,
  ...runTurnCases,
  ...subjectUsageCases,
  ...runFenceCases,
  ...runExecutionCases,
  ...runWholeCases,
  ...runFollowUpCases,
  ...runListCases,
  ...runVisibilityCases,
  ...runOwnerCases,
  ...runFieldCases,
  ...runDebounceCases,
  ...runThreadCases,
  ...threadDeletionCases,
]

/** Requirements for every `RunStore` and for writes of runs. */
export const runStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'RunStore', cases: runStoreCases }], harness)
