import {
  type ApprovalRecord,
  EVERY_ROW,
  fromJsonText,
  type RunRecord,
  type StepRecord,
  type StoredEvent,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { expect } from 'vitest'
import { awaitsResume, readSuspension } from '../runs/stored-suspension.ts'
import { expectOneRun, type World } from './engine-history.fixture.ts'
import { expectFenced, expectInOrder } from './engine-order.fixture.ts'
import { expectOutcome } from './engine-outcomes.fixture.ts'
import { expectParked, expectUnchanged, expectVersions, isParked, keepLog } from './engine-parking.fixture.ts'
import { UNSURE } from './engine-program.fixture.ts'
import { ABORT_GRACE_MS, AGENTS, allRuns, CONCURRENCY, laneOf, stepsOf } from './engine-world.fixture.ts'

/** A run with its steps. */
interface Stored {
  readonly run: RunRecord
  readonly steps: readonly StepRecord[]
}

/** Checks what must always hold and, if `isQuiet`, what must also hold when no work is pending. */
export async function expectInvariants(world: World, isQuiet: boolean): Promise<void> {
  // Copied before the reads: the engine may decide approvals and cause effects while the storage is being read.
  const decisions = [...world.decided]
  const effects = [...world.environment.effects]
  const runs = await allRuns(world.environment)
  const approvals = await allApprovals(world)
  expect([...world.refusals]).toEqual([])
  expect(world.environment.faults).toEqual([])
  expect(world.environment.witness.offences, 'commits that must not happen').toEqual([])
  expect(world.environment.executions.misplaced, 'executions by other code').toEqual([])
  for (const run of runs) {
    const stored = { run, steps: await stepsOf(world.environment, run) }
    expectStable(world, run)
    expectEffects(world, stored, effects)
    expectOrder(stored)
    if (isQuiet) expectNoneOverdue(world, stored)
    if (isQuiet) expectFenced(world, run)
    if (isQuiet) expectParked(world, stored, { runs, approvals })
    if (isQuiet) await keepLog(world, stored, approvals)
    expectVersions(world, stored)
  }
  const statusOf = new Map(approvals.map(({ id, status }) => [id, status]))
  for (const [id, approved] of decisions) expect(statusOf.get(id), id).toBe(approved ? 'approved' : 'denied')
  expectLanes(runs)
  if (!isQuiet) return
  expect(await world.environment.storage.emissions.list(1), 'events that are not delivered').toEqual([])
  expectFamilies(runs, approvals)
  expectServed(world, runs)
  expectOwned(world, runs)
  expectNoneExpired(world, runs, approvals)
}

const allApprovals = async ({ environment }: World): Promise<readonly ApprovalRecord[]> =>
  (await environment.storage.approvals.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items

/** A key always belongs to the same run, and the record of an ended run never changes. */
function expectStable(world: World, run: RunRecord): void {
  const { key } = run.metadata
  if (key !== undefined && run.parentRunId === undefined && run.forkOf === undefined) expectOneRun(world, key, run.id)
  const ended = world.ended.get(run.id)
  if (ended !== undefined) expect(run).toEqual(ended)
  else if (isTerminal(run.status)) world.ended.set(run.id, run)
}

/**
 * A step takes effect once, and at most once more for each crash, or retry of its run, while it was executing. A copied
 * step has no effect.
 */
function expectEffects(world: World, { run, steps }: Stored, before: readonly string[]): void {
  const own = steps.filter(({ kind }) => kind === 'step')
  for (const step of own) expectEffectsOf(world, step)
  const known = new Set(own.map(({ seq }) => `${run.id}.${seq}`))
  const strange = before.filter((id) => id.startsWith(`${run.id}.`) && !known.has(id))
  expect(strange, 'effects of steps that are not recorded').toEqual([])
}

function expectEffectsOf(
  { environment, crashes, stepsDone }: World,
  { runId, seq, name, status, error }: StepRecord,
): void {
  const { effects, witness } = environment
  const id = `${runId}.${seq}`
  const count = effects.filter((idempotencyKey) => idempotencyKey === id).length
  const restarts = witness.restarts.get(id) ?? 0
  const copied = witness.copied.get(id)
  if (copied?.status === 'completed') expect(count, `effects of ${id}, copied`).toBe(0)
  expect(count, `effects of ${id}`).toBeLessThanOrEqual(1 + (crashes.get(id) ?? 0) + restarts)
  // A storage that answers late shows a commit before the witness notes it.
  const isOwn = copied === undefined && witness.calls.get(id)?.status === 'completed'
  if (isOwn) expect(count, `effects of ${id}, completed`).toBeGreaterThan(0)
  if (error !== undefined && !name.startsWith(UNSURE))
    expect(count, `effects of ${id}, failed`).toBeLessThanOrEqual(1 + restarts)
  const hasEnded = status === 'completed' || status === 'failed'
  if (!hasEnded || witness.interrupted.has(id)) return
  const end = `${id} after restart ${restarts}`
  if (!stepsDone.has(end)) stepsDone.set(end, count)
  expect(count, `effects of ${id} after its end`).toBe(stepsDone.get(end))
}

function expectOrder({ run, steps }: Stored): void {
  const orders = steps.flatMap(({ endOrder }) => (endOrder === undefined ? [] : [endOrder])).sort((a, b) => a - b)
  // The outcome of a call that is tried again leaves its place.
  const isDense = run.retries === undefined
  expect(orders, `the order of ${run.id}`).toEqual(isDense ? orders.map((_, index) => index + 1) : [...new Set(orders)])
  if (run.suspension === undefined && run.forkOf === undefined)
    expect(steps.map(({ seq }) => seq)).toEqual(steps.map((_, index) => index + 1))
}

function expectNoneOverdue({ environment }: World, { run, steps }: Stored): void {
  const now = environment.clock.now()
  const overdue = steps.filter(({ status, dueAt = now + 1 }) => status === 'waiting' && dueAt <= now)
  expect(isTerminal(run.status) ? [] : overdue, 'overdue waits').toEqual([])
}

function expectNoneExpired(
  { environment }: World,
  runs: readonly RunRecord[],
  approvals: readonly ApprovalRecord[],
): void {
  const now = environment.clock.now()
  const active = new Set(runs.flatMap(({ id, status }) => (isTerminal(status) ? [] : [id])))
  const late = approvals.filter(
    ({ status, runId, seq, expiresAt = now + 1 }) =>
      status === 'pending' && seq === undefined && expiresAt <= now && active.has(runId),
  )
  expect(late, 'overdue approvals').toEqual([])
  const open = new Set(approvals.flatMap(({ id, status }) => (status === 'pending' ? [id] : [])))
  const idle = runs.filter((run) => {
    const { approvalIds = [] } = (awaitsResume(run) && readSuspension(run)) || {}
    return approvalIds.length > 0 && !approvalIds.some((id) => open.has(id))
  })
  expect(idle, 'suspended runs whose approvals are all decided').toEqual([])
}

function expectLanes(runs: readonly RunRecord[]): void {
  const running = runs.filter(({ status }) => status === 'running')
  const lanes = running.flatMap((run) => laneOf(run) ?? [])
  expect(lanes, 'lanes with several running runs').toEqual([...new Set(lanes)])
  expect(running.length).toBeLessThanOrEqual(CONCURRENCY)
  const threads = runs
    .filter(({ status, threadId }) => !isTerminal(status) && threadId !== undefined)
    .map(({ targetId, threadId }) => `${targetId} ${threadId}`)
  expect(threads, 'threads with several active runs').toEqual([...new Set(threads)])
}

/** A run that has ended has no active children and no pending approvals. */
function expectFamilies(runs: readonly RunRecord[], approvals: readonly ApprovalRecord[]): void {
  const ended = new Set(runs.filter(({ status }) => isTerminal(status)).map(({ id }) => id))
  const orphans = runs.filter(({ status, parentRunId = '' }) => !isTerminal(status) && ended.has(parentRunId))
  expect(orphans, 'active children of ended runs').toEqual([])
  const idle = approvals.filter(({ status, runId }) => status === 'pending' && ended.has(runId))
  expect(idle, 'pending approvals of ended runs').toEqual([])
}

/**
 * A run is queued only while other runs hold the slots or its lane. Aborted code holds its slot for the grace period.
 */
function expectServed({ environment }: World, runs: readonly RunRecord[]): void {
  const now = environment.clock.now()
  const isHolding = ({ status, finishReason, completedAt = now }: RunRecord) => {
    const isCut = status === 'aborted' || finishReason === 'budget-exhausted'
    return status === 'running' || (isCut && now - completedAt <= ABORT_GRACE_MS)
  }
  const holding = runs.filter(isHolding)
  const lanes = new Set(holding.map(laneOf))
  const isLeft = (run: RunRecord) =>
    run.status === 'queued' &&
    (run.startAt ?? now) <= now &&
    holding.length < CONCURRENCY &&
    !lanes.has(laneOf(run) ?? '')
  expect(runs.filter(isLeft), 'queued runs that could execute').toEqual([])
}

/** This process executes every run stored as running, and has every run stored as queued in its queue. */
function expectOwned({ process, environment }: World, runs: readonly RunRecord[]): void {
  const now = environment.clock.now()
  for (const agentId of Object.keys(AGENTS)) {
    const { running, queued } = process.engine.readAgents.state(agentId)
    const recorded = (wanted: string) =>
      runs.filter(({ targetId, status, startAt = now }) => targetId === agentId && status === wanted && startAt <= now)
    expect(recorded('running').length, `running ${agentId}`).toBeLessThanOrEqual(running)
    expect(recorded('queued').length, `queued ${agentId}`).toBe(queued)
  }
}

/** Once no timer is left, each run has ended or waits for something that can still arrive. */
export async function expectNoneStuck(world: World): Promise<void> {
  const runs = await allRuns(world.environment)
  const pending = new Set((await allApprovals(world)).flatMap(({ id, status }) => (status === 'pending' ? [id] : [])))
  const active = new Set(runs.filter(({ status }) => !isTerminal(status)).map(({ id }) => id))
  for (const run of runs.filter(({ id }) => active.has(id))) {
    const waits = (await stepsOf(world.environment, run)).filter(({ status }) => status === 'waiting')
    const canArrive = waits.some(
      ({ kind, approvalId = '', childRunId = '' }) =>
        kind === 'event' || pending.has(approvalId) || active.has(childRunId),
    )
    const isOpen = canArrive || awaitsResume(run) || isParked(run)
    expect([run.status, isOpen], `${run.id} ${run.targetId}`).toEqual(['suspended', true])
  }
}

const END = /^run\.(completed|failed|aborted)$/

const isCopy = ({ type, payload }: StoredEvent, runId: string): boolean =>
  /^(tool\.)?approval\./.test(type) && (fromJsonText(payload) as { readonly runId?: string }).runId !== runId

/** Checks the whole history once every run has ended. */
export async function expectEnded(world: World): Promise<void> {
  const runs = await allRuns(world.environment)
  const approvals = await allApprovals(world)
  for (const run of runs) {
    const events = await world.environment.storage.events.read({ runId: run.id }, { after: 0, limit: 1_000 })
    const positions = events.map(({ position }) => position)
    // A child that is not aborted yet can still ask, and the log of its parent gets a copy of the request.
    const own = events.filter((event) => !isCopy(event, run.id))
    const ends = own.flatMap(({ type }, index) => (END.test(type) ? [[type, index]] : []))
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
    expect(ends, `the end of ${run.id}`).toEqual([[`run.${run.status}`, own.length - 1]])
    expectOutcome(world, run, { runs, approvals })
    await expectUnchanged(world, { run, steps: await stepsOf(world.environment, run) }, approvals)
  }
  await expectInOrder(world, runs)
  for (const [key, runId] of world.runOfKey) {
    const answer = await world.process.recall({ id: key, fingerprint: 'same' })
    expect(answer, `the answer of ${key}`).toMatchObject({ runId })
  }
}
