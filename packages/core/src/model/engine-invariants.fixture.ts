import { isTerminal } from '@perdure/protocol'
import { type ApprovalRecord, EVERY_ROW, type RunRecord, type StepRecord } from '@perdure/ports'
import { expect } from 'vitest'
import { awaitsResume, readSuspension } from '../runs/stored-suspension.ts'
import { expectOneRun, type World } from './engine-history.fixture.ts'
import { expectFenced, expectInOrder } from './engine-order.fixture.ts'
import { expectOutcome } from './engine-outcomes.fixture.ts'
import { UNSURE } from './engine-program.fixture.ts'
import { ABORT_GRACE_MS, AGENTS, allRuns, CONCURRENCY, laneOf, stepsOf } from './engine-world.fixture.ts'

/** A run with all that is stored of it. */
interface Stored {
  readonly run: RunRecord
  readonly steps: readonly StepRecord[]
}

/** What holds at every moment, and what holds besides once everything has happened that waits for no time to pass. */
export async function expectInvariants(world: World, isQuiet: boolean): Promise<void> {
  // What has happened by now is in the storage when it is read; the engine may go on while it is.
  const decisions = [...world.decided]
  const effects = [...world.around.effects]
  const runs = await allRuns(world.around)
  const approvals = await allApprovals(world)
  expect([...world.refusals]).toEqual([])
  expect(world.around.faults).toEqual([])
  for (const run of runs) {
    const stored = { run, steps: await stepsOf(world.around, run) }
    expectStable(world, run)
    expectEffects(world, stored, effects)
    expectOrder(stored)
    if (isQuiet) expectNoneOverdue(world, stored)
    if (isQuiet) expectFenced(world, run)
  }
  const statusOf = new Map(approvals.map(({ id, status }) => [id, status]))
  for (const [id, granted] of decisions) expect(statusOf.get(id), id).toBe(granted ? 'granted' : 'denied')
  expectLanes(runs)
  if (!isQuiet) return
  expect(await world.around.storage.emissions.list(1), 'events that are not handed out').toEqual([])
  expectFamilies(runs, approvals)
  expectServed(world, runs)
  expectOwned(world, runs)
  expectNoneExpired(world, runs, approvals)
}

const allApprovals = async ({ around }: World): Promise<readonly ApprovalRecord[]> =>
  (await around.storage.approvals.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items

/** A key has one run for ever, and an end is final. */
function expectStable(world: World, run: RunRecord): void {
  const { key } = run.metadata
  if (key !== undefined && run.parentRunId === undefined) expectOneRun(world, key, run.id)
  const ended = world.ended.get(run.id)
  if (ended !== undefined) expect(run).toEqual(ended)
  else if (isTerminal(run.status)) world.ended.set(run.id, run)
}

/** The work of a step is done once, and once more at most for every death while it was under way. */
function expectEffects({ around, deaths, stepsDone }: World, { run, steps }: Stored, before: readonly string[]): void {
  for (const { seq, kind, name, status, error } of steps) {
    if (kind !== 'step') continue
    const id = `${run.id}.${seq}`
    const count = around.effects.filter((effectId) => effectId === id).length
    expect(count, `effects of ${id}`).toBeLessThanOrEqual(1 + (deaths.get(id) ?? 0))
    if (status === 'completed') expect(count, `effects of ${id}, completed`).toBeGreaterThan(0)
    if (error !== undefined && !name.startsWith(UNSURE))
      expect(count, `effects of ${id}, failed`).toBeLessThanOrEqual(1)
    if (status !== 'completed' && status !== 'failed') continue
    if (!stepsDone.has(id)) stepsDone.set(id, count)
    expect(count, `effects of ${id} after its end`).toBe(stepsDone.get(id))
  }
  const known = new Set(steps.filter(({ kind }) => kind === 'step').map(({ seq }) => `${run.id}.${seq}`))
  const strange = before.filter((id) => id.startsWith(`${run.id}.`) && !known.has(id))
  expect(strange, 'effects of steps that are not recorded').toEqual([])
}

function expectOrder({ run, steps }: Stored): void {
  const orders = steps.flatMap(({ endOrder }) => (endOrder === undefined ? [] : [endOrder])).sort((a, b) => a - b)
  expect(orders, `the order of ${run.id}`).toEqual(orders.map((_, index) => index + 1))
  if (run.suspension === undefined) expect(steps.map(({ seq }) => seq)).toEqual(steps.map((_, index) => index + 1))
}

function expectNoneOverdue({ around }: World, { run, steps }: Stored): void {
  const now = around.clock.now()
  const overdue = steps.filter(({ status, dueAt = now + 1 }) => status === 'waiting' && dueAt <= now)
  expect(isTerminal(run.status) ? [] : overdue, 'waits that are overdue').toEqual([])
}

function expectNoneExpired({ around }: World, runs: readonly RunRecord[], approvals: readonly ApprovalRecord[]): void {
  const now = around.clock.now()
  const active = new Set(runs.flatMap(({ id, status }) => (isTerminal(status) ? [] : [id])))
  const late = approvals.filter(
    ({ status, runId, seq, expiresAt = now + 1 }) =>
      status === 'pending' && seq === undefined && expiresAt <= now && active.has(runId),
  )
  expect(late, 'approvals that are overdue').toEqual([])
  const open = new Set(approvals.flatMap(({ id, status }) => (status === 'pending' ? [id] : [])))
  const idle = runs.filter((run) => {
    const { approvalIds = [] } = (awaitsResume(run) && readSuspension(run)) || {}
    return approvalIds.length > 0 && !approvalIds.some((id) => open.has(id))
  })
  expect(idle, 'suspended runs whose decisions are all taken').toEqual([])
}

function expectLanes(runs: readonly RunRecord[]): void {
  const running = runs.filter(({ status }) => status === 'running')
  const lanes = running.flatMap((run) => laneOf(run) ?? [])
  expect(lanes, 'lanes that are shared').toEqual([...new Set(lanes)])
  expect(running.length).toBeLessThanOrEqual(CONCURRENCY)
  const threads = runs
    .filter(({ status, threadId }) => !isTerminal(status) && threadId !== undefined)
    .map(({ targetId, threadId }) => `${targetId} ${threadId}`)
  expect(threads, 'threads with several runs at once').toEqual([...new Set(threads)])
}

/** Nothing goes on for a run that has ended. */
function expectFamilies(runs: readonly RunRecord[], approvals: readonly ApprovalRecord[]): void {
  const ended = new Set(runs.filter(({ status }) => isTerminal(status)).map(({ id }) => id))
  const orphans = runs.filter(({ status, parentRunId = '' }) => !isTerminal(status) && ended.has(parentRunId))
  expect(orphans, 'children of parents that have ended').toEqual([])
  const idle = approvals.filter(({ status, runId }) => status === 'pending' && ended.has(runId))
  expect(idle, 'open approvals of runs that have ended').toEqual([])
}

/** A run waits in the queue only as long as others execute in its place, code that was cut off for a grace. */
function expectServed({ around }: World, runs: readonly RunRecord[]): void {
  const now = around.clock.now()
  const isHolding = ({ status, finishReason, completedAt = now }: RunRecord) => {
    const isCut = status === 'aborted' || finishReason === 'budget-exhausted'
    return status === 'running' || (isCut && now - completedAt <= ABORT_GRACE_MS)
  }
  const holding = runs.filter(isHolding)
  const lanes = new Set(holding.map(laneOf))
  const isLeft = (run: RunRecord) =>
    run.status === 'queued' && holding.length < CONCURRENCY && !lanes.has(laneOf(run) ?? '')
  expect(runs.filter(isLeft), 'queued runs that nobody serves').toEqual([])
}

/** This process executes what is recorded as running, and has in line what is recorded as queued. */
function expectOwned({ process }: World, runs: readonly RunRecord[]): void {
  for (const agentId of Object.keys(AGENTS)) {
    const { running, queued } = process.engine.readAgents.state(agentId)
    const recorded = (wanted: string) =>
      runs.filter(({ targetId, status }) => targetId === agentId && status === wanted)
    expect(recorded('running').length, `running ${agentId}`).toBeLessThanOrEqual(running)
    expect(recorded('queued').length, `queued ${agentId}`).toBe(queued)
  }
}

/** After all time has passed, a run has ended or waits for something that can still come. */
export async function expectNoneStuck(world: World): Promise<void> {
  const runs = await allRuns(world.around)
  const pending = new Set((await allApprovals(world)).flatMap(({ id, status }) => (status === 'pending' ? [id] : [])))
  const active = new Set(runs.filter(({ status }) => !isTerminal(status)).map(({ id }) => id))
  for (const run of runs.filter(({ id }) => active.has(id))) {
    const waits = (await stepsOf(world.around, run)).filter(({ status }) => status === 'waiting')
    const canCome = waits.some(
      ({ kind, approvalId = '', childRunId = '' }) =>
        kind === 'event' || pending.has(approvalId) || active.has(childRunId),
    )
    expect([run.status, canCome || awaitsResume(run)], `${run.id} ${run.targetId}`).toEqual(['suspended', true])
  }
}

const END = /^run\.(completed|failed|aborted)$/

/** What holds of the whole history once every run has ended. */
export async function expectEnded(world: World): Promise<void> {
  const runs = await allRuns(world.around)
  const approvals = await allApprovals(world)
  for (const run of runs) {
    const events = await world.around.storage.events.read({ runId: run.id }, { after: 0, limit: 1_000 })
    const positions = events.map(({ position }) => position)
    const ends = events.flatMap(({ type }, index) => (END.test(type) ? [[type, index]] : []))
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
    expect(ends, `the end of ${run.id}`).toEqual([[`run.${run.status}`, events.length - 1]])
    expectOutcome(world, run, { runs, approvals })
  }
  await expectInOrder(world, runs)
  for (const [key, runId] of world.runOfKey) {
    const answer = await world.process.recall({ id: key, fingerprint: 'same' })
    expect(answer, `the answer of ${key}`).toMatchObject({ runId })
  }
}
