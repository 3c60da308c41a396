import { EVERY_ROW, isRefusal } from '@perdure/ports'
import { expect } from 'vitest'
import { ALICE } from '../engine/test-engine.fixture.ts'
import type { World } from './engine-history.fixture.ts'
import { payloadOf } from './engine-program.fixture.ts'

const ALLOWED: readonly string[] = [
  ...['idempotency-in-flight', 'agent-busy', 'queue-full', 'server-draining', 'run-not-active', 'run-not-suspended'],
  ...['approval-resolved', 'resume-without-suspension', 'thread-not-found', 'idempotency-conflict'],
  ...['run-active', 'version-unknown'],
]

/** Handles a request without waiting for its answer, and records unexpected refusals. */
export function submit<T>(world: World, work: Promise<T>, onAnswer: (answer: T) => void = () => undefined): void {
  work.then(onAnswer).catch((error: unknown) => {
    const id = isRefusal(error) ? error.code : String((error as Error).stack)
    if (!ALLOWED.includes(id)) world.refusals.add(isRefusal(error) ? `${id}: ${error.message}` : id)
  })
}

export interface Emit {
  readonly name: string
  readonly key?: string | undefined
}

/** Emits an event. A repeated key emits the name it was first used with. */
export function emitEvent(world: World, { name, key }: Emit): void {
  const first = key === undefined ? name : (world.emitted.get(key) ?? name)
  if (key !== undefined) world.emitted.set(key, first)
  const keyed = key === undefined ? {} : { key: { id: key, fingerprint: 'same' } }
  submit(world, world.process.engine.emitEvent({ name: first, payload: payloadOf(first, key), ...keyed }))
}

export const decideOne = (world: World, approvalId: string, approved: boolean) =>
  submit(
    world,
    world.process.engine.resolveApproval({ approvalId, approved, by: 'alice', visibility: EVERY_ROW }),
    () => {
      if (!world.decided.has(approvalId)) world.decided.set(approvalId, approved)
      expect(approved, `the decision on ${approvalId}`).toBe(world.decided.get(approvalId))
    },
  )

export function resumeOne(world: World, runId: string): void {
  world.resumed.add(runId)
  submit(world, world.process.engine.resumeRun({ runId, payload: 1, principal: ALICE, visibility: EVERY_ROW }))
}
