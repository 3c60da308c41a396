import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, fromJsonText, type NewEvent, type RunRecord, type Storage } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, untilIdle } from '../engine/test-engine.fixture.ts'
import { createCrashingStorage } from '../model/crashing-storage.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

/** One action of a run. `parallel` runs its actions concurrently. */
type Op =
  | { readonly op: 'usage'; readonly tokens: number }
  | { readonly op: 'tool' }
  | { readonly op: 'child'; readonly ops: readonly Op[] }
  | { readonly op: 'parallel'; readonly ops: readonly Op[] }

async function perform(ops: readonly Op[], context: RunContext): Promise<void> {
  for (const op of ops) await performOne(op, context)
}

async function performOne(op: Op, context: RunContext): Promise<void> {
  if (op.op === 'usage') return context.usage({ provider: 'p', model: 'm', inputTokens: op.tokens })
  if (op.op === 'tool') return void (await context.tool({ name: 't', execute: () => 1 }))
  if (op.op === 'parallel') return void (await Promise.all(op.ops.map((one) => performOne(one, context))))
  await context.agents.run('node', op.ops).catch((error: { readonly id?: string }) => {
    if (error.id !== 'step-failed') throw error
  })
}

const node = agentOf('node', (ops, context) => perform(ops as Op[], context), { recovery: 'resume', maxAttempts: 9 })

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

interface Plan {
  readonly ops: readonly Op[]
  readonly budget: { readonly tokens?: number | undefined; readonly toolCalls?: number | undefined }
  readonly turns: readonly number[]
  /** The number of commits after which each process crashes. One more process then finishes the work. */
  readonly crashes: readonly number[]
}

interface Family {
  readonly runs: readonly RunRecord[]
  readonly events: readonly NewEvent[]
}

async function runFamily({ ops, budget, turns, crashes }: Plan): Promise<Family> {
  const storage = createInMemoryStorage()
  const shared = { clock: createManualClock(), ids: createSequenceIds(), agents: [node] }
  const runs = async () =>
    (await storage.runs.list({ kind: 'agent', targetId: 'node' }, { limit: 200, order: 'asc' }, EVERY_ROW)).items
  let isAsked = false
  for (const commits of [...crashes, Number.POSITIVE_INFINITY]) {
    const { storage: own, crashAfter, hasCrashed } = createCrashingStorage(storage)
    const engine = createTestEngine({ ...shared, storage: slow(own, turns) })
    await engine.recover()
    await engine.start()
    crashAfter(commits)
    if (!isAsked) engine.run('node', { body: { input: ops, budget }, answer: 'accepted' }).catch(() => undefined)
    const isOver = async () =>
      hasCrashed() || ((await runs()).length > 0 && (await runs()).every((run) => isTerminal(run.status)))
    for (let round = 0; round < 300 && !(await isOver()); round++) await untilIdle(shared.clock)
    isAsked = (await runs()).length > 0
  }
  const all = await runs()
  const logs = await Promise.all(all.map(({ id }) => storage.events.read({ runId: id }, { after: 0, limit: 10_000 })))
  const events = logs.flat().sort((a, b) => a.position - b.position)
  return { runs: all, events }
}

const leaf: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('usage' as const), tokens: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.constant({ op: 'tool' as const }) },
)
const childOf = (ops: fc.Arbitrary<Op>): fc.Arbitrary<Op> =>
  fc.record({ op: fc.constant('child' as const), ops: fc.array(ops, { minLength: 1, maxLength: 4 }) })
const parallelOf = (op: fc.Arbitrary<Op>): fc.Arbitrary<Op> =>
  fc.record({ op: fc.constant('parallel' as const), ops: fc.array(op, { minLength: 2, maxLength: 4 }) })
const inner = fc.oneof(leaf, parallelOf(childOf(leaf)), parallelOf(fc.constant({ op: 'tool' as const })))
const outer = fc.oneof(leaf, parallelOf(childOf(inner)), parallelOf(childOf(leaf)))

const plans = (crashes: fc.Arbitrary<readonly number[]>): fc.Arbitrary<Plan> =>
  fc.record({
    ops: fc.array(outer, { minLength: 1, maxLength: 4, size: 'max' }),
    budget: fc.record({
      tokens: fc.option(fc.integer({ min: 1, max: 150 }), { nil: undefined }),
      toolCalls: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    }),
    turns: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
    crashes,
  })

const tokensOf = ({ payload }: NewEvent) => (fromJsonText(payload) as { readonly inputTokens: number }).inputTokens

/** The run of each usage report that was made after the limit had been reached. */
function reportsBeyond({ events }: Family, limit: number): readonly (string | undefined)[] {
  let sum = 0
  const beyond: (string | undefined)[] = []
  for (const event of events.filter(({ type }) => type === 'usage')) {
    if (sum >= limit) beyond.push(event.runId)
    sum += tokensOf(event)
  }
  return beyond
}

const count = ({ events }: Family, type: string) => events.filter((event) => event.type === type).length
/** Counts a call only once, even if it is repeated after a crash. */
const toolCallsOf = ({ events }: Family) =>
  new Set(
    events
      .filter(({ type }) => type === 'tool.execute.start')
      .map(({ payload }) => (fromJsonText(payload) as { readonly toolCallId: string }).toolCallId),
  ).size
const spentBy = ({ events }: Family) =>
  events.filter(({ type }) => type === 'usage').reduce((sum, event) => sum + tokensOf(event), 0)

function expectWithin(family: Family, { budget }: Plan): void {
  const { tokens = Number.POSITIVE_INFINITY, toolCalls = Number.POSITIVE_INFINITY } = budget
  expect(family.runs.filter(({ status }) => !isTerminal(status))).toEqual([])
  const beyond = reportsBeyond(family, tokens)
  expect(beyond, 'each run reports at most once after the limit was reached').toEqual([...new Set(beyond)])
  expect(toolCallsOf(family)).toBeLessThanOrEqual(toolCalls)
  const isExhausted = ({ finishReason }: RunRecord) => finishReason === 'budget-exhausted'
  const isOver = spentBy(family) >= tokens || family.runs.some(isExhausted)
  if (isOver) expect(family.runs[0]).toMatchObject({ finishReason: 'budget-exhausted' })
}

const parallelChildren = (...children: readonly (readonly Op[])[]): Op => ({
  op: 'parallel',
  ops: children.map((ops) => ({ op: 'child', ops })),
})
const IMMEDIATE = { turns: [0], crashes: [] }
const usage = (tokens: number): Op => ({ op: 'usage', tokens })

describe('the budget of a run', () => {
  it('limits the total usage of children that run in parallel', async () => {
    const ops = [parallelChildren(Array(9).fill(usage(10)), Array(9).fill(usage(10)), Array(9).fill(usage(10)))]
    const family = await runFamily({ ops, budget: { tokens: 60 }, ...IMMEDIATE })

    expect(spentBy(family)).toBeLessThanOrEqual(80)
    expect(family.runs.map(({ finishReason }) => finishReason)).toEqual(Array(4).fill('budget-exhausted'))
  })

  it('limits the total tool calls of children that run in parallel', async () => {
    const tools = Array<Op>(9).fill({ op: 'tool' })
    const family = await runFamily({
      ops: [parallelChildren(tools, tools, tools)],
      budget: { toolCalls: 5 },
      ...IMMEDIATE,
    })

    expect(count(family, 'tool.execute.start')).toBe(5)
    expect(family.runs.slice(1).reduce((sum, run) => sum + run.usage.toolCalls, 0)).toBe(5)
    expect(family.runs.map(({ finishReason }) => finishReason)).toEqual(Array(4).fill('budget-exhausted'))
  })

  it('ends parent and child on a tool call beyond the limit, not on the last allowed call', async () => {
    const tools = (calls: number): Op => ({ op: 'child', ops: Array<Op>(calls).fill({ op: 'tool' }) })
    const endsOf = async (calls: number) =>
      (await runFamily({ ops: [tools(calls)], budget: { toolCalls: 2 }, ...IMMEDIATE })).runs.map(
        (run) => run.finishReason,
      )

    expect(await endsOf(2)).toEqual(['completed', 'completed'])
    expect(await endsOf(3)).toEqual(['budget-exhausted', 'budget-exhausted'])
  })

  it('lets queued children use nothing once it is exhausted', async () => {
    const storage = createInMemoryStorage()
    const engine = createTestEngine({ storage, agents: [node], concurrency: 1 })
    const ops = [parallelChildren([usage(60)], [usage(10)], [usage(10)])]
    await engine.run('node', { body: { input: ops, budget: { tokens: 60 } }, answer: 'accepted' })
    for (let round = 0; round < 9; round++) await untilIdle(engine.clock)

    const { items } = await storage.runs.list({ kind: 'agent' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ usage: { inputTokens } }) => inputTokens)).toEqual([60, 60, 0, 0])
  })

  it('counts the concurrent usage of a parent and its child together', async () => {
    const child: Op = { op: 'child', ops: [usage(30), usage(30)] }
    const parent: Op = { op: 'parallel', ops: [child, usage(50)] }
    const family = await runFamily({ ops: [parent, { op: 'tool' }], budget: { tokens: 100 }, ...IMMEDIATE })

    expect(spentBy(family)).toBe(110)
    expect(count(family, 'tool.execute.start')).toBe(0)
  })

  it('causes no storage reads for a run without children', async () => {
    const readsWith = async (budget: Plan['budget'] | undefined) => {
      let reads = 0
      const counted = <T extends object>(store: T): T =>
        new Proxy(store, {
          get(target, name) {
            reads++
            return Reflect.get(target, name)
          },
        })
      const { runs, steps, ...rest } = createInMemoryStorage()
      const storage = { ...rest, runs: counted(runs), steps: counted(steps) }
      const engine = createTestEngine({ storage, agents: [node] })
      await engine.run('node', { body: { input: [usage(10), { op: 'tool' }], budget } })
      return reads
    }

    expect(await readsWith({ tokens: 100, toolCalls: 9 })).toBe(await readsWith(undefined))
  })

  it('limits the usage of random trees of runs in any commit order', () =>
    fc.assert(
      fc.asyncProperty(plans(fc.constant([])), async (plan) => {
        const family = await runFamily(plan)
        expectWithin(family, plan)
        expect(count(family, 'tool.execute.start')).toBeLessThanOrEqual(
          plan.budget.toolCalls ?? Number.POSITIVE_INFINITY,
        )
      }),
      { numRuns: 100 },
    ))

  it('limits the usage of random trees of runs across crashes', () =>
    fc.assert(
      fc.asyncProperty(plans(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 })), async (plan) =>
        expectWithin(await runFamily(plan), plan),
      ),
      { numRuns: 100 },
    ))
})
