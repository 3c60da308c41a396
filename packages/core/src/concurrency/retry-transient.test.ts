import { AppError, type Logger } from '@perdure/ports'
import type { ErrorCode } from '@perdure/protocol'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { persistently } from './retry-transient.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** An attempt that fails with these errors, one after the other, before it succeeds. */
function failing(...errors: readonly unknown[]) {
  const clock = createManualClock()
  const warnings: unknown[] = []
  const logger: Logger = { ...silentLogger, warn: (_, fields) => warnings.push(fields) }
  let tries = 0
  const result = persistently({ timers: clock, logger }, async () => {
    const error = errors[tries++]
    if (error !== undefined) throw error
    return 'done'
  })
  result.catch(() => undefined)
  return { clock, warnings, result, tries: () => tries }
}

describe('persistently', () => {
  it('answers at once what succeeds', async () => {
    const { result, tries, warnings } = failing()

    expect([await result, tries(), warnings]).toEqual(['done', 1, []])
  })

  it.each<[ErrorCode]>([['SQLITE_BUSY'], ['storage-full']])(
    'tries again after %s, in growing pauses up to 5 s',
    async (id) => {
      const pausesMs = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]
      const { clock, result, tries, warnings } = failing(...pausesMs.map(() => new AppError(id)))

      for (const [index, pauseMs] of pausesMs.entries()) {
        await turn()
        expect(tries()).toBe(index + 1)
        clock.advance(pauseMs - 1)
        await turn()
        expect(tries()).toBe(index + 1)
        clock.advance(1)
      }

      expect(await result).toBe('done')
      expect(warnings).toEqual(pausesMs.map((delayMs) => ({ error: id, delayMs })))
    },
  )

  it.each([[new AppError('storage-failed')], [new Error('foreign')], ['text']])(
    'gives up at once on %s',
    async (error) => {
      const { result, tries } = failing(error)

      await expect(result).rejects.toBe(error)
      expect(tries()).toBe(1)
    },
  )
})
