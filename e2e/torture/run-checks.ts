import { isDeepStrictEqual } from 'node:util'
import type { Shown, World } from './world.ts'

export function expectSame(world: World, invariant: string, what: string, values: readonly [unknown, unknown]): void {
  const [expected, found] = values
  if (isDeepStrictEqual(expected, found)) return
  world.violate(invariant, `${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
}

/** I1: the token is rejected, or its client is locked out after too many rejections. */
export async function expectRevoked(world: World, name: string, token: string): Promise<void> {
  const { status, text } = await world.ask({ method: 'GET', path: '/tokens/self', token })
  const isLockedOut = status === 429 && text.includes('"auth-locked-out"')
  if (status !== 401 && !isLockedOut) world.violate('I1', `the revoked token ${name} is answered ${status} ${text}`)
}

/** I1 and I8: the run is as acknowledged, and its events are in order with one end. */
export async function checkRun(world: World, acknowledged: Shown): Promise<Shown> {
  const { runId } = acknowledged
  const { status, body: run, text } = await world.ask({ method: 'GET', path: `/runs/${runId}` })
  if (status !== 200) {
    world.violate('I1', `${runId} was acknowledged and is missing: ${status} ${text}`)
    return acknowledged
  }
  for (const field of ['status', 'finishReason', 'error'] as const) {
    if (acknowledged[field] !== undefined)
      expectSame(world, 'I1', `${field} of ${runId}`, [acknowledged[field], run[field]])
  }
  if (acknowledged.result !== undefined)
    expectSame(world, 'I1', `result of ${runId}`, [acknowledged.result, run.result])
  if (['queued', 'running', 'suspended'].includes(run.status)) world.violate('I5', `${runId} is ${run.status}`)
  await checkEvents(world, runId, run.status)
  return run
}

async function checkEvents(world: World, runId: string, status: string): Promise<void> {
  const events = await everyItem(world, `/runs/${runId}/events`)
  const positions = events.map(({ eventId }) => Number(eventId.split('.')[1]))
  const isIncreasing = positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0))
  if (!isIncreasing) world.violate('I8', `events of ${runId} are out of order: ${positions}`)
  const types = events.map(({ type }) => type)
  const ends = types.filter((type) => /^run\.(completed|failed|aborted)$/.test(type))
  if (!/^run\.(started|queued)$/.test(types[0] ?? '')) world.violate('I8', `${runId} starts with ${types[0]}`)
  if (ends.length !== 1 || types.at(-1) !== `run.${status}`) world.violate('I8', `${runId} (${status}): ${types}`)
}

/** Whether the run failed because the full disk refused one of its records. */
export const failedOnFullDisk = ({ status, error }: Shown): boolean =>
  status === 'failed' && JSON.stringify(error ?? '').includes('storage-full')

/**
 * I2 and I3: the external effects of a run match its recovery policy. I4: other effects under its name are of runs that
 * were never stored, because a run that may execute again can begin before it is stored.
 */
export async function expectEffects(world: World, name: string, run: Shown, onCrash: 'fail' | 'resume'): Promise<void> {
  const all = world.effects(name).map((line) => line.split(' '))
  const own = all.filter(([, id]) => id === run.id)
  const attempts = new Set(own.map(([, , attempt]) => attempt))
  const hasThrown = run.status === 'failed' && run.finishReason === 'error' && !failedOnFullDisk(run)
  const isDone = run.status === 'completed' || hasThrown
  const isFine =
    onCrash === 'fail'
      ? own.length === 1 || (own.length === 0 && !isDone)
      : (failedOnFullDisk(run) || (isDone && own.length >= 1)) &&
        own.length <= run.attempt &&
        attempts.size === own.length
  if (!isFine) world.violate(isDone ? 'I2' : 'I3', `${name} (${run.status}) left ${JSON.stringify(all)}`)
  const others = new Set(all.flatMap(([, id = '']) => (id === run.id ? [] : [id])))
  if (onCrash === 'fail' && others.size > 0) world.violate('I4', `${name} of ${run.id}: ${[...others]}`)
  for (const id of others) {
    const { status } = await world.ask({ method: 'GET', path: `/runs/${id}` })
    expectSame(world, 'I4', `the other run ${id} of ${name}`, [404, status])
  }
}

/** Reads all pages of a list, by GET or by POST with order and cursor in the body. */
export async function everyItem(world: World, path: string, method: 'GET' | 'POST' = 'GET'): Promise<readonly Shown[]> {
  const items: Shown[] = []
  let cursor: string | undefined
  do {
    const page = { order: 'asc', limit: 200, ...(cursor === undefined ? {} : { cursor }) }
    const query = new URLSearchParams(Object.entries(page).map(([name, value]): [string, string] => [name, `${value}`]))
    const ask = method === 'GET' ? { method, path: `${path}?${query}` } : { method, path, body: page }
    const { status, text, body } = await world.ask(ask)
    if (status !== 200) {
      world.violate('I1', `${path}: ${status} ${text}`)
      return items
    }
    items.push(...body.items)
    cursor = body.nextCursor ?? undefined
  } while (cursor !== undefined)
  return items
}
