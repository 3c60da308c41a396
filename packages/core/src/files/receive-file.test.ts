import { setImmediate } from 'node:timers/promises'
import { createInMemoryBlobStore, createInMemoryStorage } from '@perdure/in-memory'
import { nodeDigest } from '@perdure/platform-node'
import type { BlobStore } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createReceiveFile } from './receive-file.ts'

async function* slowly(size: number) {
  for (let sent = 0; sent < size; sent += 50_000) {
    await setImmediate()
    yield new Uint8Array(50_000)
  }
}

/** A store that needs some time to remove the part of a content that is refused. */
function slowToClean(blobs: BlobStore): BlobStore {
  return {
    ...blobs,
    put: (chunks) =>
      blobs.put(chunks).catch(async (error: unknown) => {
        for (let turn = 0; turn < 100; turn++) await setImmediate()
        throw error
      }),
  }
}

describe('createReceiveFile', () => {
  it('refuses as many concurrent uploads of an owner as do not fit, and no others', async () => {
    const clock = createManualClock()
    const receiveFile = createReceiveFile({
      ...createInMemoryStorage(),
      ...{ clock, digest: nodeDigest, limits: { maxBytes: 1_000_000, maxBytesPerOwner: 3_000_000 } },
      blobs: slowToClean(createInMemoryBlobStore({ clock, digest: nodeDigest })),
    })
    const upload = () => receiveFile({ chunks: slowly(900_000), mediaType: 'text/plain', owner: 'alice' })

    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, upload))

    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refusals).toHaveLength(5)
    expect(refusals.map(({ reason }) => reason)).toEqual(
      refusals.map(() => expect.objectContaining({ code: 'file-quota-exceeded' })),
    )
  })
})
