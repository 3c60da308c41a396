import { EVERY_ROW } from '@perdure/ports'
import fc from 'fast-check'
import { ALICE } from '../engine/test-engine.fixture.ts'
import { boot, command, crashPoints, type Pause, pauses, pickOf } from './engine-command.fixture.ts'
import { expectOneRun, type Start, type World } from './engine-history.fixture.ts'
import type { Op } from './engine-op.fixture.ts'
import { EMIT_KEYS, EVENT_NAMES, programs } from './engine-program.fixture.ts'
import { repairs } from './engine-repairs.fixture.ts'
import { decideOne, type Emit, emitEvent, resumeOne, submit } from './engine-requests.fixture.ts'
import { AGENTS, allRuns, CHILDREN, type CrashPoint, type Input, quiesce, WORKFLOWS } from './engine-world.fixture.ts'

function start(world: World, request: Start): void {
  const { targetId, program, key, version, sessionId, threadId, maxDuration, answer } = request
  const kind = targetId in AGENTS ? 'agent' : 'workflow'
  const input: Input = { program }
  const metadata: Record<string, string> = key === undefined ? {} : { key }
  const budget = maxDuration === undefined ? undefined : { maxDuration }
  const body = { input, version, sessionId, threadId, metadata, budget }
  const keyed = key === undefined ? {} : { key: { id: key, fingerprint: 'same' } }
  if (key !== undefined) world.starts.set(key, request)
  const reply = world.process.engine.startRun({
    ...{ target: { kind, id: targetId }, body, principal: ALICE, answer },
    ...keyed,
  })
  submit(world, reply, ({ runId }) => {
    if (key !== undefined) expectOneRun(world, key, runId)
  })
}

const startRun = (request: Start, length: Pause) =>
  command(`start ${JSON.stringify(request)}`, length, (world) => {
    const known = request.key === undefined ? undefined : world.starts.get(request.key)
    start(world, known ?? request)
  })

/** Starts several runs of one target at once, so that some have to wait for others. */
const startMany = (requests: readonly Start[], targetId: string, length: Pause) =>
  command(`start of ${targetId} ${JSON.stringify(requests)}`, length, (world) => {
    for (const request of requests) start(world, { ...request, targetId, key: undefined, threadId: undefined })
  })

const advance = (ms: number, length: Pause) =>
  command(`advance ${ms}`, length, ({ environment }) => environment.clock.advance(ms))

const emit = ({ name, key }: Emit, length: Pause) =>
  command(`emit ${name} ${key}`, length, (world) => emitEvent(world, { name, key }))

interface Decisions {
  readonly pick: number
  readonly decisions: readonly boolean[] // concurrent
}

const decide = ({ pick, decisions }: Decisions, length: Pause) =>
  command(`decide ${pick} ${decisions}`, length, async (world) => {
    const { items } = await world.environment.storage.approvals.list({}, { limit: 200, order: 'desc' }, EVERY_ROW)
    const approval = pickOf(items, pick)
    if (approval !== undefined) for (const approved of decisions) decideOne(world, approval.id, approved)
  })

const abort = (pick: number, length: Pause) =>
  command(`abort ${pick}`, length, async (world) => {
    const run = pickOf(await allRuns(world.environment), pick)
    if (run === undefined) return
    world.aborted.add(run.id)
    submit(world, world.process.engine.abortRun({ runId: run.id, visibility: EVERY_ROW }))
  })

const resume = (pick: number, length: Pause) =>
  command(`resume ${pick}`, length, async (world) => {
    const suspended = (await allRuns(world.environment)).filter(({ status }) => status === 'suspended')
    const run = pickOf(suspended, pick)
    if (run !== undefined) resumeOne(world, run.id)
  })

/** Decides all pending approvals of a suspended run in one request. */
const resolveAll = (pick: number, approved: readonly boolean[], length: Pause) =>
  command(`resolve all of ${pick} ${approved}`, length, async (world) => {
    const suspended = (await allRuns(world.environment)).filter(({ status }) => status === 'suspended')
    const run = pickOf(suspended, pick)
    const filter = { runId: run?.id, status: 'pending' } as const
    const { items } = await world.environment.storage.approvals.list(filter, { limit: 200, order: 'asc' }, EVERY_ROW)
    if (run === undefined || items.length === 0) return
    const approvals = items.map(({ id }, index) => ({ id, approved: approved[index % approved.length] ?? true }))
    const key = { id: `resume ${run.id}`, fingerprint: JSON.stringify(approvals) }
    const principal = { subject: 'alice', scopes: ['admin:*'] }
    submit(world, world.process.engine.resumeRun({ runId: run.id, approvals, principal, visibility: EVERY_ROW, key }))
  })

const crash = (length: Pause) => command('crash', length, ({ process }) => process.kill())

const crashAt = (commit: number, point: CrashPoint, length: Pause) =>
  command(`crash ${point} commit ${commit}`, length, ({ process }) => process.crashAt(commit, point))

const crashTwice = (commit: number, point: CrashPoint, length: Pause) =>
  command(`crash, and ${point} commit ${commit} of the next start`, length, async (world) => {
    world.process.kill()
    await quiesce(world.environment)
    await boot(world)
    world.process.crashAt(commit, point)
  })

const stop = (length: Pause) =>
  command('stop', length, async (world) => {
    const { process, environment } = world
    process.enter('draining')
    submit(
      world,
      process.engine.drain(0).then(() => process.engine.release()),
    )
    await quiesce(environment)
    process.kill()
  })

const starts = fc.record<Start>({
  targetId: fc.constantFrom(...Object.keys(AGENTS), ...Object.keys(WORKFLOWS), 'stubborn', 'flow'),
  program: programs(CHILDREN),
  key: fc.constantFrom(undefined, undefined, 'k1', 'k2', 'k3'),
  version: fc.constantFrom(undefined, undefined, undefined, undefined, 'a', 'b'),
  sessionId: fc.constantFrom(undefined, 's1', 's2'),
  threadId: fc.constantFrom(undefined, undefined, 'thr_one'),
  maxDuration: fc.constantFrom(undefined, undefined, undefined, 700),
  answer: fc.constantFrom('accepted', 'outcome'),
})

/** Runs whose code ends before it does anything durable. */
const briefStarts = fc
  .tuple(starts, fc.constantFrom<readonly Op[]>([], [{ op: 'microtasks', count: 3 }], [{ op: 'throw' }]))
  .map(([start, ops]): Start => {
    const program = { parts: [ops], approvals: [] }
    return { ...start, targetId: 'parallel', program, sessionId: undefined, answer: 'outcome' }
  })

const QUEUEING = ['queueing', 'line', 'personal', 'parallel']

const starting = fc.tuple(starts, pauses).map((given) => startRun(...given))
const startingBriefly = fc.tuple(briefStarts, pauses).map((given) => startRun(...given))
const advancing = fc.tuple(fc.constantFrom(0, 5, 10, 500, 90_000), pauses).map((given) => advance(...given))
const emitting = fc
  .tuple(
    fc.record({ name: fc.constantFrom(...EVENT_NAMES), key: fc.constantFrom(undefined, undefined, ...EMIT_KEYS) }),
    pauses,
  )
  .map((given) => emit(...given))
const decisions = fc.record({ pick: fc.nat(5), decisions: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }) })

export const commands = [
  fc
    .tuple(fc.array(starts, { minLength: 3, maxLength: 5 }), fc.constantFrom(...QUEUEING), pauses)
    .map((given) => startMany(...given)),
  ...[starting, starting, starting, starting, startingBriefly, advancing, advancing, advancing, emitting, emitting],
  fc.tuple(decisions, pauses).map((given) => decide(...given)),
  fc.tuple(decisions, pauses).map((given) => decide(...given)),
  fc.tuple(fc.nat(40), pauses).map((given) => abort(...given)),
  fc.tuple(fc.nat(5), pauses).map((given) => resume(...given)),
  fc
    .tuple(fc.nat(5), fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }), pauses)
    .map((given) => resolveAll(...given)),
  pauses.map(crash),
  fc.tuple(fc.integer({ min: 1, max: 12 }), crashPoints, pauses).map((given) => crashAt(...given)),
  fc.tuple(fc.integer({ min: 1, max: 12 }), crashPoints, pauses).map((given) => crashTwice(...given)),
  pauses.map(stop),
  ...repairs,
]
