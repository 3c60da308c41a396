import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Verify } from './deeds.ts'
import { checkInvariants } from './invariants.ts'
import { type Report, reportOf } from './kills.ts'
import { playScenario } from './scenario.ts'
import { type Fault, type Point, requireTool, storageThread, traceThread } from './tracing.ts'
import { openWorld, pause, type World } from './world.ts'

export interface Strike extends Point {
  readonly fault: Fault
}

export interface PointsOptions {
  readonly seed: number
  /** From the calls that the scenario makes, in their order, where to strike. */
  readonly choose: (calls: readonly Point[], random: () => number) => readonly Strike[]
  readonly onStrike?: (strike: Strike, isReached: boolean) => void
}

export interface PointsReport extends Report {
  /** Calls of the storage thread during one scenario. */
  readonly calls: number
  readonly strikes: number
  /** Strikes whose point came. */
  readonly reached: number
}

/**
 * Plays the scenario once to see which calls the storage thread makes, then once for each chosen one, and there lets the
 * process die or the call fail. All on one file, with clients that ask until they are answered; then every invariant.
 */
export async function strikePoints({ seed, choose, onStrike }: PointsOptions): Promise<PointsReport> {
  requireTool('strace')
  const world = await openWorld({ seed })
  try {
    const verifies: Verify[] = []
    const output = join(world.place.dir, 'calls.txt')
    const trace = await traceThread(storageThread(world.server()), output)
    verifies.push(await playScenario(world, 'p0'))
    const calls = await trace.calls()
    const strikes = choose(calls, world.random)
    let reached = 0
    for (const [index, strike] of strikes.entries()) {
      const isReached = await strikeOnce(world, strike, async () => {
        verifies.push(await playScenario(world, `p${index + 1}`))
      })
      if (isReached) reached++
      onStrike?.(strike, isReached)
    }
    await checkInvariants(world, verifies)
    return { ...reportOf(world, verifies.length), calls: calls.length, strikes: strikes.length, reached }
  } finally {
    await world.end()
  }
}

/** Whether the point was reached. */
async function strikeOnce(world: World, strike: Strike, play: () => Promise<void>): Promise<boolean> {
  const { fault } = strike
  const output = join(world.place.dir, 'calls.txt')
  const child = world.server().process
  const trace = await traceThread(storageThread(world.server()), output, strike)
  let isPlayed = false
  const played = play().finally(() => {
    isPlayed = true
  })
  played.catch(() => undefined)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const deadline = performance.now() + STALLED_MS
  while (!isPlayed && !hasEnded() && performance.now() < deadline) await pause(5)
  if (!isPlayed && !hasEnded()) {
    world.violate('I5', `${fault.kind} at ${strike.call} ${strike.nth}: something is not done after a minute`)
    await trace.calls()
    await world.kill()
    await world.start()
    await played
    return true
  }
  const isReached = hasEnded() || countOf(await trace.calls(), strike) >= strike.nth
  if (isReached && endsTheProcess(fault)) {
    await endedAsExpected(world, strike)
    await world.start()
  } else if (hasEnded()) {
    world.violate('I10', `${strike.call} ${strike.nth} ended the process`)
    await world.start()
  }
  await played
  return isReached
}

const countOf = (calls: readonly Point[], { call }: Point): number => calls.filter((one) => one.call === call).length

/** A full disk is no reason to end; what a failed write or flush has left behind is unknown, so that one is. */
const endsTheProcess = (fault: Fault): boolean => fault.kind === 'kill' || fault.error === 'EIO'

async function endedAsExpected(world: World, { call, nth, fault }: Strike): Promise<void> {
  const patience = setTimeout(PATIENCE_MS, undefined, { ref: false })
  const end = await Promise.race([world.ended(), patience])
  const what = `${fault.kind === 'kill' ? 'SIGKILL' : fault.error} at ${call} ${nth}`
  if (end === undefined) {
    world.violate('I10', `${what} did not end the process`)
    await world.kill()
  } else if (fault.kind === 'kill' ? end.signal !== 'SIGKILL' : end.code !== 70) {
    world.violate('I10', `${what} ended the process with ${end.code ?? end.signal}`)
  }
}

const PATIENCE_MS = 60_000
const STALLED_MS = 60_000
