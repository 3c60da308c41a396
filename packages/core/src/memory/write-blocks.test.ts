import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from './memory.fixture.ts'

const put = (value: string, over: object = {}) => ({ label: 'persona', owner: 'alice', input: { value }, ...over })

describe('createWriteBlocks', () => {
  it('creates and then changes a block with the same call, and keeps its limit', async () => {
    const { writeBlocks, readMemory } = createMemoryWorld()
    await writeBlocks.put(put('x', { input: { value: 'x', limit: 25 } }))

    const { status, body } = await writeBlocks.put(put('y'.repeat(25)))

    expect([status, body]).toMatchObject([200, { label: 'persona', limit: 25, namespace: 'default' }])
    const { items } = await readMemory.listBlocks(undefined, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items).toMatchObject([{ value: 'y'.repeat(25) }])
  })

  it('rejects a value above the limit and keeps the old value', async () => {
    const { writeBlocks, storage } = createMemoryWorld()
    await writeBlocks.put(put('short'))

    await expect(writeBlocks.put(put('x'.repeat(21)))).rejects.toThrow(
      'value: has 21 characters, but the limit of the block persona is 20',
    )
    await expect(writeBlocks.put(put('x', { label: 'a/b' }))).rejects.toThrow('label')
    expect(await storage.blocks.find({ owner: 'alice', namespace: 'default', label: 'persona' })).toMatchObject({
      value: 'short',
    })
  })

  it('writes a block under a condition only while nobody else has changed it', async () => {
    const { writeBlocks } = createMemoryWorld()
    const versionOf = ({ body }: { body?: unknown }) => (body as { updatedAt: string }).updatedAt
    const putAt = (ifUpdatedAt: string | null) => writeBlocks.put(put('x', { input: { value: 'x', ifUpdatedAt } }))
    const changed = { kind: 'memory-block-changed' }

    const first = versionOf(await putAt(null))
    await expect(putAt(null)).rejects.toMatchObject(changed)
    const second = versionOf(await putAt(first))
    expect(second).not.toBe(first)
    await expect(putAt(first)).rejects.toMatchObject(changed)

    const remove = (ifUpdatedAt: string) => writeBlocks.remove({ label: 'persona', owner: 'alice', ifUpdatedAt })
    await expect(remove(first)).rejects.toMatchObject(changed)
    expect((await remove(second)).status).toBe(204)
    await expect(putAt(second)).rejects.toMatchObject(changed)
  })

  it('lets one of several concurrent writers of a version through', async () => {
    const { writeBlocks } = createMemoryWorld()
    const writers = ['a', 'b', 'c'].map((value) => writeBlocks.put(put(value, { input: { value, ifUpdatedAt: null } })))

    const outcomes = await Promise.allSettled(writers)

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.kind] : []))).toEqual([
      'memory-block-changed',
      'memory-block-changed',
    ])
  })

  it('deletes a block only for its owner, and answers memory-block-not-found to a second deletion', async () => {
    const { writeBlocks } = createMemoryWorld()
    await writeBlocks.put(put('x'))

    await expect(writeBlocks.remove({ label: 'persona', owner: 'bob' })).rejects.toMatchObject({
      kind: 'memory-block-not-found',
    })
    expect((await writeBlocks.remove({ label: 'persona', owner: 'alice' })).status).toBe(204)
    await expect(writeBlocks.remove({ label: 'persona', owner: 'alice' })).rejects.toMatchObject({
      kind: 'memory-block-not-found',
    })
  })
})
