import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Verify } from './client-actions.ts'
import { checkInvariants } from './invariants.ts'
import { type Report, reportOf } from './kills.ts'
import { playScenario } from './scenario.ts'
import { type Fault, type Point, storageThread, traceThread } from './tracing.ts'
import { openWorld, pause, type World } from './world.ts'

export interface PlannedFault extends Point {
  readonly fault: Fault
}

export interface PointsOptions {
  readonly seed: number
  /** Chooses where to inject faults, given the calls of the scenario in order. */
  readonly choose: (calls: readonly Point[], random: () => number) => readonly PlannedFault[]
  readonly onFault?: (planned: PlannedFault, isReached: boolean) => void
}

export interface PointsReport extends Report {
  /** Number of system calls that the storage thread makes during one scenario. */
  readonly calls: number
  readonly faults: number
  /** Number of injected faults whose system call the scenario reached. */
  readonly reached: number
}

/**
 * Plays the scenario once to record the system calls of the storage thread, then once per chosen call with a kill or an
 * error injected at that call. All rounds use one file, and clients retry until they are answered. Checks every
 * invariant at the end.
 */
export async function injectFaults({ seed, choose, onFault }: PointsOptions): Promise<PointsReport> {
  const world = await openWorld({ seed })
  try {
    const verifies: Verify[] = []
    const output = join(world.sandbox.dir, 'calls.txt')
    const trace = await traceThread(storageThread(world.server()), output)
    verifies.push(await playScenario(world, 'p0'))
    const calls = await trace.calls()
    const faults = choose(calls, world.random)
    let reached = 0
    for (const [index, planned] of faults.entries()) {
      const isReached = await injectOnce(world, planned, async () => {
        verifies.push(await playScenario(world, `p${index + 1}`))
      })
      if (isReached) reached++
      onFault?.(planned, isReached)
    }
    await checkInvariants(world, verifies)
    return { ...reportOf(world, verifies.length), calls: calls.length, faults: faults.length, reached }
  } finally {
    await world.end()
  }
}

/** Returns whether the point was reached. */
async function injectOnce(world: World, planned: PlannedFault, play: () => Promise<void>): Promise<boolean> {
  const { fault } = planned
  const output = join(world.sandbox.dir, 'calls.txt')
  const child = world.server().process
  const trace = await traceThread(storageThread(world.server()), output, planned)
  let isPlayed = false
  const played = play().finally(() => {
    isPlayed = true
  })
  played.catch(() => undefined)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const deadline = performance.now() + STALLED_MS
  while (!isPlayed && !hasEnded() && performance.now() < deadline) await pause(5)
  if (!isPlayed && !hasEnded()) {
    world.violate('I5', `${fault.kind} at ${planned.call} ${planned.nth}: a request is unanswered after a minute`)
    await trace.calls()
    await world.kill()
    await world.start()
    await played
    return true
  }
  const isReached = hasEnded() || countOf(await trace.calls(), planned) >= planned.nth
  if (isReached && endsTheProcess(fault)) {
    await endedAsExpected(world, planned)
    await world.start()
  } else if (hasEnded()) {
    world.violate('I10', `${planned.call} ${planned.nth} ended the process`)
    await world.start()
  }
  await played
  return isReached
}

const countOf = (calls: readonly Point[], { call }: Point): number => calls.filter((one) => one.call === call).length

/** A full disk must not end the process. A failed write or flush must, because the file contents are then unknown. */
const endsTheProcess = (fault: Fault): boolean => fault.kind === 'kill' || fault.error === 'EIO'

async function endedAsExpected(world: World, { call, nth, fault }: PlannedFault): Promise<void> {
  const timeout = setTimeout(EXIT_TIMEOUT_MS, undefined, { ref: false })
  const end = await Promise.race([world.ended(), timeout])
  const what = `${fault.kind === 'kill' ? 'SIGKILL' : fault.error} at ${call} ${nth}`
  if (end === undefined) {
    world.violate('I10', `${what} did not end the process`)
    await world.kill()
  } else if (fault.kind === 'kill' ? end.signal !== 'SIGKILL' : end.code !== 70) {
    world.violate('I10', `${what}: the process exited with ${end.code ?? end.signal}`)
  }
}

const EXIT_TIMEOUT_MS = 60_000
const STALLED_MS = 60_000
