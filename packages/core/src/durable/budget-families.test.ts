import { isTerminal } from '@perdure/protocol'
import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, fromJsonText, type NewEvent, type RunRecord, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, settled } from '../engine/test-engine.fixture.ts'
import { mortal } from '../model/crashing-storage.fixture.ts'
import type { RunContext } from '../targets/agent.ts'

/** What a run does: it reports one after the other, and has children and tools side by side. */
type Op =
  | { readonly op: 'usage'; readonly tokens: number }
  | { readonly op: 'tool' }
  | { readonly op: 'child'; readonly ops: readonly Op[] }
  | { readonly op: 'together'; readonly ops: readonly Op[] }

async function perform(ops: readonly Op[], context: RunContext): Promise<void> {
  for (const op of ops) await performOne(op, context)
}

async function performOne(op: Op, context: RunContext): Promise<void> {
  if (op.op === 'usage') return context.usage({ provider: 'p', model: 'm', inputTokens: op.tokens })
  if (op.op === 'tool') return void (await context.tool({ name: 't', execute: () => 1 }))
  if (op.op === 'together') return void (await Promise.all(op.ops.map((one) => performOne(one, context))))
  await context.agents.run('node', op.ops).catch((error: { readonly id?: string }) => {
    if (error.id !== 'step-failed') throw error
  })
}

const node = agentOf('node', (ops, context) => perform(ops as Op[], context), { recovery: 'resume', maxAttempts: 9 })

/** A commit takes some turns of the event loop, others go on meanwhile, and the next one waits for it. */
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
  /** After how many commits each process dies; the last one lives. */
  readonly deaths: readonly number[]
}

interface Family {
  readonly runs: readonly RunRecord[]
  readonly events: readonly NewEvent[]
}

async function play({ ops, budget, turns, deaths }: Plan): Promise<Family> {
  const storage = createInMemoryStorage()
  const shared = { clock: createManualClock(), ids: createSequenceIds(), agents: [node] }
  const runs = async () =>
    (await storage.runs.list({ kind: 'agent', targetId: 'node' }, { limit: 200, order: 'asc' }, EVERY_ROW)).items
  let isAsked = false
  for (const death of [...deaths, Number.POSITIVE_INFINITY]) {
    const { storage: own, dieAfter, isDead } = mortal(storage)
    const engine = createTestEngine({ ...shared, storage: slow(own, turns) })
    await engine.recover()
    await engine.start()
    dieAfter(death)
    if (!isAsked) engine.run('node', { body: { input: ops, budget }, answer: 'accepted' }).catch(() => undefined)
    const isOver = async () =>
      isDead() || ((await runs()).length > 0 && (await runs()).every((run) => isTerminal(run.status)))
    for (let round = 0; round < 300 && !(await isOver()); round++) await settled(shared.clock)
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
const togetherOf = (op: fc.Arbitrary<Op>): fc.Arbitrary<Op> =>
  fc.record({ op: fc.constant('together' as const), ops: fc.array(op, { minLength: 2, maxLength: 4 }) })
const inner = fc.oneof(leaf, togetherOf(childOf(leaf)), togetherOf(fc.constant({ op: 'tool' as const })))
const outer = fc.oneof(leaf, togetherOf(childOf(inner)), togetherOf(childOf(leaf)))

const plans = (deaths: fc.Arbitrary<readonly number[]>): fc.Arbitrary<Plan> =>
  fc.record({
    ops: fc.array(outer, { minLength: 1, maxLength: 4, size: 'max' }),
    budget: fc.record({
      tokens: fc.option(fc.integer({ min: 1, max: 150 }), { nil: undefined }),
      toolCalls: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    }),
    turns: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
    deaths,
  })

const tokensOf = ({ payload }: NewEvent) => (fromJsonText(payload) as { readonly inputTokens: number }).inputTokens

/** The reports that were made after the one that reached the limit, by run. */
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
/** One that is called again after a crash counts once. */
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
  expect(beyond, 'a run reports at most what it was spending when the limit was reached').toEqual([...new Set(beyond)])
  expect(toolCallsOf(family)).toBeLessThanOrEqual(toolCalls)
  const isExhausted = ({ finishReason }: RunRecord) => finishReason === 'budget-exhausted'
  const isOver = spentBy(family) >= tokens || family.runs.some(isExhausted)
  if (isOver) expect(family.runs[0]).toMatchObject({ finishReason: 'budget-exhausted' })
}

const together = (...children: readonly (readonly Op[])[]): Op => ({
  op: 'together',
  ops: children.map((ops) => ({ op: 'child', ops })),
})
const AT_ONCE = { turns: [0], deaths: [] }
const usage = (tokens: number): Op => ({ op: 'usage', tokens })

describe('the budget of a run', () => {
  it('is what its children may use together, while they run side by side', async () => {
    const ops = [together(Array(9).fill(usage(10)), Array(9).fill(usage(10)), Array(9).fill(usage(10)))]
    const family = await play({ ops, budget: { tokens: 60 }, ...AT_ONCE })

    expect(spentBy(family)).toBeLessThanOrEqual(80)
    expect(family.runs.map(({ finishReason }) => finishReason)).toEqual(Array(4).fill('budget-exhausted'))
  })

  it('allows that many calls of tools, however many children make them at once', async () => {
    const tools = Array<Op>(9).fill({ op: 'tool' })
    const family = await play({ ops: [together(tools, tools, tools)], budget: { toolCalls: 5 }, ...AT_ONCE })

    expect(count(family, 'tool.execute.start')).toBe(5)
    expect(family.runs.slice(1).reduce((sum, run) => sum + run.usage.toolCalls, 0)).toBe(5)
    expect(family.runs.map(({ finishReason }) => finishReason)).toEqual(Array(4).fill('budget-exhausted'))
  })

  it('ends with a child that wanted one call of a tool more, and not with one that used the last', async () => {
    const tools = (calls: number): Op => ({ op: 'child', ops: Array<Op>(calls).fill({ op: 'tool' }) })
    const endsOf = async (calls: number) =>
      (await play({ ops: [tools(calls)], budget: { toolCalls: 2 }, ...AT_ONCE })).runs.map((run) => run.finishReason)

    expect(await endsOf(2)).toEqual(['completed', 'completed'])
    expect(await endsOf(3)).toEqual(['budget-exhausted', 'budget-exhausted'])
  })

  it('starts no child that waited in line until nothing was left', async () => {
    const storage = createInMemoryStorage()
    const engine = createTestEngine({ storage, agents: [node], concurrency: 1 })
    const ops = [together([usage(60)], [usage(10)], [usage(10)])]
    await engine.run('node', { body: { input: ops, budget: { tokens: 60 } }, answer: 'accepted' })
    for (let round = 0; round < 9; round++) await settled(engine.clock)

    const { items } = await storage.runs.list({ kind: 'agent' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ usage: { inputTokens } }) => inputTokens)).toEqual([60, 60, 0, 0])
  })

  it('counts what a child uses against what its parent does at the same time', async () => {
    const child: Op = { op: 'child', ops: [usage(30), usage(30)] }
    const parent: Op = { op: 'together', ops: [child, usage(50)] }
    const family = await play({ ops: [parent, { op: 'tool' }], budget: { tokens: 100 }, ...AT_ONCE })

    expect(spentBy(family)).toBe(110)
    expect(count(family, 'tool.execute.start')).toBe(0)
  })

  it('costs a run without children no read', async () => {
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

  it('holds for every family in every order of commits', () =>
    fc.assert(
      fc.asyncProperty(plans(fc.constant([])), async (plan) => {
        const family = await play(plan)
        expectWithin(family, plan)
        expect(count(family, 'tool.execute.start')).toBeLessThanOrEqual(
          plan.budget.toolCalls ?? Number.POSITIVE_INFINITY,
        )
      }),
      { numRuns: 100 },
    ))

  it('holds over crashes', () =>
    fc.assert(
      fc.asyncProperty(plans(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 })), async (plan) =>
        expectWithin(await play(plan), plan),
      ),
      { numRuns: 100 },
    ))
})
