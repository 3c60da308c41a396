import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startDurableServer } from './durable-server.ts'
import { bearer } from './perdure-process.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/long-results.config.mjs')

interface LongCheckpoint {
  readonly seq: number
  readonly result: unknown
  readonly resultFile?: { readonly id: string; readonly bytes: number }
}

describe('a server that is killed while it stores long results', () => {
  it('gives the code every recorded result again, byte for byte, and leaves no file without a result', async () => {
    const server = await startDurableServer(CONFIG)
    const runId = await server.execute('collect', 'long-1')
    for (let kills = 0; kills < 6; kills++) {
      const before = server.ledger().length
      await expect.poll(() => server.ledger().length, { interval: 2, timeout: 10_000 }).toBeGreaterThan(before)
      await pause(Math.random() * 30)
      await server.restart('SIGKILL')
      if ((await server.run(runId)).status === 'completed') break
    }
    await expect.poll(async () => (await server.run(runId)).status, { timeout: 30_000 }).toBe('completed')

    const { result } = await server.run(runId)
    const hashes = result as readonly string[]
    expect(server.ledger().length, 'no execution repeated a recorded call').toBeGreaterThan(hashes.length)
    const seen = new Set(server.ledger())
    expect(seen).toEqual(new Set(hashes.map((hash, index) => `${index + 1} ${hash}`)))
    const path = '/workflows/collect/checkpoints?threadId=long-1&order=asc&limit=200'
    const checkpoints = await server.itemsOf<LongCheckpoint>(path)
    expect(checkpoints).toHaveLength(hashes.length)
    for (const [index, { seq, result: shown, resultFile }] of checkpoints.entries()) {
      expect([seq, shown]).toEqual([index + 1, null])
      const content = await fetch(`${server.url()}/files/${resultFile?.id}`, { headers: bearer(server.token) })
      const bytes = Buffer.from(await content.arrayBuffer())
      expect(bytes.length).toBe(resultFile?.bytes)
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(hashes[index])
    }
    const files = await server.itemsOf<{ readonly id: string }>('/files?limit=200')
    expect(files.map(({ id }) => id).toSorted()).toEqual(checkpoints.map(({ resultFile }) => resultFile?.id).toSorted())

    await server.call('DELETE', '/workflows/collect/threads/long-1')
    expect(await server.itemsOf('/files?limit=200')).toEqual([])
  }, 120_000)
})
