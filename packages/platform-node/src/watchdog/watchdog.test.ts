import type { Logger } from '@perdure/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { createWatchdog, type Watchdog } from './watchdog.ts'

let watchdog: Watchdog | undefined
afterEach(() => watchdog?.close())

const blockFor = (ms: number) => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

function start(): { readonly watched: Watchdog; readonly errors: unknown[] } {
  const errors: unknown[] = []
  const ignore = () => undefined
  const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: (...args) => void errors.push(args) }
  const watched = createWatchdog({ level: 'silent', logger, ownsProcess: false })
  watchdog = watched
  watched.start({
    ...{ executing: () => [], current: () => undefined, maxBlockMs: undefined },
    ...{ stopBudgetMs: 5_000, forcedStopMs: 2_000 },
  })
  return { watched, errors }
}

describe('createWatchdog', () => {
  it('reports a blocked event loop for some seconds after it turns again', async () => {
    const { watched, errors } = start()
    watched.enter('run_1')
    expect(watched.wasBlocked()).toBe(false)
    // The thread needs some time to start.
    const blocked = async () => {
      blockFor(8_000)
      return watched.wasBlocked()
    }

    await expect.poll(blocked).toBe(true)
    await expect.poll(watched.wasBlocked).toBe(false)
    expect(errors).toEqual([])
  })

  it('leaves nothing on the global object after it is closed', async () => {
    const symbols = () => Object.getOwnPropertySymbols(globalThis).map(String)
    const before = symbols()
    const { watched } = start()
    expect(symbols().length).toBe(before.length + 1)
    await watched.close()

    expect(symbols()).toEqual(before)
  })
})
