import { type Logger, perdureError, storageBusy } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { retryTransient } from './retry-transient.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** An attempt that fails with each of these errors in turn and then succeeds. */
function failing(...errors: readonly unknown[]) {
  const clock = createManualClock()
  const warnings: unknown[] = []
  const logger: Logger = { ...silentLogger, warn: (_, fields) => warnings.push(fields) }
  let tries = 0
  const result = retryTransient({ timers: clock, logger }, async () => {
    const error = errors[tries++]
    if (error !== undefined) throw error
    return 'done'
  })
  result.catch(() => undefined)
  return { clock, warnings, result, tries: () => tries }
}

describe('retryTransient', () => {
  it('returns the result of a successful attempt immediately', async () => {
    const { result, tries, warnings } = failing()

    expect([await result, tries(), warnings]).toEqual(['done', 1, []])
  })

  it.each([
    ['busy', storageBusy()],
    ['unavailable', perdureError('storage-unavailable')],
    ['full', perdureError('storage-full')],
  ])('retries while the storage is %s, with growing pauses up to 5 s', async (_, error) => {
    const pausesMs = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]
    const { clock, result, tries, warnings } = failing(...pausesMs.map(() => error))

    for (const [index, pauseMs] of pausesMs.entries()) {
      await turn()
      expect(tries()).toBe(index + 1)
      clock.advance(pauseMs - 1)
      await turn()
      expect(tries()).toBe(index + 1)
      clock.advance(1)
    }

    expect(await result).toBe('done')
    expect(warnings).toEqual(pausesMs.map((delayMs) => ({ error: error.code, delayMs })))
  })

  it('retries the busy error of an adapter for another database', async () => {
    const cause = Object.assign(new Error('could not serialize access'), { code: '40001' })
    const { clock, result, tries } = failing(storageBusy({ cause }))
    await turn()
    clock.advance(100)

    expect([await result, tries()]).toEqual(['done', 2])
  })

  it.each([[perdureError('storage-failed')], [new Error('foreign')], ['text']])(
    'throws %s without a retry',
    async (error) => {
      const { result, tries } = failing(error)

      await expect(result).rejects.toBe(error)
      expect(tries()).toBe(1)
    },
  )
})
