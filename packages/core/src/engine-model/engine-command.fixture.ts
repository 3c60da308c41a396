import fc from 'fast-check'
import type { World } from './engine-history.fixture.ts'
import { expectInvariants } from './engine-invariants.fixture.ts'
import { submit } from './engine-requests.fixture.ts'
import { allRuns, type CrashPoint, quiesce, startProcess, stepsOf } from './engine-world.fixture.ts'

/**
 * The pause after a command: `'idle'` lets all pending work finish; a number is how many microtasks of that work run.
 */
export type Pause = number | 'idle'
export type Command = fc.AsyncCommand<object, World>

export const command = (name: string, length: Pause, act: (world: World) => unknown): Command => ({
  check: () => true,
  async run(_, world) {
    world.seen.add(name.split(' ', 1)[0] ?? name)
    await act(world)
    if (length === 'idle') await quiesce(world.environment)
    else for (let n = 0; n < length; n++) await undefined
    await restartUntilAlive(world)
    await expectInvariants(world, length === 'idle')
  },
  toString: () => `${name} ~${length}`,
})

/** Starts processes until one survives its start. Does nothing while the current process is alive. */
export async function restartUntilAlive(world: World): Promise<void> {
  while (!world.process.isAlive()) {
    await quiesce(world.environment)
    await boot(world)
    await quiesce(world.environment)
  }
}

export async function boot(world: World): Promise<void> {
  for (const run of await allRuns(world.environment)) {
    if (run.status === 'running') world.foundRunning.set(run.id, run.attempt)
    for (const { seq, status } of await stepsOf(world.environment, run)) {
      const id = `${run.id}.${seq}`
      if (status === 'started') world.crashes.set(id, (world.crashes.get(id) ?? 0) + 1)
    }
  }
  world.restarts++
  world.bootedAt.push((await world.environment.storage.events.head()).position)
  world.process = startProcess(world.environment)
  const { engine } = world.process
  submit(
    world,
    engine.recover().then(() => engine.start()),
  )
}

export const pickOf = <T>(items: readonly T[], pick: number): T | undefined => items[pick % Math.max(1, items.length)]

export const pauses = fc.oneof(fc.constant('idle' as const), fc.constant('idle' as const), fc.nat(40))
export const crashPoints = fc.constantFrom<CrashPoint>('before', 'after')
