import { EVERY_ROW, type RunRecord } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AGENTS, type AgentId, createWorld, type World } from './run-lifecycle-model.fixture.ts'

/** The facts that must not change: the one run of each key, and the final record of each ended run. */
interface Model {
  readonly runOfKey: Map<string, string>
  readonly ended: Map<string, RunRecord>
  /** How often the step of each run had executed when its result was stored. */
  readonly stepsDone: Map<string, number>
}

type Command = fc.AsyncCommand<Model, World>

/**
 * The pause after a command: `'idle'` lets all pending work finish; a number is how many microtasks of that work run.
 */
type Pause = number | 'idle'

async function pause(world: World, length: Pause): Promise<void> {
  if (length === 'idle') await world.process.engine.advance(0)
  else for (let n = 0; n < length; n++) await undefined
}

const command = (name: string, length: Pause, act: (model: Model, world: World) => Promise<void>): Command => ({
  check: () => true,
  async run(model, world) {
    await act(model, world)
    await pause(world, length)
    await expectInvariants(model, world)
    if (length === 'idle') await expectNoneLost(world)
  },
  toString: () => `${name}~${length}`,
})

const startRun = (agentId: AgentId, key: string | undefined, length: Pause) =>
  command(`start(${agentId}, ${key})`, length, async (_, world) => {
    void world.start(agentId, key)
  })

const pickOf = <T>(items: readonly T[], pick: number): T | undefined => items[pick % Math.max(1, items.length)]

/** Ends the code of a run. After an idle pause the run has the matching status, unless it had ended before. */
const endCode = (how: 'finish' | 'fail', pick: number, length: Pause) =>
  command(`${how}(${pick})`, length, async (_, world) => {
    const { engine, executions } = world.process
    if (length === 'idle') await engine.advance(0)
    const execution = pickOf(executions, pick)
    if (execution === undefined) return
    const { runId, attempt } = execution.context
    const before = await engine.find(runId)
    executions.splice(executions.indexOf(execution), 1)
    if (how === 'finish') execution.end.resolve('finish')
    else execution.end.reject(Object.assign(new Error('broken'), { code: 'broken' }))
    if (length !== 'idle') return
    await engine.advance(0)
    const isLive = before?.status === 'running' && before.attempt === attempt
    const isRetried = before?.targetId === 'flaky' && (before.retries ?? 0) < 2
    const expected = how === 'finish' ? 'completed' : isRetried ? 'queued' : 'failed'
    expect((await engine.find(runId))?.status).toBe(isLive ? expected : before?.status)
  })

const abortRun = (pick: number, length: Pause) =>
  command(`abort(${pick})`, length, async (_, world) => {
    const runId = pickOf(await world.runs(), pick)?.id ?? 'run_unknown'
    const { abortRun: abort } = world.process.engine
    abort({ runId, visibility: EVERY_ROW }).catch((error: { readonly code?: string }) =>
      world.refusals.add(error.code ?? ''),
    )
  })

/** Repeats a run. A run that is queued or running is refused. */
const forkRun = (pick: number, from: 'failure' | 'start', length: Pause) =>
  command(`fork(${pick}, ${from})`, length, async (_, world) => {
    const runId = pickOf(await world.runs(), pick)?.id ?? 'run_unknown'
    void world.fork(runId, from)
  })

const crash = (length: Pause) =>
  command('crash', length, async (_, world) => {
    await world.crash()
    await expectNoneLost(world)
  })

const deploy = (length: Pause) =>
  command('deploy', length, async (_, world) => {
    await world.deploy()
    await expectNoneLost(world)
  })

const advanceTime = (ms: number, length: Pause) =>
  command(`advance(${ms})`, length, async (_, world) => world.process.engine.clock.advance(ms))

const REFUSALS = [
  ...['idempotency-in-flight', 'idempotency-conflict', 'agent-busy', 'queue-full'],
  ...['run-not-active', 'run-not-found', 'run-active'],
]

async function expectInvariants(model: Model, world: World): Promise<void> {
  const runs = await world.runs()
  for (const run of runs) {
    const key = keyOf(run)
    if (key !== undefined) expectOneRun(model, key, run.id)
    const ended = model.ended.get(run.id)
    if (ended !== undefined) expect(run).toEqual(ended)
    else if (isTerminal(run.status)) model.ended.set(run.id, run)
  }
  for (const { key, runId } of world.answers) expectOneRun(model, key, runId)
  for (const run of runs.filter(({ targetId }) => DURABLE.has(targetId))) await expectStepOnce(model, world, run)
  expect([...world.refusals].filter((id) => !REFUSALS.includes(id))).toEqual([])
}

const DURABLE: ReadonlySet<string> = new Set(['durable', 'flaky'])

/** The key that started the run. A fork has the metadata of its source, but was started without the key. */
const keyOf = ({ forkOf, metadata }: RunRecord) => (forkOf === undefined ? metadata.key : undefined)

function expectOneRun({ runOfKey }: Model, key: string, runId: string | undefined): void {
  if (!runOfKey.has(key)) runOfKey.set(key, runId ?? '')
  expect(runId, `the run of ${key}`).toBe(runOfKey.get(key))
}

async function expectStepOnce({ stepsDone }: Model, { storage, stepEffects }: World, { id }: RunRecord): Promise<void> {
  const count = stepEffects.filter(({ runId }) => runId === id).length
  const isDone = (await storage.steps.list(id)).some(({ name, status }) => name === 'effect' && status === 'completed')
  if (isDone && !stepsDone.has(id)) stepsDone.set(id, count)
  expect(count, `the executions of the step of ${id}`).toBe(stepsDone.get(id) ?? count)
}

/** Expects that this process executes every run stored as running, and has every run stored as queued in its queue. */
async function expectNoneLost(world: World): Promise<void> {
  const { readAgents } = world.process.engine
  const now = world.process.engine.clock.now()
  const runs = (await world.runs()).filter(({ startAt = now }) => startAt <= now)
  for (const agentId of Object.keys(AGENTS)) {
    const { running, queued } = readAgents.state(agentId)
    const recorded = (wanted: string) =>
      runs.filter(({ targetId, status }) => targetId === agentId && status === wanted).length
    expect(recorded('running'), `running ${agentId}`).toBeLessThanOrEqual(running)
    expect(recorded('running') + recorded('queued'), `live ${agentId}`).toBeLessThanOrEqual(running + queued)
  }
}

const END = /^run\.(completed|failed|aborted)$/

async function expectLog({ storage }: World, run: RunRecord): Promise<void> {
  const events = await storage.events.read({ runId: run.id }, { after: 0, limit: 1_000 })
  const positions = events.map(({ position }) => position)
  const ends = events.flatMap(({ type }, index) => (END.test(type) ? [[type, index]] : []))
  expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
  const attempts = events.flatMap(({ type, payload }) => (type === 'run.started' ? [JSON.parse(payload).attempt] : []))
  if (!DURABLE.has(run.targetId)) expect(attempts).toEqual([...new Set(attempts)])
  expect(ends).toEqual(isTerminal(run.status) ? [[`run.${run.status}`, events.length - 1]] : [])
}

/** Expects that a key which started a run returns the answer of that run until the key expires. */
async function expectKeyAnswers(world: World, run: RunRecord): Promise<void> {
  const { id, targetId } = run
  const key = keyOf(run)
  if (key === undefined) return
  const answer = await world.process.engine.recall({ id: key, fingerprint: targetId })
  expect(answer, `the answer of ${key}`).toMatchObject({ status: 200, runId: id })
}

const RESUMED = { resumable: true, durable: true, flaky: true }

function expectEffects({ effects }: World, run: RunRecord): void {
  const attempts = effects.filter(({ runId }) => runId === run.id).map(({ attempt }) => attempt)
  expect(attempts.length).toBe(new Set(attempts).size)
  if (run.status === 'completed') expect(attempts).toContain(run.attempt)
  if (!(run.targetId in RESUMED) && run.status === 'completed') expect(attempts).toEqual([1])
}

/** Lets all code finish, and expects that every run ends. */
async function finishAll(world: World): Promise<void> {
  const open = async () => (await world.runs()).filter(({ status }) => !isTerminal(status))
  for (let round = 0; round < 100 && (await open()).length > 0; round++) {
    // A parked run needs the other code.
    if (round % 10 === 9) await world.deploy()
    for (const { end } of world.process.executions.splice(0)) end.resolve('finish')
    await world.process.engine.advance(500)
  }
  expect(await open()).toEqual([])
  const { engine } = world.process
  await engine.advance(5_000)
  for (const agentId of Object.keys(AGENTS)) {
    expect(engine.readAgents.state(agentId)).toMatchObject({ running: 0, queued: 0 })
  }
}

const pauses = fc.oneof(fc.constant('idle' as const), fc.nat(14))
const keys = fc.constantFrom(undefined, undefined, 'shared', 'own-1', 'own-2')
const agentIds = fc.constantFrom(...(Object.keys(AGENTS) as AgentId[]))
const start = fc
  .tuple(agentIds, keys, pauses)
  .map(([agentId, key, length]) => startRun(agentId, key?.replace('own', agentId), length))
const end = fc.tuple(fc.constantFrom('finish', 'finish', 'fail'), fc.nat(9), pauses).map((given) => endCode(...given))
const commands = [
  ...[start, start, start, start, start, end, end, end],
  fc.tuple(fc.nat(40), pauses).map((given) => abortRun(...given)),
  fc.tuple(fc.constantFrom(1, 500, 1_000, 5_000), pauses).map((given) => advanceTime(...given)),
  pauses.map(crash),
  pauses.map(deploy),
  fc.tuple(fc.nat(40), fc.constantFrom('failure' as const, 'start' as const), pauses).map((given) => forkRun(...given)),
]

describe('the run engine', () => {
  it('keeps the run invariants under random starts, ends, aborts, crashes, deployments of other code and clock changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: 'max' }), async (script) => {
        const world = createWorld()
        const model: Model = { runOfKey: new Map(), ended: new Map(), stepsDone: new Map() }

        await fc.asyncModelRun(() => ({ model, real: world }), script)
        await world.process.engine.advance(0)
        await expectInvariants(model, world)
        await finishAll(world)
        await expectInvariants(model, world)

        for (const run of await world.runs()) {
          await expectLog(world, run)
          expectEffects(world, run)
          await expectKeyAnswers(world, run)
        }
      }),
      { numRuns: 500 },
    )
  })
})
