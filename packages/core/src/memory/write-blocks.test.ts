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
