import { createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs } from '@perdure/ports'
import { aJob, aTrigger, createManualClock } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { makeServer } from '../embedding/embedded-server.fixture.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** A storage in which an earlier process has left triggers, a job that waits, and one that has failed for good. */
async function usedStorage(now: EpochMs) {
  const storage = createInMemoryStorage()
  const [lease, later] = ['lease', (now + 86_400_000) as EpochMs]
  const job = (id: string, dueAt: EpochMs) =>
    ({ type: 'job.enqueue', job: aJob({ id, key: id, createdAt: now, dueAt }) }) as const
  const outcome = await storage.unitOfWork.commit([
    { type: 'trigger.insert', trigger: aTrigger({ id: 'switched-on' }) },
    { type: 'trigger.insert', trigger: aTrigger({ id: 'switched-off', enabled: false }) },
    job('waits', later),
    job('dead', now),
    { type: 'job.claim', id: 'dead', lease, now, until: later },
    { type: 'job.fail', id: 'dead', lease, now, attempts: 5, error: { kind: 'unknown', message: 'a bug' } },
  ])
  expect(outcome.committed).toBe(true)
  return storage
}

it('is told by health and metrics from the first request on as after the first pass of every daemon', async () => {
  const clock = createManualClock()
  const storage = await usedStorage(clock.now())
  const server = await makeServer({ adapters: { storage, clock, timers: clock, logger: quiet } })
  const read = async (path: string) => server.fetch(new Request(`http://localhost/v1${path}`))
  const checks = async () => ((await (await read('/health')).json()) as { readonly checks: object }).checks
  /** The gauges of what the storage holds. */
  const gauges = async () =>
    (await (await read('/metrics')).text())
      .split('\n')
      .filter((line) => /^svc_(?:consolidator|queued|inflight|nodes|cluster)/.test(line))

  await server.start({ listen: false })
  const [first, firstGauges] = [await checks(), await gauges()]

  expect(first).toMatchObject({
    consolidator: { status: 'warn', queueDepth: 1, deadLetters: 1, running: true },
    triggers: { active: 1, disabled: 1, running: true },
  })
  for (let pass = 0; pass < 20; pass++) {
    clock.advance(50)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  expect(await checks()).toEqual(first)
  expect(await gauges()).toEqual(firstGauges)
  expect(firstGauges.some((line) => /dead_letters.* 1$/.test(line))).toBe(true)
})
