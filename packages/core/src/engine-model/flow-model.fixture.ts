import { EVERY_ROW, type RunRecord, type Storage } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import fc from 'fast-check'
import { expect } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import { createCountingStorage } from './counting-storage.fixture.ts'
import { createCrashingStorage } from './crashing-storage.fixture.ts'

interface Input {
  readonly key: string
  readonly number: number
}

const key = (input: unknown) => (input as Input).key

/** The limits of the registered agents. */
const AGENTS = {
  plain: {},
  limited: { concurrency: { limit: 2, key } },
  single: { concurrency: { limit: 1, key }, rateLimit: { limit: 2, period: 1_000, key } },
  rated: { rateLimit: { limit: 3, period: 1_000 } },
  debounced: { debounce: { period: 500, key, maxWait: 1_200 }, concurrency: { limit: 1 } },
} as const satisfies Record<string, Pick<RegistrationOptions, 'concurrency' | 'rateLimit' | 'debounce'>>
type AgentId = keyof typeof AGENTS

export type Command =
  | {
      readonly kind: 'start'
      readonly agent: AgentId
      readonly key: string
      readonly owner: string
      readonly priority: number
      readonly delayMs: number
    }
  | { readonly kind: 'end' | 'abort'; readonly pick: number }
  | { readonly kind: 'advance'; readonly ms: number }
  /** The process dies after this many commits, or at the end of the command after it. */
  | { readonly kind: 'crash'; readonly commits: number }

export const commands = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('start' as const),
        agent: fc.constantFrom(...(Object.keys(AGENTS) as AgentId[])),
        key: fc.constantFrom('a', 'b'),
        owner: fc.constantFrom('alice', 'alice', 'bob'),
        priority: fc.constantFrom(0, 0, 5, -5),
        delayMs: fc.constantFrom(0, 0, 0, 300, 1_500),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), pick: fc.nat() }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 250, 499, 500, 1_000) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), commits: fc.nat({ max: 4 }) }) },
  ),
  { minLength: 5, maxLength: 40 },
)

const CONCURRENCY = 4
const TIME_LIMIT_MS = 600_000

/** Runs the commands, and then everything that is still open. Checks the limits after each command. */
export async function runHistory(history: readonly Command[], given: Storage): Promise<void> {
  const { storage, isBusy } = createCountingStorage(given)
  const clock = createManualClock()
  const ids = createSequenceIds()
  let executing = new Map<string, () => void>()
  /** The newest acknowledged input of each run. */
  const acknowledged = new Map<string, number>()
  const problems: unknown[] = []
  let count = 0
  let open = await startProcess()

  async function startProcess() {
    executing = new Map()
    const own = executing
    const crashing = createCrashingStorage(storage)
    const agents = Object.entries(AGENTS).map(([id, limits]) =>
      agentOf(
        id,
        (input, { runId }) => {
          if ((input as Input).number < (acknowledged.get(runId) ?? 0)) problems.push(`stale input of ${runId}`)
          return new Promise<string>((resolve) => own.set(runId, () => resolve('done')))
        },
        { ...limits, onBusy: 'queue', onCrash: 'retry', recoveries: 999 },
      ),
    )
    const engine = createTestEngine({
      ...{ storage: crashing.storage, clock, ids, agents, concurrency: CONCURRENCY, maxQueued: 10_000 },
    })
    await engine.recover()
    await engine.start()
    return { engine, ...crashing }
  }

  const untilQuiet = async () => {
    do await untilIdle(clock)
    while (isBusy())
  }

  const allRuns = async () => (await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items

  const apply = async (command: Command) => {
    const { engine } = open
    if (command.kind === 'start') {
      const { agent, key: chosen, owner, priority, delayMs } = command
      const input: Input = { key: chosen, number: ++count }
      const principal = { subject: owner, scopes: ['agents:invoke'] }
      const body = { input, priority, delayMs }
      engine
        .run(agent, { body, principal, answer: 'accepted' })
        .then((reply) => acknowledged.set(outcomeOf(reply).runId, input.number))
        .catch((error: unknown) => problems.push(error))
    } else if (command.kind === 'end') {
      pickOf([...executing.values()], command.pick)?.()
    } else if (command.kind === 'crash') {
      open.crashAfter(command.commits)
    } else if (command.kind === 'advance') {
      await engine.advance(command.ms)
    } else {
      const active = (await allRuns()).filter(({ status }) => !isTerminal(status))
      const run = pickOf(active, command.pick)
      if (run !== undefined) engine.abortRun({ runId: run.id, visibility: EVERY_ROW }).catch(() => undefined)
    }
    await untilQuiet()
  }

  for (const command of history) {
    const wasCrashing = open.hasCrashed()
    await apply(command)
    if (wasCrashing || open.hasCrashed()) open = await startProcess()
    await untilQuiet()
    await check(storage, await allRuns())
    expect(problems).toEqual([])
  }

  open.crashAfter(Number.POSITIVE_INFINITY)
  for (let waitedMs = 0; (await allRuns()).some(({ status }) => !isTerminal(status)); waitedMs += 250) {
    expect(waitedMs, 'time until every run has ended').toBeLessThan(TIME_LIMIT_MS)
    for (const end of executing.values()) end()
    await untilQuiet()
    await open.engine.advance(250)
    await untilQuiet()
    await check(storage, await allRuns())
  }
  await checkOrder(storage, await allRuns())
  expect(problems).toEqual([])
  for (const runId of acknowledged.keys()) {
    expect(await storage.runs.find(runId, EVERY_ROW), `acknowledged run ${runId}`).toBeDefined()
  }
}

const pickOf = <T>(items: readonly T[], pick: number): T | undefined => items[pick % Math.max(1, items.length)]

const inputOf = ({ input }: RunRecord) => JSON.parse(input) as Input
const optionsOf = ({ targetId }: RunRecord): RegistrationOptionsOf => AGENTS[targetId as AgentId]
type RegistrationOptionsOf = Partial<Pick<RegistrationOptions, 'concurrency' | 'rateLimit' | 'debounce'>>

/** The runs of each group that shares a limit. */
function groupsOf(runs: readonly RunRecord[], isKeyed: (run: RunRecord) => boolean): readonly (readonly RunRecord[])[] {
  const nameOf = (run: RunRecord) => `${run.targetId} ${isKeyed(run) ? inputOf(run).key : ''}`
  return [...Map.groupBy(runs, nameOf).values()]
}

async function check(storage: Storage, runs: readonly RunRecord[]): Promise<void> {
  const running = runs.filter(({ status }) => status === 'running')
  expect(running.length).toBeLessThanOrEqual(CONCURRENCY)

  const limited = running.filter((run) => optionsOf(run).concurrency !== undefined)
  for (const group of groupsOf(limited, (run) => concurrencyOf(run).key !== undefined)) {
    expect(group.length, 'running runs of a key').toBeLessThanOrEqual(concurrencyOf(group[0] as RunRecord).limit)
  }

  const started = runs.filter((run) => run.startedAt !== undefined)
  const rated = started.filter((run) => optionsOf(run).rateLimit !== undefined)
  for (const group of groupsOf(rated, (run) => optionsOf(run).rateLimit?.key !== undefined)) {
    const { limit, period } = optionsOf(group[0] as RunRecord).rateLimit ?? { limit: 0, period: 0 }
    for (const { startedAt: at = 0 } of group) {
      const inPeriod = group.filter(({ startedAt = 0 }) => startedAt <= at && startedAt > at - Number(period))
      expect(inPeriod.length, 'starts in a period').toBeLessThanOrEqual(limit)
    }
  }

  for (const { startedAt = 0, startAt = 0 } of started) expect(startedAt).toBeGreaterThanOrEqual(startAt)

  const slots = await storage.lanes.taken({ now: Number.MAX_SAFE_INTEGER as never, limit: 1_000 })
  const holders = slots.filter(({ freeAt }) => freeAt === undefined).map(({ runId }) => runId)
  expect(holders.sort(), 'runs that hold a slot of a lane').toEqual(limited.map(({ id }) => id).sort())
}

const concurrencyOf = (run: RunRecord) =>
  optionsOf(run).concurrency as { readonly limit: number; readonly key?: unknown }

/** Runs with the same key, owner and priority start in the order in which they were accepted. */
async function checkOrder(storage: Storage, runs: readonly RunRecord[]): Promise<void> {
  const immediate = runs.filter(({ startAt }) => startAt === undefined)
  const nameOf = (run: RunRecord) => [run.targetId, inputOf(run).key, run.owner, run.priority ?? 0].join(' ')
  for (const group of Map.groupBy(immediate, nameOf).values()) {
    const positions = await Promise.all(group.map(({ id }) => startPosition(storage, id)))
    const known = positions.filter((position) => position !== undefined)
    expect(known, `starts of ${nameOf(group[0] as RunRecord)}`).toEqual([...known].sort((one, other) => one - other))
  }
}

async function startPosition(storage: Storage, runId: string): Promise<number | undefined> {
  const events = await storage.events.read({ runId }, { after: 0, limit: 100 })
  return events.find(({ type }) => type === 'run.started')?.position
}
