import type { ApprovalRecord, RunRecord, StepRecord } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { expect } from 'vitest'
import { VERSIONED } from './engine-code.fixture.ts'
import type { World } from './engine-history.fixture.ts'
import { type Known, lineageOf } from './engine-outcomes.fixture.ts'

interface Stored {
  readonly run: RunRecord
  readonly steps: readonly StepRecord[]
}

export const isParked = ({ status, parked }: RunRecord): boolean =>
  status === 'suspended' && parked !== undefined && parked !== 'null'

interface Reason {
  readonly version?: string
  readonly expected?: string
}

/** A run is parked only for a reason that the deployments explain, and its waits still take their outcomes. */
export function expectParked({ environment, seen }: World, { run, steps }: Stored, { runs, approvals }: Known): void {
  const { deployed, executions } = environment
  for (const { id, seq, status } of approvals.filter(({ runId }) => runId === run.id)) {
    const call = status === 'pending' ? undefined : steps.find((step) => step.approvalId === id)
    if (call?.status === 'waiting' && !isTerminal(run.status))
      expect.fail(`${id} is ${status}, but call ${seq} of ${run.id} still waits`)
  }
  if (!isParked(run)) return
  const { version, expected = '' } = JSON.parse(run.parked ?? '') as Reason
  if (version !== undefined) {
    seen.add('parked: version')
    expect(version, `the missing version of ${run.id}`).toBe(run.version)
    expect(VERSIONED.includes(run.targetId) ? deployed.versions : [], `versions of ${run.id}`).not.toContain(version)
    return
  }
  seen.add('parked: divergence')
  const codes = new Set(lineageOf(run, runs).flatMap(({ id }) => [...(executions.codes.get(id) ?? [])]))
  expect(codes.size, `codes that executed ${run.id}, parked: ${run.parked}`).toBeGreaterThan(1)
  const path = /^step note-(.*)$/.exec(expected)?.[1]
  const approval = path === undefined ? undefined : steps.find(({ name }) => name === `ask-${path}`)
  if (approval !== undefined) seen.add('parked: late')
  expect(approval?.status ?? 'waiting', `${run.id} is parked, although its code fits since a decision`).toBe('waiting')
}

/** Keeps what is stored about an ended run. */
export async function keepLog(world: World, stored: Stored, approvals: readonly ApprovalRecord[]): Promise<void> {
  const { id, status } = stored.run
  if (isTerminal(status) && !world.logs.has(id)) world.logs.set(id, await logOf(world, stored, approvals))
}

/** The log and the outcomes of an ended run never change, whatever is forked from it. */
export async function expectUnchanged(world: World, stored: Stored, approvals: readonly ApprovalRecord[]) {
  const text = await logOf(world, stored, approvals)
  expect(text, `what is stored about ${stored.run.id}, which has ended`).toBe(world.logs.get(stored.run.id) ?? text)
}

async function logOf(
  { environment }: World,
  { run, steps }: Stored,
  approvals: readonly ApprovalRecord[],
): Promise<string> {
  const events = await environment.storage.events.read({ runId: run.id }, { after: 0, limit: 1_000 })
  const own = approvals.filter(({ runId }) => runId === run.id)
  // A wait that its run has left open is closed when it would have ended.
  const calls = steps.filter(({ status, error }) => status !== 'waiting' && error?.code !== 'run-not-active')
  return JSON.stringify([run, calls, events, own])
}

/**
 * `ctx.version` answers the recorded version, and otherwise one value for good: the lowest that the code supports, which
 * later code may raise.
 */
export function expectVersions({ environment, seen }: World, { run, steps }: Stored): void {
  const answers = environment.executions.versions.get(run.id) ?? []
  const recorded = steps.filter(({ kind }) => kind === 'version')
  expect(recorded.length, `recorded versions of ${run.id}`).toBeLessThanOrEqual(1)
  const result = recorded.map((call) => Number(call.result)).at(0)
  const moved = answers.filter(({ version, min, isRecorded }, index) => {
    const hasBegun = isRecorded && answers.slice(0, index).some((earlier) => !earlier.isRecorded)
    return hasBegun || version !== (isRecorded ? result : min)
  })
  for (const { version, isRecorded } of answers)
    seen.add(`version: ${version} ${isRecorded ? 'recorded' : 'by absence'}`)
  expect(moved, `versions of ${run.id} that moved; recorded: ${result}; answers: ${JSON.stringify(answers)}`).toEqual(
    [],
  )
}
