import { EVERY_ROW, type RunRecord, type StepRecord } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { ForkPoint } from '../engine/forks/fork-calls.ts'
import { outcomeOf } from '../engine/test-engine.fixture.ts'
import { type Code, codes, nameOf, type Versions, versionLists } from './engine-code.fixture.ts'
import { boot, command, crashPoints, type Pause, pauses, pickOf } from './engine-command.fixture.ts'
import type { World } from './engine-history.fixture.ts'
import { isParked } from './engine-parking.fixture.ts'
import { EVENT_NAMES, REPLACED } from './engine-program.fixture.ts'
import { decideOne, emitEvent, submit } from './engine-requests.fixture.ts'
import type { CommitKind } from './engine-witness.fixture.ts'
import { allRuns, type CrashPoint, quiesce, stepsOf } from './engine-world.fixture.ts'

interface ForkPick {
  readonly pick: number
  readonly from: 'failure' | 'start' | 'seq'
  readonly seq: number
  /** Replaces the result of a copied call. */
  readonly replaces: boolean
  readonly isKeyed: boolean
}

const fork = (given: ForkPick, length: Pause) =>
  command(`fork ${JSON.stringify(given)}`, length, async (world) => {
    const runs = (await allRuns(world.environment)).filter(({ status }) => isTerminal(status) || status === 'suspended')
    const source = pickOf(runs, given.pick)
    if (source === undefined) return
    const steps = await stepsOf(world.environment, source)
    const seq = 1 + (given.seq % (steps.length + 1))
    const from: ForkPoint = given.from === 'seq' ? { seq } : given.from
    const copied = steps.filter((step) => isCopied(source, step, from))
    forkOne(world, source, { ...given, from, results: given.replaces ? resultsFor(copied, given.pick) : {} })
  })

/** Whether a fork from this point certainly copies the outcome of the call. */
function isCopied({ error }: RunRecord, { seq, status }: StepRecord, from: ForkPoint): boolean {
  if (from === 'start' || status !== 'completed') return false
  return from === 'failure' ? seq < (error?.step?.seq ?? Number.POSITIVE_INFINITY) : seq < from.seq
}

function resultsFor(copied: readonly StepRecord[], pick: number): Readonly<Record<string, unknown>> {
  const call = pickOf(
    copied.filter(({ kind, name }) => kind === 'step' && name.startsWith('work')),
    pick,
  )
  if (call === undefined) return {}
  return { [call.seq]: REPLACED }
}

interface Forking {
  readonly from: ForkPoint
  readonly isKeyed: boolean
  readonly results: Readonly<Record<string, unknown>>
}

function forkOne(world: World, source: RunRecord, { from, isKeyed, results }: Forking): void {
  const action = from === 'failure' ? 'runs.retry' : from === 'start' ? 'runs.rerun' : 'runs.fork'
  const id = `retry:${source.id}`
  const principal = { subject: 'alice', scopes: ['admin:*'] }
  const isRetry = isKeyed && from === 'failure'
  const reply = world.process.engine.forkRun({
    ...{ runId: source.id, from, action, principal, visibility: EVERY_ROW },
    ...(isRetry ? { key: { id, fingerprint: 'same' } } : { results }),
  })
  submit(world, reply, (answer) => {
    const { runId } = outcomeOf(answer)
    if (isRetry) {
      expect(world.forkOfKey.get(id) ?? runId, `the fork of ${id}`).toBe(runId)
      world.forkOfKey.set(id, runId)
    }
    if (from === 'start') world.forkedAt.set(runId, 0)
    if (typeof from === 'object') world.forkedAt.set(runId, from.seq - 1)
  })
}

/** Starts a process with other code, and stops the current one like a restart or a crash. */
export async function deployOne(world: World, code: Code, versions: Versions): Promise<void> {
  world.environment.deployed = { code, versions }
  world.environment.deployments.push(code)
  world.process.kill()
  await quiesce(world.environment)
  await boot(world)
}

const deploy = (code: Code, versions: Versions, length: Pause) =>
  command(`deploy ${nameOf(code)} ${versions}`, length, (world) => deployOne(world, code, versions))

/** Deploys code that crashes while it starts. */
const deployAndCrash = (
  { code, versions }: { readonly code: Code; readonly versions: Versions },
  { commit, point }: { readonly commit: number; readonly point: CrashPoint },
  length: Pause,
) =>
  command(`deploy ${nameOf(code)} ${versions}, and crash ${point} commit ${commit}`, length, async (world) => {
    await deployOne(world, code, versions)
    world.process.crashAt(commit, point)
  })

const outage = (isDown: boolean, length: Pause) =>
  command(isDown ? 'outage' : 'repair', length, (world) => {
    world.environment.isDown = isDown
    world.wasDown ||= isDown
  })

const crashAtKind = (kind: CommitKind, point: CrashPoint, length: Pause) =>
  command(`aim ${point} ${kind}`, length, ({ environment }) => {
    environment.crashKind = { kind, point }
  })

/** Tries the code of a parked run again. */
const unpark = (pick: number, length: Pause) =>
  command(`unpark ${pick}`, length, async (world) => {
    const runs = await allRuns(world.environment)
    const run = pickOf(runs.filter(isParked), pick)
    if (run === undefined) return
    const principal = { subject: 'alice', scopes: ['admin:*'] }
    submit(world, world.process.engine.resumeRun({ runId: run.id, principal, visibility: EVERY_ROW }))
  })

/** Decides an approval of a parked run. */
const settle = ({ pick, approved }: { readonly pick: number; readonly approved: boolean }, length: Pause) =>
  command(`settle ${pick} ${approved}`, length, async (world) => {
    const runs = await allRuns(world.environment)
    const parked = new Set(runs.filter(isParked).map(({ id }) => id))
    const pending = { status: 'pending' } as const
    const { items } = await world.environment.storage.approvals.list(pending, { limit: 200, order: 'asc' }, EVERY_ROW)
    const approval = pickOf(
      items.filter(({ runId }) => parked.has(runId)),
      pick,
    )
    if (approval !== undefined) decideOne(world, approval.id, approved)
  })

/** Emits every event and decides an approval of a run at about the same time. */
const converge = (
  { pick, approved, turns }: { readonly pick: number; readonly approved: boolean; readonly turns: number },
  length: Pause,
) =>
  command(`converge ${pick} ${approved} ${turns}`, length, async (world) => {
    const { items } = await world.environment.storage.approvals.list(
      { status: 'pending' },
      { limit: 200, order: 'asc' },
      EVERY_ROW,
    )
    const approval = pickOf(items, pick)
    for (const name of EVENT_NAMES) emitEvent(world, { name })
    for (let turn = 0; turn < turns; turn++) await undefined
    if (approval !== undefined) decideOne(world, approval.id, approved)
  })

const AIMS: readonly CommitKind[] = [
  ...(['fork', 'retry', 'retry', 'park', 'continue', 'continue', 'version', 'version'] as const),
  ...(['decision', 'suspend', 'wake'] as const),
  ...(['end', 'start', 'call', 'whole', 'whole'] as const),
]

const forks = fc.record<ForkPick>({
  pick: fc.nat(20),
  from: fc.constantFrom('failure', 'failure', 'start', 'seq', 'seq'),
  seq: fc.nat(12),
  replaces: fc.boolean(),
  isKeyed: fc.boolean(),
})

const deployed = fc.record({ code: codes, versions: versionLists })
const crashes = fc.record({ commit: fc.integer({ min: 1, max: 8 }), point: crashPoints })
const forking = fc.tuple(forks, pauses).map((given) => fork(...given))
const deploying = fc.tuple(codes, versionLists, pauses).map((given) => deploy(...given))

const aiming = fc.tuple(fc.constantFrom(...AIMS), crashPoints, pauses).map((given) => crashAtKind(...given))

const settling = fc
  .tuple(fc.record({ pick: fc.nat(5), approved: fc.boolean() }), pauses)
  .map((given) => settle(...given))

/** Commands that repair runs and deploy code. */
export const repairs = [
  ...[forking, forking, forking, deploying, deploying],
  fc.tuple(deployed, crashes, pauses).map((given) => deployAndCrash(...given)),
  fc.tuple(fc.boolean(), pauses).map((given) => outage(...given)),
  ...[aiming, aiming],
  fc.tuple(fc.nat(5), pauses).map((given) => unpark(...given)),
  ...[settling, settling],
  fc
    .tuple(fc.record({ pick: fc.nat(5), approved: fc.boolean(), turns: fc.nat(60) }), pauses)
    .map((given) => converge(...given)),
]
