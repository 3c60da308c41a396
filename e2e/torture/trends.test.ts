import { describe, expect, it } from 'vitest'
import { createRandom } from '../../packages/testkit/src/random.ts'
import { type Sample, trendsOf } from './trends.ts'

const random = createRandom(7)

type Seen = Omit<Sample, 'life' | 'seconds'>

/** Three lives of ten minutes; a healthy server is noisy, warms up, and its garbage collector comes in teeth of a saw. */
function soaked(over: (seconds: number, life: number) => Partial<Seen> = () => ({})): readonly Sample[] {
  return [0, 1, 2].flatMap((life) =>
    Array.from({ length: 120 }, (_, n) => {
      const seconds = n * 5
      const warmth = 60 * (1 - Math.exp(-seconds / 60))
      const healthy = {
        rssMiB: 120 + warmth + (n % 11) * 3 + random() * 10,
        descriptors: 80 + Math.floor(random() * 6),
        walMiB: 4 + random() * 8,
        fileMiB: life === 0 ? 1 + seconds / 10 : 61 + seconds / 100,
      }
      return { life, seconds, ...healthy, ...over(seconds, life) }
    }),
  )
}

describe('the trends of a soak', () => {
  it('are flat for a server that warms up, collects its garbage and meets bursts', () => {
    const bursts = soaked((seconds) => (seconds % 200 < 15 ? { rssMiB: 320, descriptors: 190 } : {}))
    expect(trendsOf(bursts).violations).toEqual([])
  })

  it.each([
    ['a kilobyte for each request', (seconds: number) => ({ rssMiB: 180 + seconds * 0.2 }), 'rssMiB grew'],
    [
      'a descriptor for each tenth socket',
      (seconds: number) => ({ descriptors: 80 + seconds / 10 }),
      'descriptors grew',
    ],
    ['a log that is never cut off', (seconds: number) => ({ walMiB: 4 + seconds / 10 }), 'walMiB grew'],
    ['a log that once is too long', (seconds: number) => (seconds === 55 ? { walMiB: 90 } : {}), 'the log was 90 MiB'],
    [
      'rows that are never removed',
      (seconds: number, life: number) => ({ fileMiB: 1 + life * 60 + seconds / 10 }),
      'the file grew by 60',
    ],
  ])('show %s', (_, leak, violation) => {
    expect(trendsOf(soaked(leak)).violations).toEqual([expect.stringContaining(violation)])
  })

  it('say so when there was not enough to see', () => {
    expect(trendsOf(soaked().slice(0, 3)).violations).toEqual(['no life was long enough to tell'])
  })
})
