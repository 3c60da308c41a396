import { describe, expect, it } from 'vitest'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { type Sample, trendsOf } from './trends.ts'

const random = createRandom(7)

type Seen = Omit<Sample, 'period' | 'seconds'>

/** Three periods of ten minutes; a healthy server is noisy, warms up, and shows a sawtooth from garbage collection. */
function soaked(over: (seconds: number, period: number) => Partial<Seen> = () => ({})): readonly Sample[] {
  return [0, 1, 2].flatMap((period) =>
    Array.from({ length: 120 }, (_, n) => {
      const seconds = n * 5
      const warmth = 60 * (1 - Math.exp(-seconds / 60))
      const healthy = {
        rssMiB: 120 + warmth + (n % 11) * 3 + random() * 10,
        descriptors: 80 + Math.floor(random() * 6),
        walMiB: 4 + random() * 8,
        fileMiB: period === 0 ? 1 + seconds / 10 : 61 + seconds / 100,
      }
      return { period, seconds, ...healthy, ...over(seconds, period) }
    }),
  )
}

describe('trendsOf', () => {
  it('reports no growth for a server that warms up, collects garbage and handles bursts', () => {
    const bursts = soaked((seconds) => (seconds % 200 < 15 ? { rssMiB: 320, descriptors: 190 } : {}))
    expect(trendsOf(bursts).violations).toEqual([])
  })

  it.each([
    ['a leak of a kilobyte per request', (seconds: number) => ({ rssMiB: 180 + seconds * 0.2 }), 'rssMiB grew'],
    [
      'a leaked descriptor per ten sockets',
      (seconds: number) => ({ descriptors: 80 + seconds / 10 }),
      'descriptors grew',
    ],
    ['a WAL that is never truncated', (seconds: number) => ({ walMiB: 4 + seconds / 10 }), 'walMiB grew'],
    ['a WAL that is too long once', (seconds: number) => (seconds === 55 ? { walMiB: 90 } : {}), 'the WAL was 90 MiB'],
    [
      'rows that are never removed',
      (seconds: number, period: number) => ({ fileMiB: 1 + period * 60 + seconds / 10 }),
      'the file grew by 60',
    ],
  ])('reports %s', (_, leak, violation) => {
    expect(trendsOf(soaked(leak)).violations).toEqual([expect.stringContaining(violation)])
  })

  it('reports that there are too few samples', () => {
    expect(trendsOf(soaked().slice(0, 3)).violations).toEqual(['no period was long enough to judge'])
  })
})
