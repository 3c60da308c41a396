import { type EpochMs, type IdempotencyRecord, perdureError } from '@perdure/ports'
import { anIdempotencyRecord, BUILT_AT } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { createKeyLookup } from './key-lookup.ts'

const at = (ms: number) => (BUILT_AT + ms) as EpochMs
const response = { status: 200, body: '{}' }
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A lookup whose reads the test answers itself. */
function setUp() {
  const reads: { readonly ids: readonly string[]; readonly now: EpochMs }[] = []
  const answers: ReturnType<typeof Promise.withResolvers<readonly IdempotencyRecord[]>>[] = []
  const find = createKeyLookup((ids, now) => {
    reads.push({ ids, now })
    const answer = Promise.withResolvers<readonly IdempotencyRecord[]>()
    answers.push(answer)
    return answer.promise
  })
  return { find, reads, answers }
}

it('reads the keys of one turn together, each once, as of the earliest time', async () => {
  const { find, reads, answers } = setUp()
  const found = Promise.all([find('a', at(5)), find('b', at(9)), find('a', at(3)), find('missing', at(5))])
  await turn()
  expect(reads).toEqual([{ ids: ['a', 'b', 'missing'], now: at(3) }])

  const a = anIdempotencyRecord({ id: 'a', response, expiresAt: at(4) })
  const b = anIdempotencyRecord({ id: 'b', response: undefined, expiresAt: at(1) })
  answers[0]?.resolve([b, a])
  expect(await found).toEqual([undefined, b, a, undefined])
})

it('reads the keys that arrive during two reads together afterwards', async () => {
  const { find, reads, answers } = setUp()
  const found = ['a', 'b'].map(async (id) => {
    const record = find(id, at(0))
    await turn()
    return record
  })
  await turn()
  const later = ['c', 'd'].map((id) => find(id, at(0)))
  await turn()
  for (const { resolve } of answers) resolve([])
  await turn()

  expect(reads.map(({ ids }) => ids)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  for (const { resolve } of answers) resolve([])
  expect(await Promise.all([...found, ...later])).toEqual([undefined, undefined, undefined, undefined])
})

it('fails the lookups that wait as well if the server is out of reach, instead of another timeout for each 64', async () => {
  const { find, reads, answers } = setUp()
  const failed = find('a', at(0))
  await turn()
  const other = find('b', at(0))
  await turn()
  const later = [find('c', at(0)), find('d', at(0))]
  const outcomes = Promise.allSettled([failed, ...later])
  const failure = perdureError('storage-unavailable')
  answers[0]?.reject(failure)

  expect(await outcomes).toEqual(Array(3).fill({ status: 'rejected', reason: failure }))
  expect(reads).toHaveLength(2)
  answers[1]?.resolve([])
  expect(await other).toBeUndefined()
})

it('fails only the lookups of a read that fails', async () => {
  const { find, answers } = setUp()
  const failed = find('a', at(0))
  await turn()
  const other = find('b', at(0))
  await turn()
  answers[0]?.reject(new Error('lost'))
  answers[1]?.resolve([])

  await expect(failed).rejects.toThrow('lost')
  expect(await other).toBeUndefined()
  const next = find('c', at(0))
  await turn()
  answers[2]?.resolve([])
  expect(await next).toBeUndefined()
})
