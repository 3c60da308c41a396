import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createReadTurns } from './read-turns.ts'

/** Reads that take a number of milliseconds on a clock of their own. */
function setUp() {
  let nowMs = 0
  const turns = createReadTurns(() => nowMs)
  const done: string[] = []
  const read = (name: string, ms: number) =>
    turns.run(() => {
      nowMs += ms
      done.push(name)
    })
  return { read, done, turns }
}

describe('createReadTurns', () => {
  it('runs short reads at once', () => {
    const { read, done } = setUp()

    for (const name of ['a', 'b', 'c']) void read(name, 0.5)

    expect(done).toEqual(['a', 'b', 'c'])
  })

  it('runs a read behind those that wait, although it was made in a turn that could run it', async () => {
    const { read, done } = setUp()
    const reads = ['a', 'b', 'c'].map((name) => read(name, name === 'a' ? 10 : 1))
    await nextTurn()
    reads.push(read('d', 1))
    await nextTurn()
    await Promise.all(reads)

    expect(done).toEqual(['a', 'b', 'c', 'd'])
  })

  it('runs one long read per turn of the event loop, in order', async () => {
    const { read, done } = setUp()
    const reads = ['a', 'b', 'c'].map((name) => read(name, 10))
    const seen = [[...done]]

    for (let turn = 0; turn < 3; turn++) {
      await nextTurn()
      seen.push([...done])
    }

    expect(seen).toEqual([['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c']])
    await Promise.all(reads)
  })

  it('runs a read at once again after a turn without reads', async () => {
    const { read, done } = setUp()
    await read('a', 10)
    await nextTurn()

    void read('b', 10)

    expect(done).toEqual(['a', 'b'])
  })

  it('continues with the next read after a read that throws', async () => {
    const { read, done, turns } = setUp()
    const first = read('a', 10)
    const second = turns.run(() => {
      throw new Error('no such table')
    })
    const third = read('c', 0)

    await expect(second).rejects.toThrow('no such table')
    await Promise.all([first, third])
    expect(done).toEqual(['a', 'c'])
  })
})
