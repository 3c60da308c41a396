import { createInMemoryStorage } from '@perdure/in-memory'
import {
  EVERY_ROW,
  fromJsonText,
  type NewEvent,
  type RunBudget,
  type RunRecord,
  type StepRecord,
  type Storage,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import fc from 'fast-check'
import { expect } from 'vitest'
import { agentOf, createTestEngine, untilIdle } from '../../engine/test-engine.fixture.ts'
import { createCrashingStorage } from '../../engine-model/crashing-storage.fixture.ts'
import type { RunContext } from '../../targets/run-context.ts'

/** The budgets of the registered agents. */
export const BUDGETS = {
  node: undefined,
  oneTool: { toolCalls: 1 },
  threeTools: { toolCalls: 3 },
  frugal: { tokens: 50, toolCalls: 2 },
} as const satisfies Record<string, RunBudget | undefined>
export type AgentId = keyof typeof BUDGETS
export const AGENT_IDS = Object.keys(BUDGETS) as readonly AgentId[]

/** One action of a run. `parallel` runs its actions concurrently. */
export type Op =
  | { readonly op: 'usage'; readonly tokens: number }
  | { readonly op: 'tool' }
  | { readonly op: 'child'; readonly ops: readonly Op[]; readonly agent?: AgentId }
  | { readonly op: 'parallel'; readonly ops: readonly Op[] }

async function perform(ops: readonly Op[], context: RunContext): Promise<void> {
  for (const op of ops) await performOne(op, context)
}

async function performOne(op: Op, context: RunContext): Promise<void> {
  if (op.op === 'usage') return context.usage({ provider: 'p', model: 'm', inputTokens: op.tokens })
  if (op.op === 'tool') return void (await context.tool({ name: 't', execute: () => 1 }))
  if (op.op === 'parallel') return void (await Promise.all(op.ops.map((one) => performOne(one, context))))
  await context.invoke(op.agent ?? 'node', op.ops).catch((error: { readonly code?: string }) => {
    if (error.code !== 'step-failed') throw error
  })
}

export const agents = AGENT_IDS.map((id) => {
  const budget = BUDGETS[id]
  const limits = budget === undefined ? {} : { budget }
  const options = { onCrash: 'retry', recoveries: 8, ...limits } as const
  return agentOf(id, (ops, context) => perform(ops as Op[], context), options)
})

/** Lets a caller wait until no commit is in flight. */
function withIdle(storage: Storage) {
  let inFlight = 0
  const unitOfWork: Storage['unitOfWork'] = {
    async commit(writes) {
      inFlight++
      try {
        return await storage.unitOfWork.commit(writes)
      } finally {
        inFlight--
      }
    },
  }
  const idle = async () => {
    while (inFlight > 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { storage: { ...storage, unitOfWork }, idle }
}

/** A storage whose commits run one after another and take the given numbers of event loop turns. */
function slow(storage: Storage, turns: readonly number[]): Storage {
  let queue: Promise<unknown> = Promise.resolve()
  let count = 0
  return {
    ...storage,
    unitOfWork: {
      commit(writes) {
        const pause = turns[count++ % turns.length] ?? 0
        const done = queue
          .then(async () => {
            for (let turn = 0; turn < pause; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
          })
          .then(() => storage.unitOfWork.commit(writes))
        queue = done.catch(() => undefined)
        return done
      },
    },
  }
}

/** Generous, because commits of SQLite take many turns of the event loop. */
const MAX_ROUNDS = 2_000

/** The input of a run is its tree: larger than the default limit allows. */
const MAX_INPUT_BYTES = 100_000

export interface Plan {
  readonly ops: readonly Op[]
  readonly budget: { readonly tokens?: number | undefined; readonly toolCalls?: number | undefined }
  readonly turns: readonly number[]
  /** The number of commits after which each process crashes. One more process then finishes the work. */
  readonly crashes: readonly number[]
}

export interface Family {
  readonly runs: readonly RunRecord[]
  readonly events: readonly NewEvent[]
  readonly calls: readonly StepRecord[]
}

export async function runFamily(
  { ops, budget, turns, crashes }: Plan,
  storage: Storage = createInMemoryStorage(),
): Promise<Family> {
  const shared = { clock: createManualClock(), ids: createSequenceIds(), agents }
  const runs = async () => (await storage.runs.list({ kind: 'agent' }, { limit: 200, order: 'asc' }, EVERY_ROW)).items
  let isAsked = false
  let refusal: unknown
  for (const commits of [...crashes, Number.POSITIVE_INFINITY]) {
    const base = withIdle(storage)
    const { storage: own, crashAfter, hasCrashed } = createCrashingStorage(base.storage)
    const engine = createTestEngine({ ...shared, storage: slow(own, turns), maxResultBytes: MAX_INPUT_BYTES })
    await engine.recover()
    await engine.start()
    crashAfter(commits)
    if (!isAsked) {
      engine.run('node', { body: { input: ops, budget }, answer: 'accepted' }).catch((error: unknown) => {
        refusal = error
      })
    }
    const isOver = async () =>
      hasCrashed() || ((await runs()).length > 0 && (await runs()).every((run) => isTerminal(run.status)))
    for (let round = 0; round < MAX_ROUNDS && refusal === undefined && !(await isOver()); round++)
      await untilIdle(shared.clock)
    if (refusal !== undefined) throw refusal
    await base.idle()
    isAsked = (await runs()).length > 0
  }
  const all = await runs()
  const logs = await Promise.all(all.map(({ id }) => storage.events.read({ runId: id }, { after: 0, limit: 10_000 })))
  const events = logs.flat().sort((a, b) => a.position - b.position)
  const calls = (await Promise.all(all.map(({ id }) => storage.steps.list(id)))).flat()
  return { runs: all, events, calls }
}

const below = ({ runs }: Family, id: string): readonly RunRecord[] =>
  runs.flatMap((run) => (run.parentRunId === id ? [run, ...below({ runs } as Family, run.id)] : []))

const tokensOf = ({ payload }: NewEvent) => (fromJsonText(payload) as { readonly inputTokens: number }).inputTokens

/** The run of each usage report that was made after the limit had been reached. */
function reportsBeyond(events: readonly NewEvent[], limit: number): readonly (string | undefined)[] {
  let sum = 0
  const beyond: (string | undefined)[] = []
  for (const event of events.filter(({ type }) => type === 'usage')) {
    if (sum >= limit) beyond.push(event.runId)
    sum += tokensOf(event)
  }
  return beyond
}

export const count = ({ events }: Pick<Family, 'events'>, type: string) =>
  events.filter((event) => event.type === type).length

export const spentBy = ({ events }: Pick<Family, 'events'>) =>
  events.filter(({ type }) => type === 'usage').reduce((sum, event) => sum + tokensOf(event), 0)

/** The usage of a run and its descendants according to their recorded calls and events. */
function treeOf(family: Family, run: RunRecord) {
  const ids = new Set([run, ...below(family, run.id)].map(({ id }) => id))
  const calls = family.calls.filter(({ runId, name }) => ids.has(runId) && name === 't')
  const events = family.events.filter(({ runId = '' }) => ids.has(runId))
  const executed = new Set(
    events
      .filter(({ type }) => type === 'tool.execute.start')
      .map(({ payload }) => (fromJsonText(payload) as { readonly toolCallId: string }).toolCallId),
  )
  return { events, toolCalls: calls.length, executed: executed.size }
}

/** Compares the usage of each run and its descendants with its budget and with the usage in its record. */
export function expectWithin(family: Family): void {
  expect(family.runs).not.toEqual([])
  expect(family.runs.filter(({ status }) => !isTerminal(status))).toEqual([])
  for (const run of family.runs) {
    const { events, toolCalls, executed } = treeOf(family, run)
    const { tokens = Number.POSITIVE_INFINITY, toolCalls: limit = Number.POSITIVE_INFINITY } = run.budget ?? {}
    const registered = BUDGETS[run.targetId as AgentId] ?? {}
    expect(run.usage, `usage of ${run.id}`).toMatchObject({ toolCalls, inputTokens: spentBy({ events }) })
    expect(executed).toBeLessThanOrEqual(toolCalls)
    expect(toolCalls, `calls of ${run.id}`).toBeLessThanOrEqual(limit)
    if (run.parentRunId !== undefined)
      expect(run.budget ?? {}).toEqual(expect.objectContaining(limitsBelow(family, run, registered)))
    const beyond = reportsBeyond(events, tokens)
    expect(beyond, 'each run reports at most once after the limit was reached').toEqual([...new Set(beyond)])
    expectBlamed(family, run)
  }
}

/** The limits of a child: the smaller of its registration's and its parent's. */
function limitsBelow({ runs }: Family, { parentRunId }: RunRecord, registered: RunBudget): RunBudget {
  const { budget = {} } = runs.find(({ id }) => id === parentRunId) ?? {}
  const smaller = (one = Number.POSITIVE_INFINITY, other = Number.POSITIVE_INFINITY) =>
    Math.min(one, other) === Number.POSITIVE_INFINITY ? undefined : Math.min(one, other)
  const tokens = smaller(registered.tokens, budget.tokens)
  const toolCalls = smaller(registered.toolCalls, budget.toolCalls)
  return { ...(tokens === undefined ? {} : { tokens }), ...(toolCalls === undefined ? {} : { toolCalls }) }
}

/**
 * A run that ended with `budget-exhausted` names itself or an ancestor that has used up a limit. That run ended with
 * the same error, unless one of its own ancestors ended first.
 */
function expectBlamed(family: Family, run: RunRecord): void {
  if (run.finishReason !== 'budget-exhausted') return
  const owner = family.runs.find(({ id }) => id === run.error?.budgetOf)
  expect(run.error?.message).toContain(owner?.id)
  const parent = family.runs.find(({ id }) => id === owner?.parentRunId)
  const isAbortedFirst = owner?.finishReason === 'aborted' && parent !== undefined && isTerminal(parent.status)
  expect(isAbortedFirst ? 'budget-exhausted' : owner?.finishReason).toBe('budget-exhausted')
  const { id, usage, budget = {} } = owner as RunRecord
  const tree = [owner, ...below(family, id)]
  expect(tree).toContain(run)
  // The last use of a run that is aborted may be lost, although it was spent.
  if (tree.some((one) => one?.finishReason === 'aborted')) return
  const isUsedUp = (used: number, limit = Number.POSITIVE_INFINITY) => used >= limit
  expect(isUsedUp(usage.inputTokens, budget.tokens) || isUsedUp(usage.toolCalls, budget.toolCalls)).toBe(true)
}

/** How many commits the plan makes without a crash. */
export async function commitsOf(plan: Plan): Promise<number> {
  const storage = createInMemoryStorage()
  let commits = 0
  const unitOfWork: Storage['unitOfWork'] = {
    commit(writes) {
      commits++
      return storage.unitOfWork.commit(writes)
    },
  }
  await runFamily({ ...plan, crashes: [] }, { ...storage, unitOfWork })
  return commits
}

const leaf: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('usage' as const), tokens: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.constant({ op: 'tool' as const }) },
)
const childOf = (ops: fc.Arbitrary<Op>): fc.Arbitrary<Op> =>
  fc.record({
    op: fc.constant('child' as const),
    ops: fc.array(ops, { minLength: 1, maxLength: 4 }),
    agent: fc.constantFrom(...AGENT_IDS),
  })
const parallelOf = (op: fc.Arbitrary<Op>): fc.Arbitrary<Op> =>
  fc.record({ op: fc.constant('parallel' as const), ops: fc.array(op, { minLength: 2, maxLength: 4 }) })
const inner = fc.oneof(leaf, parallelOf(childOf(leaf)), parallelOf(fc.constant({ op: 'tool' as const })))
const outer = fc.oneof(leaf, parallelOf(childOf(inner)), parallelOf(childOf(leaf)))

/** Random trees of runs with budgets of their own. */
export const plans = (crashes: fc.Arbitrary<readonly number[]>): fc.Arbitrary<Plan> =>
  fc.record({
    ops: fc.array(outer, { minLength: 1, maxLength: 4, size: 'max' }),
    budget: fc.record({
      tokens: fc.option(fc.integer({ min: 1, max: 150 }), { nil: undefined }),
      toolCalls: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    }),
    turns: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
    crashes,
  })
